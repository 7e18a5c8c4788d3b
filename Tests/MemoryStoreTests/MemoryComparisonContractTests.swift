internal import MemoryStore
internal import StoreContract
internal import Testing

@Suite struct MemoryComparisonContractTests {
    private static let subject = ComparisonSubject(
        withStore: { clock, body in try await body(MemoryStore(clock: { clock.now() })) })

    @Test(arguments: ComparisonContractCase.all)
    func `the store keeps the contract of comparisons`(_ sentence: ComparisonContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}
