internal import GRDB
internal import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Seals the heads of all trails that grew since the last seal, in as many seals as ``SealBounds`` asks for, and
    /// returns the newest; `nil` if none grew.
    public func seal() async throws(StoreFailure) -> Seal? {
        var made: Seal?
        for _ in 0..<SealBounds.mostSeals {
            guard let (seal, isLast) = try await sealNext() else { break }
            made = seal
            if isLast { break }
        }
        return made
    }

    /// Makes one seal; and whether nothing is left after it.
    private func sealNext() async throws(StoreFailure) -> (Seal, isLast: Bool)? {
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
            // No event is ever removed here, so the numbers have no gaps.
            let through = min(newest, sealedThrough + Int64(SealBounds.mostEvents))
            let heads = try SealTables(db: db).changed(after: sealedThrough, through: through)
            let seal = Seal(number: (last?[0] ?? 0) + 1, at: clock.now(), previous: previous, heads: heads)
            try db.execute(
                sql: "INSERT INTO seals (number, at, heads, through_event, prev, hash) VALUES (?, ?, ?, ?, ?, ?)",
                arguments: [
                    seal.number, seal.at.milliseconds, seal.heads, through, seal.previous.hex, seal.hash.hex,
                ])
            try SealTables(db: db).insert(heads, seal: seal.number)
            return (seal, through == newest)
        }
    }

    /// Checks the seals' chain, every sealed head, every trail in itself, and every payment by its trail. Each step is
    /// a short read, so that a long check holds nothing up; in memory are the heads of one seal at a time,
    /// or a hundred payments. Reports at most ``SealVerification/mostBreaks`` breaks and then stops.
    public func verifySeals() async throws(StoreFailure) -> [SealBreak] {
        var verification = SealVerification()
        while !verification.isDone {
            let state = verification
            verification = try await read("verify seals") { db in
                var next = state
                try next.step(SealTables(db: db))
                return next
            }
        }
        return verification.breaks
    }
}

/// The tables of seals and trails, in one snapshot.
struct SealTables: SealSource {
    let db: Database

    func seal(after number: Int64) throws -> SealRow? {
        let row = try Row.fetchOne(
            db, sql: "SELECT number, at, heads, prev, hash FROM seals WHERE number > ? ORDER BY number LIMIT 1",
            arguments: [number])
        return row.map { SealRow(number: $0[0], at: $0[1], heads: $0[2], previous: $0[3], hash: $0[4]) }
    }

    func heads(ofSeal number: Int64) throws -> SealedHeads {
        try read(
            Row.fetchCursor(
                db, sql: "SELECT payment_id, seq, hash FROM seal_heads WHERE seal = ? ORDER BY payment_id",
                arguments: [number]))
    }

    func hash(of payment: PaymentID, at sequence: Int64) throws -> String? {
        let statement = try db.cachedStatement(sql: "SELECT hash FROM events WHERE payment_id = ? AND seq = ?")
        return try String.fetchOne(statement, arguments: [payment.text, sequence])
    }

    func trails(after payment: String, limit: Int) throws -> [HeadRow] {
        try Row.fetchAll(
            db, sql: "SELECT id, audit_seq, audit_hash, document FROM payments WHERE id > ? ORDER BY id LIMIT ?",
            arguments: [payment, limit]
        ).map { HeadRow(payment: $0[0], sequence: $0[1], hash: $0[2], document: $0[3]) }
    }

    func events(of payment: PaymentID, _ goesOn: (EventRow) throws -> Bool) throws {
        let statement = try db.cachedStatement(
            sql: "SELECT \(EventRow.columns) FROM events WHERE payment_id = ? ORDER BY seq")
        let rows = try Row.fetchCursor(statement, arguments: [payment.text])
        while let row = try rows.next(), try goesOn(EventRow(row)) {}
    }

    func isPruned(_ payment: PaymentID) throws -> Bool { false }  // Nothing is removed here.

    func owners(after payment: String, limit: Int) throws -> [TrailOwner] {
        try Row.fetchAll(
            db,
            sql: """
                SELECT payment_id, EXISTS (SELECT 1 FROM payments WHERE payments.id = owners.payment_id) FROM (
                    SELECT DISTINCT payment_id FROM events WHERE payment_id > ? ORDER BY payment_id LIMIT ?
                ) AS owners ORDER BY payment_id
                """,
            arguments: [payment, limit]
        ).map { TrailOwner(payment: $0[0], isKnown: $0[1]) }
    }

    /// The heads of the trails that grew by events with these numbers.
    func changed(after first: Int64, through last: Int64) throws -> SealedHeads {
        // Not by the index, which would be read from end to end: what is new is at the end of the table.
        try read(
            Row.fetchCursor(
                db,
                sql: """
                    SELECT events.payment_id, events.seq, events.hash FROM events JOIN (
                        SELECT payment_id, max(seq) AS seq FROM events NOT INDEXED
                        WHERE id > ? AND id <= ? GROUP BY payment_id
                    ) AS newest ON events.payment_id = newest.payment_id AND events.seq = newest.seq
                    ORDER BY events.payment_id
                    """,
                arguments: [first, last]))
    }

    func insert(_ heads: SealedHeads, seal number: Int64) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO seal_heads (seal, payment_id, seq, hash) VALUES (?, ?, ?, ?)")
        for (payment, head) in heads {
            try statement.execute(arguments: [number, payment.text, head.sequence, head.hash.hex])
        }
    }

    private func read(_ rows: RowCursor) throws -> SealedHeads {
        var heads: SealedHeads = []
        while let row = try rows.next() {
            guard let payment = PaymentID(text: row[0]), let hash = Digest(hex: row[2]) else {
                throw StoreFailure(.corrupted, operation: "seal", cause: "a stored head does not decode")
            }
            heads.append((payment, AuditHead(sequence: row[1], hash: hash)))
        }
        return heads
    }
}
