internal import PaymentCore
internal import Reconciler
internal import StoreRows
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

    /// Whatever was not sealed for long: an import, or an hour in which no process could seal.
    @Test func `a seal covers so many events and no more, and those that follow cover the rest`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, _ in
            try await Scenario(store: store, clock: clock).create(.init("real"))
            let most = SealBounds.mostEvents
            try await write(2 * most + 500, of: 600, to: store)
            #expect(try await store.seal()?.number == 3)
            let widest = try await store.perform("test") { connection in
                try connection.rows(
                    "SELECT max(through_event - before) FROM "
                        + "(SELECT through_event, lag(through_event, 1, 0) OVER (ORDER BY number) AS before FROM seals)"
                        + " AS seals"
                ).int(0, 0)
            }
            #expect(widest == Int64(most))
            #expect(try await store.seal() == nil)
            let breaks = try await store.verifySeals().map { "\($0)" }
            #expect(breaks.count == 600)
            #expect(breaks.allSatisfy { $0.hasSuffix("its payment is gone") }, "\(breaks.prefix(3))")
        }
    }

    @Test func `one call seals a bounded part of what waits`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock) { store, _ in
            let most = SealBounds.mostEvents * SealBounds.mostSeals
            try await write(most + 1, of: 100, to: store)
            #expect(try await store.seal()?.number == Int64(SealBounds.mostSeals))
            #expect(try await store.seal()?.number == Int64(SealBounds.mostSeals) + 1)
            #expect(try await store.seal() == nil)
        }
    }

    /// Writes events of payments that are not there.
    private func write(_ events: Int, of payments: Int, to store: PostgresStore) async throws {
        try await store.perform("test") { connection in
            _ = try connection.rows(
                """
                INSERT INTO events (payment_id, seq, at, type, fields, prev, hash)
                SELECT 'pay_' || md5((n % $2)::text) || substr(md5((n % $2)::text), 1, 8), n / $2 + 1, 0, 'created',
                    '[]', repeat('0', 64), md5(n::text) || md5(n::text)
                FROM generate_series(0, $1 - 1) AS n ORDER BY n
                """, [.int(Int64(events)), .int(Int64(payments))])
        }
    }
}
