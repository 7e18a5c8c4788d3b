internal import GRDB
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import SQLiteStore

/// The file may be written to with any tool of SQLite.
@Suite struct KeptRowsTests {
    @Test(arguments: KeptRows.changes)
    func `what is only ever added to is not changed by hand`(statement: String) async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                _ = try await Scenario(store: store, clock: clock).settle(.init("kept"))
                #expect(try await store.seal()?.heads == 1)
                let connection = try StoreDirectory.connection(path: store.path)
                let failure = await #expect(throws: DatabaseError.self) {
                    try await connection.write { try $0.execute(sql: statement) }
                }
                #expect(failure?.extendedResultCode == .SQLITE_CONSTRAINT_TRIGGER, "\(String(describing: failure))")
                try connection.close()
                #expect(try await store.verifySeals().isEmpty)
            }
        }
    }
}
