internal import PaymentCore
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

@Suite struct SealTests {
    @Test func `while one process seals another does not, and other schemas are not concerned`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, readers: 3) { store, configuration in
            try await Scenario(store: store, clock: clock).create(.init("sealed"))
            try await RawSession.with(configuration) { session in
                // Holds up a seal that has begun.
                _ = try await session.run("BEGIN", "LOCK TABLE seal_heads IN SHARE MODE")
                async let first = store.seal()
                let process = try await session.process()
                try await eventually {
                    try await store.perform("test") { connection in
                        try connection.rows(
                            "SELECT count(*) > 0 FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))",
                            [.int(Int64(process))]
                        ).bool(0, 0)
                    }
                }
                #expect(try await store.seal() == nil)
                try await StoreSchema.withStore(clock) { other, _ in
                    try await Scenario(store: other, clock: clock).create(.init("elsewhere"))
                    #expect(try await other.seal()?.heads == 1)
                }
                _ = try await session.run("COMMIT")
                #expect(try await first?.heads == 1)
            }
            #expect(try await store.verifySeals().isEmpty)
        }
    }
}
