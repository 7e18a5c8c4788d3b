internal import PostgresStore
internal import StoreContract
internal import Testing

/// One after the other: a crowd of schemas at once makes those wait who measure time.
@Suite(.serialized) struct PostgresComparisonContractTests {
    private static let subject = ComparisonSubject(
        withStore: { clock, body in
            try await StoreSchema.withStore(clock) { store, _ in try await body(store) }
        })

    @Test(arguments: ComparisonContractCase.all)
    func `the store keeps the contract of comparisons`(_ sentence: ComparisonContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}
