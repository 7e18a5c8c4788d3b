internal import StoreRows
internal import Testing

/// What is done to many rows is done in parts.
@Suite struct WebhookPartsTests {
    @Test(arguments: [
        [0], [WebhookRow.part - 1], [WebhookRow.part, 0], [WebhookRow.part, WebhookRow.part, 3],
    ])
    func `parts follow each other until one is smaller than it may be`(_ parts: [Int]) async throws {
        var left = parts
        let total = try await WebhookRow.inParts { left.isEmpty ? 0 : left.removeFirst() }
        #expect(total == parts.reduce(0, +) && left.isEmpty)
    }
}
