internal import Foundation
internal import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Seals the heads of all trails that grew since the last seal, in as many seals as ``SealBounds`` asks for, and
    /// returns the newest; `nil` if none grew, or another process is at it.
    public func seal() async throws(StoreFailure) -> Seal? {
        let clock = clock.parameter
        guard let newest = try await sealing({ (try SealTables.newestEvent($0.connection), []) }) else { return nil }
        var made: Seal?
        for _ in 0..<SealBounds.mostSeals {
            let next = try await sealing { try SealTables($0.connection).seal(upTo: newest, clock: clock, under: $0) }
            guard let (seal, through) = next else { break }
            made = seal
            if through == newest { break }
        }
        return made
    }

    /// Does a step of the sealing, which leaves no transaction open if it fails.
    private func sealing<Value: Sendable>(
        _ step: @escaping @Sendable (TermedConnection) throws -> (Value, warnings: [String])
    ) async throws(StoreFailure) -> Value {
        try await write("seal") { termed in
            let connection = termed.connection
            do {
                return try step(termed)
            } catch let error as PostgresError {
                // A transaction that failed stays open otherwise.
                if !connection.isBroken { try connection.run([Statement("ROLLBACK")]) }
                throw error
            } catch {
                // The transaction ends with its session.
                if !(error is PostgresConnection.Lost) { connection.close() }
                throw error
            }
        }
    }

    /// Checks the seals' chain, every sealed head, every trail in itself, and every payment by its trail. Each step is
    /// a short read of one snapshot, so that a long check holds nothing up; in memory are the heads of one seal at a
    /// time, or a hundred payments. Reports at most ``SealVerification/mostBreaks`` breaks and then stops.
    public func verifySeals() async throws(StoreFailure) -> [SealBreak] {
        var verification = SealVerification()
        while !verification.isDone {
            let state = verification
            verification = try await perform("verify seals") { connection in
                var next = state
                try connection.run([Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")])
                do {
                    try next.step(SealTables(connection))
                } catch {
                    connection.close()
                    throw error
                }
                try connection.run([Statement("COMMIT")])
                return next
            }
        }
        return verification.breaks
    }
}

/// The tables of seals and trails.
struct SealTables: SealSource {
    private let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// The number of the newest event below which none is missing; nil if all are sealed.
    ///
    /// Events are numbered when they are written and seen when they are committed: the table is locked for a moment
    /// against those that write, so that whatever has a lower number is there.
    static func newestEvent(_ connection: PostgresConnection) throws -> Int64? {
        let news = try connection.rows(
            "SELECT coalesce((SELECT max(id) FROM events), 0) > coalesce((SELECT max(through_event) FROM seals), 0)")
        guard try news.bool(0, 0) else { return nil }
        let (rows, _) = try connection.run([
            Statement("BEGIN"), Statement("SET LOCAL lock_timeout = '1s'"),
            Statement("LOCK TABLE ONLY events IN SHARE MODE"), Statement("SELECT max(id) FROM events"),
            Statement("COMMIT"),
        ])
        return try rows.count == 5 ? rows[3].optionalInt(0, 0) : nil
    }

    /// Writes the next seal, in a transaction of its own, and says with which event it ends.
    func seal(
        upTo newest: Int64, clock: Parameter, under termed: TermedConnection
    ) throws -> ((Seal, through: Int64)?, warnings: [String]) {
        let (rows, _) = try connection.run([
            Statement("BEGIN"),
            Statement(
                // By the table, because other schemas of the database have seals of their own.
                """
                SELECT pg_try_advisory_xact_lock(\(Session.lockSpace)::bigint << 32 | 'seals'::regclass::oid::bigint),
                    \(DatabaseClock.now(1))
                """, [clock]),
            Statement("SELECT number, through_event, hash FROM seals ORDER BY number DESC LIMIT 1"),
        ])
        guard rows.count == 3 else {
            throw StoreFailure(.other, operation: "seal", cause: "a statement returned nothing at all")
        }
        let last = rows[2]
        let number = last.count == 0 ? 0 : try last.int(0, 0)
        let sealedThrough = last.count == 0 ? 0 : try last.int(0, 1)
        guard try rows[1].bool(0, 0), let through = try end(after: sealedThrough, upTo: newest) else {
            return (nil, try connection.run([Statement("COMMIT")]).warnings)
        }
        guard let previous = last.count == 0 ? Seal.genesis : Digest(hex: try last.text(0, 2)) else {
            throw StoreFailure(.corrupted, operation: "seal", cause: "the hash of the last seal is no digest")
        }
        let heads = try changed(after: sealedThrough, through: through)
        let seal = Seal(
            number: number + 1, at: Timestamp(milliseconds: try rows[1].int(0, 1)), previous: previous, heads: heads)
        let (written, warnings) = try termed.run([
            Statement(
                "INSERT INTO seals (number, at, heads, through_event, prev, hash) VALUES ($1, $2, $3, $4, $5, $6)",
                [
                    .int(seal.number), .int(seal.at.milliseconds), .int(seal.heads), .int(through),
                    .text(seal.previous.hex), .text(seal.hash.hex),
                ]),
            Statement(
                """
                INSERT INTO seal_heads (seal, payment_id, seq, hash)
                SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::text[])
                """,
                [
                    .int(seal.number), .texts(heads.map(\.payment.text)), .ints(heads.map(\.head.sequence)),
                    .texts(heads.map(\.head.hash.hex)),
                ]),
            Statement("COMMIT"),
        ])
        guard written.last?.tag == "COMMIT" else {
            throw StoreFailure(.serialization, operation: "seal", cause: "the transaction was rolled back")
        }
        return ((seal, through), warnings)
    }

    /// The number of the event with which the next seal ends; `nil` if there is no event for it. Numbers have gaps, so
    /// the events are counted.
    private func end(after first: Int64, upTo last: Int64) throws -> Int64? {
        try connection.rows(
            """
            SELECT max(id) FROM (
                SELECT id FROM events WHERE id > $1 AND id <= $2 ORDER BY id LIMIT \(SealBounds.mostEvents)
            ) AS sealed
            """, [.int(first), .int(last)]
        ).optionalInt(0, 0)
    }

    /// The heads of the trails that grew by events with these numbers.
    private func changed(after first: Int64, through last: Int64) throws -> SealedHeads {
        try heads(
            connection.rows(
                """
                SELECT DISTINCT ON (payment_id) payment_id, seq, hash FROM events WHERE id > $1 AND id <= $2
                ORDER BY payment_id, seq DESC
                """, [.int(first), .int(last)]))
    }

    private func heads(_ rows: Rows) throws -> SealedHeads {
        try (0..<rows.count).map { row in
            guard let payment = PaymentID(text: try rows.text(row, 0)), let hash = Digest(hex: try rows.text(row, 2))
            else {
                throw StoreFailure(.corrupted, operation: "seal", cause: "a stored head does not decode")
            }
            return (payment, AuditHead(sequence: try rows.int(row, 1), hash: hash))
        }
    }
}

extension SealTables {
    func seal(after number: Int64) throws -> SealRow? {
        let rows = try connection.rows(
            "SELECT number, at, heads, prev, hash FROM seals WHERE number > $1 ORDER BY number LIMIT 1",
            [.int(number)])
        guard rows.count == 1 else { return nil }
        return SealRow(
            number: try rows.int(0, 0), at: try rows.int(0, 1), heads: Int(try rows.int(0, 2)),
            previous: try rows.text(0, 3), hash: try rows.text(0, 4))
    }

    func heads(ofSeal number: Int64) throws -> SealedHeads {
        try heads(
            connection.rows(
                "SELECT payment_id, seq, hash FROM seal_heads WHERE seal = $1 ORDER BY payment_id", [.int(number)]))
    }

    func hash(of payment: PaymentID, at sequence: Int64) throws -> String? {
        let rows = try connection.rows(
            "SELECT hash FROM events WHERE payment_id = $1 AND seq = $2", [.text(payment.text), .int(sequence)])
        return rows.count == 0 ? nil : try rows.text(0, 0)
    }

    func trails(after payment: String, limit: Int) throws -> [HeadRow] {
        let rows = try connection.rows(
            "SELECT id, audit_seq, audit_hash, document FROM payments WHERE id > $1 ORDER BY id LIMIT $2",
            [.text(payment), .int(limit)])
        return try (0..<rows.count).map { row in
            HeadRow(
                payment: try rows.text(row, 0), sequence: try rows.int(row, 1), hash: try rows.text(row, 2),
                document: Data(try rows.text(row, 3).utf8))
        }
    }

    func events(of payment: PaymentID, _ goesOn: (EventRow) throws -> Bool) throws {
        let rows = try connection.rows(
            "SELECT \(EventRow.columns) FROM events WHERE payment_id = $1 ORDER BY seq", [.text(payment.text)])
        for row in 0..<rows.count where try !goesOn(EventRow(rows, row)) { return }
    }

    func isPruned(_ payment: PaymentID) throws -> Bool {
        try connection.rows(
            """
            SELECT NOT EXISTS (SELECT 1 FROM payments WHERE id = $1)
                AND EXISTS (SELECT 1 FROM idempotency_keys WHERE place = $1 AND pruned)
            """, [.text(payment.text)]
        ).bool(0, 0)
    }

    func owners(after payment: String, limit: Int) throws -> [TrailOwner] {
        let rows = try connection.rows(
            """
            SELECT payment_id, EXISTS (SELECT 1 FROM payments WHERE payments.id = owners.payment_id)
                OR EXISTS (SELECT 1 FROM idempotency_keys WHERE place = owners.payment_id AND pruned)
            FROM (SELECT DISTINCT payment_id FROM events WHERE payment_id > $1 ORDER BY payment_id LIMIT $2) AS owners
            ORDER BY payment_id
            """, [.text(payment), .int(limit)])
        return try (0..<rows.count).map { TrailOwner(payment: try rows.text($0, 0), isKnown: try rows.bool($0, 1)) }
    }
}
