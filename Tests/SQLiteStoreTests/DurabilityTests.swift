internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import SQLiteStore

@Suite struct DurabilityTests {
    @Test func `everything is there when the file is opened again`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            let written = try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                let settled = try await it.settle(Scenario.Order("k1"))
                let leased = try await it.create(Scenario.Order("k2"))
                let seal = try await store.seal()
                #expect(seal?.heads == 2)
                return (settled: settled, leased: leased)
            }
            try await directory.withStore(clock) { store in
                #expect(try await store.payment(written.settled.payment.id) == written.settled.payment)
                let held = try await store.renew(
                    [written.leased.payment.id: written.leased.token], leaseFor: .minutes(1))
                #expect(held == [written.leased.payment.id])
                #expect(try await store.verifySeals() == [])
                let counts = try await store.statistics().paymentsByState
                #expect(counts == [.succeeded: 1, .processing: 1])
            }
        }
    }

    @Test func `every commit is flushed`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                let mode = try await store.pool.writeWithoutTransaction {
                    try Int.fetchOne($0, sql: "PRAGMA synchronous")
                }
                #expect(mode == 2)
                #expect(try await store.pool.read { try Bool.fetchOne($0, sql: "PRAGMA foreign_keys") } == true)
            }
        }
    }

    @Test(arguments: 0..<3)
    func `a process that is killed loses nothing that it acknowledged`(_ round: Int) async throws {
        try await StoreDirectory.with { directory in
            let writer = try CrashWriter(path: directory.path)
            let early = try writer.acknowledged(atLeast: 40 + 60 * round)
            let acknowledged = early + writer.killAndReadRest()
            #expect(acknowledged.count >= 40 + 60 * round)
            try await directory.withStore { store in
                for text in acknowledged {
                    let id = try #require(PaymentID(text: text))
                    let payment = try #require(try await store.payment(id), "\(text) was acknowledged and is lost")
                    let trail = try await store.auditTrail(of: id, after: 0, limit: 100)
                    try AuditHead.verify(trail, of: id, head: payment.auditHead)
                }
                #expect(try await store.verifySeals() == [])
                let total = try await store.statistics().paymentsByState.values.reduce(0, +)
                #expect(total >= acknowledged.count)
            }
        }
    }

    @Test(arguments: [
        "UPDATE events SET type = 'created'", "DELETE FROM events", "DELETE FROM idempotency_keys",
        "UPDATE idempotency_keys SET fingerprint = 'x'", "UPDATE idempotency_keys SET answer_status = 500",
        "UPDATE idempotency_keys SET answer_status = NULL", "UPDATE seals SET at = 0", "DELETE FROM seals",
        "UPDATE seal_heads SET seq = 0", "DELETE FROM seal_heads", "DELETE FROM payments",
    ])
    func `the database itself refuses to rewrite history`(_ sql: String) async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                let payment = try await Scenario(store: store, clock: ManualClock()).create(Scenario.Order("k1"))
                    .payment
                _ = try await store.storeAnswer(
                    StoredAnswer(status: 201, contentType: "text/plain", location: nil, body: [1]),
                    caller: payment.caller, key: payment.key)
                _ = try await store.seal()
                let connection = try directory.connection()
                let error = await #expect(throws: DatabaseError.self) {
                    try await connection.write { try $0.execute(sql: sql) }
                }
                #expect(error?.resultCode == .SQLITE_CONSTRAINT)
                try connection.close()
            }
        }
    }
}
