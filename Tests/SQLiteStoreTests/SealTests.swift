internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreRows
internal import Testing

@testable internal import SQLiteStore
@testable internal import StoreContract

@Suite struct SealTests {
    /// Whatever was not sealed for long: an import, or an hour in which nothing could seal.
    @Test func `a seal covers so many events and no more, and those that follow cover the rest`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                try await Scenario(store: store, clock: ManualClock()).create(.init("real"))
                let most = SealBounds.mostEvents
                try await write(2 * most + 500, of: 600, to: directory)
                #expect(try await store.seal()?.number == 3)
                let ends = try await store.pool.read {
                    try Int.fetchAll($0, sql: "SELECT through_event FROM seals ORDER BY number")
                }
                #expect(Array(ends.prefix(2)) == [most, 2 * most])
                #expect(try await store.seal() == nil)
                let breaks = try await store.verifySeals().map { "\($0)" }
                #expect(breaks.count == 600)
                #expect(breaks.allSatisfy { $0.hasSuffix("its payment is gone") }, "\(breaks.prefix(3))")
            }
        }
    }

    @Test func `a seal whose heads cannot be read was altered`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                try await Scenario(store: store, clock: ManualClock()).create(.init("real"))
                #expect(try await store.seal()?.number == 1)
                #expect(try await store.verifySeals() == [])
                let connection = try directory.connection()
                try await connection.write { db in
                    // Whoever can write the file can drop its triggers.
                    try db.execute(sql: "DROP TRIGGER seal_heads_are_not_changed")
                    try db.execute(sql: "UPDATE seal_heads SET hash = 'nothing'")
                }
                try connection.close()
                #expect(try await store.verifySeals() == [.altered(number: 1)])
            }
        }
    }

    /// Writes events of payments that are not there.
    private func write(_ events: Int, of payments: Int, to directory: StoreDirectory) async throws {
        let connection = try directory.connection()
        try await connection.write { db in
            for number in 0..<events {
                let id = Digest(of: ["\(number % payments)"]).hex.prefix(40)
                try db.execute(
                    sql: """
                        INSERT INTO events (payment_id, seq, at, type, fields, prev, hash)
                        VALUES (?, ?, 0, 'created', '[]', ?, ?)
                        """,
                    arguments: [
                        "pay_\(id)", number / payments + 1, Seal.genesis.hex, Digest(of: ["\(number)"]).hex,
                    ])
            }
        }
        try connection.close()
    }
}
