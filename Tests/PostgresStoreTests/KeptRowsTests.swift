internal import PostgresServers
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import PostgresStore

/// The database may be written to with any client of PostgreSQL.
@Suite struct KeptRowsTests {
    @Test func `what is only ever added to is not changed by hand`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, configuration in
            _ = try await Scenario(store: store, clock: clock).settle(.init("kept"))
            #expect(try await store.seal()?.heads == 1)
            for statement in KeptRows.changes {
                let failure = await #expect(throws: (any Error).self, "\(statement)") {
                    try await RawSession.with(configuration) { _ = try await $0.run(statement) }
                }
                let words = failure.map { "\($0)" } ?? ""
                #expect(
                    words.contains("is only ever added to") || words.contains("is never changed"),
                    "\(statement): \(words)")
            }
            #expect(try await store.verifySeals().isEmpty)
        }
    }
}
