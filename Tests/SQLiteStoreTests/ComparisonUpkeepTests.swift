internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import SQLiteStore

@Suite struct ComparisonUpkeepTests {
    @Test func `what is settled is forgotten after the retention, and nothing else`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock, { $0.retention = .days(100) }) { store in
                let forgetting = Forgetting(store: store, clock: clock, retention: .days(100)) {
                    try await store.upkeep()
                }
                try await forgetting.check()
                let lanes = try await store.pool.read { db in
                    try String.fetchAll(db, sql: "SELECT lane FROM comparison_lanes ORDER BY lane")
                }
                #expect(lanes == ["cards", "points"])
            }
        }
    }

    @Test func `without a retention nothing is forgotten`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let payment = try await Scenario(store: store, clock: clock).settle(Scenario.Order("k1")).payment
                _ = try await Comparing(store: store, clock: clock).dispute(payment)
                clock.advance(by: .days(10_000))
                #expect(try await store.upkeep() == 0)
            }
        }
    }

    @Test func `what an earlier version wrote is read from the payments`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let connection = try directory.connection()
                try await EarlierVersion(store: store, clock: clock) { sql in
                    try await connection.write { try $0.execute(sql: sql) }
                }.check()
                try connection.close()
            }
        }
    }
}
