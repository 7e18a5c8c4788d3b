internal import GRDB
internal import PaymentCore
public import Reconciler

extension SQLiteStore {
    /// Seals the heads of all trails that grew since the last seal; `nil` if none did.
    public func seal() async throws(StoreFailure) -> Seal? {
        let clock = clock
        return try await queue.write("seal") { db in
            let last = try Row.fetchOne(
                db, sql: "SELECT number, through_event, hash FROM seals ORDER BY number DESC LIMIT 1")
            let sealedThrough: Int64 = last?[1] ?? 0
            let newest = try Int64.fetchOne(db, sql: "SELECT max(id) FROM events") ?? 0
            guard newest > sealedThrough else { return nil }
            guard let previous = last.map({ Digest(hex: $0[2]) }) ?? Seal.genesis else {
                throw StoreFailure(.corrupted, operation: "seal", cause: "the hash of the last seal is no digest")
            }
            let heads = try SealedHeads.changed(after: sealedThrough, db)
            let seal = Seal(number: (last?[0] ?? 0) + 1, at: clock.now(), previous: previous, heads: heads)
            try db.execute(
                sql: "INSERT INTO seals (number, at, heads, through_event, prev, hash) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    seal.number, seal.at.milliseconds, seal.heads, newest, seal.previous.hex, seal.hash.hex,
                ])
            try SealedHeads.insert(heads, seal: seal.number, db)
            return seal
        }
    }

    /// Checks the seals' chain, every sealed head, and every trail in itself. Each step is a short read, so that a long
    /// check holds nothing up; in memory are the heads of one seal at a time. Reports at most
    /// ``SealVerification/mostBreaks`` breaks and then stops.
    public func verifySeals() async throws(StoreFailure) -> [SealBreak] {
        var verification = SealVerification()
        while !verification.isDone {
            let state = verification
            verification = try await read("verify seals") { db in
                var next = state
                try next.step(db)
                return next
            }
        }
        return verification.breaks
    }
}

/// The heads that a seal covers.
enum SealedHeads {
    typealias Heads = [(payment: PaymentID, head: AuditHead)]

    /// The heads of the trails that grew after an event, in ascending order of payment id.
    static func changed(after event: Int64, _ db: Database) throws -> Heads {
        // Not by the index, which would be read from end to end: what is new is at the end of the table.
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT events.payment_id, events.seq, events.hash FROM events JOIN (
                    SELECT payment_id, max(seq) AS seq FROM events NOT INDEXED WHERE id > ? GROUP BY payment_id
                ) AS newest ON events.payment_id = newest.payment_id AND events.seq = newest.seq
                ORDER BY events.payment_id
                """,
            arguments: [event])
        return try read(rows)
    }

    /// The heads that a seal has, in ascending order of payment id.
    static func of(seal number: Int64, _ db: Database) throws -> Heads {
        let rows = try Row.fetchCursor(
            db, sql: "SELECT payment_id, seq, hash FROM seal_heads WHERE seal = ? ORDER BY payment_id",
            arguments: [number])
        return try read(rows)
    }

    static func insert(_ heads: Heads, seal number: Int64, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO seal_heads (seal, payment_id, seq, hash) VALUES (?, ?, ?, ?)")
        for (payment, head) in heads {
            try statement.execute(arguments: [number, payment.text, head.sequence, head.hash.hex])
        }
    }

    private static func read(_ rows: RowCursor) throws -> Heads {
        var heads: Heads = []
        while let row = try rows.next() {
            guard let payment = PaymentID(text: row[0]), let hash = Digest(hex: row[2]) else {
                throw StoreFailure(.corrupted, operation: "seal", cause: "a stored head does not decode")
            }
            heads.append((payment, AuditHead(sequence: row[1], hash: hash)))
        }
        return heads
    }
}
