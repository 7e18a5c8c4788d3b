internal import GRDB
internal import PaymentCore
internal import Reconciler

/// The check of all seals and trails, in steps that each read a bounded part: first the seals, one a step, then the
/// trails, some a step, then whatever trail has lost its payment.
struct SealVerification: Sendable {
    /// After so many breaks there is nothing more to learn.
    static let mostBreaks = 1_000
    private static let trailsPerStep = 100

    private enum Stage: Sendable {
        case seals(last: Int64, hash: Digest)
        case trails(after: String)
        case orphans
        case done
    }

    private(set) var breaks: [SealBreak] = []
    private var stage: Stage = .seals(last: 0, hash: Seal.genesis)

    /// Whether there is nothing left to check.
    var isDone: Bool {
        if case .done = stage { return true }
        return false
    }

    /// Checks the next part.
    mutating func step(_ db: Database) throws {
        switch stage {
        case .seals(let last, let hash): try checkSeal(after: last, hash, db)
        case .trails(let after): try checkTrails(after: after, db)
        case .orphans: try checkOrphans(db)
        case .done: break
        }
        if breaks.count >= SealVerification.mostBreaks { stage = .done }
    }

    private mutating func checkSeal(after last: Int64, _ previous: Digest, _ db: Database) throws {
        guard
            let row = try Row.fetchOne(
                db, sql: "SELECT number, at, heads, prev, hash FROM seals WHERE number > ? ORDER BY number LIMIT 1",
                arguments: [last])
        else {
            stage = .trails(after: "")
            return
        }
        let number: Int64 = row[0]
        let room = SealVerification.mostBreaks - breaks.count
        breaks += ((last + 1)..<max(number, last + 1)).prefix(room).map { .missing(number: $0) }
        let heads: SealedHeads.Heads
        do {
            heads = try SealedHeads.of(seal: number, db)
        } catch is StoreFailure {
            breaks.append(.altered(number: number))
            stage = .seals(last: number, hash: Digest(hex: row[4]) ?? previous)
            return
        }
        let claimed = Digest(hex: row[3]) ?? previous
        let seal = Seal(number: number, at: Timestamp(milliseconds: row[1]), previous: claimed, heads: heads)
        let follows = claimed == previous || number > last + 1
        let hash: String = row[4]
        let count: Int = row[2]
        if !follows || seal.hash.hex != hash || seal.heads != count || claimed.hex != row[3] as String {
            breaks.append(.altered(number: number))
        }
        try checkHeads(heads, of: number, db)
        // What follows is judged by what this seal says of itself, so that one fault is reported once.
        stage = .seals(last: number, hash: Digest(hex: hash) ?? seal.hash)
    }

    private mutating func checkHeads(_ heads: SealedHeads.Heads, of number: Int64, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: "SELECT hash FROM events WHERE payment_id = ? AND seq = ?")
        for (payment, head) in heads where breaks.count < SealVerification.mostBreaks {
            let found = try String.fetchOne(statement, arguments: [payment.text, head.sequence])
            if found != head.hash.hex { breaks.append(.headMissing(number: number, payment: payment)) }
        }
    }

    private mutating func checkTrails(after last: String, _ db: Database) throws {
        let rows = try Row.fetchAll(
            db, sql: "SELECT id, audit_seq, audit_hash FROM payments WHERE id > ? ORDER BY id LIMIT ?",
            arguments: [last, SealVerification.trailsPerStep])
        guard let newest = rows.last else {
            stage = .orphans
            return
        }
        for row in rows where breaks.count < SealVerification.mostBreaks {
            // Under another id the trail is an orphan, and is found as that.
            guard let payment = PaymentID(text: row[0]) else { continue }
            guard let hash = Digest(hex: row[2]) else {
                breaks.append(.trailBroken(payment: payment, detail: "the payment's head is no digest"))
                continue
            }
            if let found = try checkTrail(of: payment, head: AuditHead(sequence: row[1], hash: hash), db) {
                breaks.append(.trailBroken(payment: payment, detail: "\(found)"))
            }
        }
        stage = .trails(after: newest[0])
    }

    private func checkTrail(of payment: PaymentID, head: AuditHead, _ db: Database) throws -> AuditBreak? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(EventRow.columns) FROM events WHERE payment_id = ? ORDER BY seq")
        let rows = try Row.fetchCursor(statement, arguments: [payment.text])
        var last = AuditHead.empty(payment)
        while let row = try rows.next() {
            let event = EventRow(row)
            if let found = event.check(after: last, of: payment) { return found }
            guard let hash = Digest(hex: event.hash) else { return .altered(sequence: event.sequence) }
            last = AuditHead(sequence: event.sequence, hash: hash)
        }
        return last == head ? nil : .wrongHead(expected: head.sequence, found: last.sequence)
    }

    private mutating func checkOrphans(_ db: Database) throws {
        let rows = try String.fetchCursor(
            db,
            sql: """
                SELECT DISTINCT payment_id FROM events
                WHERE NOT EXISTS (SELECT 1 FROM payments WHERE payments.id = events.payment_id) LIMIT ?
                """,
            arguments: [SealVerification.mostBreaks])
        while let text = try rows.next() {
            guard let payment = PaymentID(text: text) else { continue }
            breaks.append(.trailBroken(payment: payment, detail: "its payment is gone"))
        }
        stage = .done
    }
}
