internal import PostgresServers
internal import PostgresStore
internal import Reconciler
internal import StoreContract
internal import Testing

@Suite struct PostgresStoreContractTests {
    private static let subject = StoreSubject(
        withStore: { clock, body in
            try await StoreSchema.withStore(clock) { store, _ in try await body(store) }
        },
        tamper: { store, tampering in
            let store = try #require(store as? PostgresStore)
            try await tampering.apply(in: store.schema)
        })

    @Test(arguments: ContractCase.all)
    func `the store keeps its contract`(_ sentence: ContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}
