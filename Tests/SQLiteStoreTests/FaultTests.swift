internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import SQLiteStore

@Suite struct FaultTests {
    @Test func `a write waits for another writer, and goes on when that is done`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                let other = try directory.connection()
                try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                async let probed: Void = store.probe()
                try await poll("the write waits") { store.queue.isBusy }
                #expect(store.writeCounts.transactions == 0)
                try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                try await probed
                #expect(store.writeCounts.transactions == 1)
                try other.close()
            }
        }
    }

    @Test func `a write that waited too long is busy, and nothing is written`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock, { $0.busyTimeout = .milliseconds(150) }) { store in
                let it = Scenario(store: store, clock: clock)
                let other = try directory.connection()
                try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                let began = ContinuousClock.now
                let failure = await #expect(throws: StoreFailure.self) {
                    try await it.create(Scenario.Order("k1"))
                }
                #expect(failure?.code == .busy)
                #expect(failure?.isPassing == true)
                #expect(ContinuousClock.now - began >= .milliseconds(140))
                try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
                #expect(try await store.statistics().paymentsByState.isEmpty)
                try await it.create(Scenario.Order("k1"))
                try other.close()
            }
        }
    }

    @Test func `a full disk leaves nothing half-written, and the store works when there is room`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                try await it.create(Scenario.Order("before"))
                try await limitPages(store, to: { $0 + 40 })
                var created: [String] = []
                var failure: StoreFailure?
                for number in 0..<1_000 where failure == nil {
                    do {
                        try await it.create(Scenario.Order("k\(number)"))
                        created.append("k\(number)")
                    } catch let full as StoreFailure {
                        failure = full
                    }
                }
                #expect(failure?.code == .full)
                try await limitPages(store, to: { _ in 1_073_741_823 })
                let listed = try await store.payments(PaymentQuery(limit: 200)).items
                #expect(Set(listed.map(\.key.text)) == Set(created + ["before"]))
                #expect(try await store.verifySeals() == [])
                #expect(try await integrity(store) == ["ok"])
                try await it.create(Scenario.Order("after"))
            }
        }
    }

    @Test func `a full disk fails the members of a group that do not fit, and no other`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                try await limitPages(store, to: { $0 + 60 })
                let outcomes = await withTaskGroup(of: (String, StoreFailure?).self) { group in
                    for number in 0..<300 {
                        group.addTask {
                            do {
                                try await it.create(Scenario.Order("k\(number)"))
                                return ("k\(number)", nil)
                            } catch {
                                return ("k\(number)", error as? StoreFailure)
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                try await limitPages(store, to: { _ in 1_073_741_823 })
                let failures = outcomes.compactMap(\.1)
                #expect(!failures.isEmpty && failures.allSatisfy { $0.code == .full })
                let acknowledged = Set(outcomes.filter { $0.1 == nil }.map(\.0))
                let keys = try await store.pool.read { try String.fetchAll($0, sql: "SELECT key FROM payments") }
                #expect(Set(keys) == acknowledged)
                #expect(try await integrity(store) == ["ok"])
            }
        }
    }

    @Test func `a payment that is damaged keeps no other from being claimed`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                let damaged = try await it.create(Scenario.Order("k1")).payment.id
                try await it.create(Scenario.Order("k2"))
                clock.advance(by: .minutes(2))
                try await store.pool.write { db in
                    try db.execute(
                        sql: "UPDATE payments SET document = x'7B7D' WHERE id = ?", arguments: [damaged.text])
                }
                let claimed = try await store.claimDue(ClaimRequest(holder: "w", limit: 9, leaseFor: .minutes(1)))
                #expect(claimed.map(\.payment.key.text) == ["k2"])
                let failure = await #expect(throws: StoreFailure.self) { try await store.payment(damaged) }
                #expect(failure?.code == .corrupted)
                #expect(failure?.cause == "a stored document does not decode at its top")
            }
        }
    }

    private func limitPages(_ store: SQLiteStore, to limit: @Sendable @escaping (Int) -> Int) async throws {
        try await store.pool.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            try db.execute(sql: "PRAGMA max_page_count = \(limit(pages))")
        }
    }

    private func integrity(_ store: SQLiteStore) async throws -> [String] {
        try await store.pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
    }
}
