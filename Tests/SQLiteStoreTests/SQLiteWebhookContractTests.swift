internal import SQLiteStore
internal import StoreContract
internal import Testing

@Suite struct SQLiteWebhookContractTests {
    @Test(arguments: WebhookContractCase.all)
    func `the store keeps the contract of webhooks`(_ sentence: WebhookContractCase) async throws {
        try await sentence.check { clock, callers, body in
            try await StoreDirectory.with { directory in
                try await directory.withStore(clock, { $0.reportsTo = callers }) { try await body($0) }
            }
        }
    }
}
