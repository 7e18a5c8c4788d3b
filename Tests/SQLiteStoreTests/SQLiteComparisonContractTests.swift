internal import SQLiteStore
internal import StoreContract
internal import Testing

@Suite struct SQLiteComparisonContractTests {
    private static let subject = ComparisonSubject(
        withStore: { clock, body in
            try await StoreDirectory.with { directory in
                try await directory.withStore(clock) { try await body($0) }
            }
        })

    @Test(arguments: ComparisonContractCase.all)
    func `the store keeps the contract of comparisons`(_ sentence: ComparisonContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}
