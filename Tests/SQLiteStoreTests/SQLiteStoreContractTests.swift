internal import GRDB
internal import Reconciler
internal import SQLiteStore
internal import StoreContract
internal import Testing

@Suite struct SQLiteStoreContractTests {
    private static let subject = StoreSubject(
        withStore: { clock, body in
            try await StoreDirectory.with { directory in
                try await directory.withStore(clock) { try await body($0) }
            }
        },
        tamper: { store, tampering in
            let store = try #require(store as? SQLiteStore)
            let connection = try StoreDirectory.connection(path: store.path)
            try await connection.write { try tampering.apply($0) }
            try connection.close()
        })

    @Test(arguments: ContractCase.all)
    func `the store keeps its contract`(_ sentence: ContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}
