internal import GRDB
internal import PaymentCore
internal import Reconciler

/// An entry of an audit trail as a row of `events`.
struct EventRow: Sendable {
    let sequence: Int64
    let at: Int64
    let type: String
    let leg: Int?
    let fields: String
    let previous: String
    let hash: String

    static let columns = "seq, at, type, leg, fields, prev, hash"

    init(_ entry: AuditEntry) {
        sequence = entry.sequence
        at = entry.at.milliseconds
        type = entry.type.rawValue
        leg = entry.leg
        fields = PaymentDocument.encode(entry.fields)
        previous = entry.previous.hex
        hash = entry.hash.hex
    }

    /// Reads a row of ``columns``.
    init(_ row: Row) {
        sequence = row[0]
        at = row[1]
        type = row[2]
        leg = row[3]
        fields = row[4]
        previous = row[5]
        hash = row[6]
    }

    func insert(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO events (payment_id, \(EventRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [payment, sequence, at, type, leg, fields, previous, hash])
    }

    /// The entry, with the hash that is stored: whether it is that of the content is for the reader to check.
    func entry(of payment: PaymentID) throws -> AuditEntry {
        let parsed = try PaymentDocument.decodeFields(fields)
        if let type = AuditType(rawValue: type), let previous = Digest(hex: previous) {
            let head = AuditHead(sequence: sequence - 1, hash: previous)
            let entry = AuditEntry(
                after: head, payment: payment, at: Timestamp(milliseconds: at), type: type, leg: leg,
                fields: parsed)
            if entry.hash.hex == hash { return entry }
        }
        return try PaymentDocument.entry(Verbatim(row: self, fields: parsed))
    }

    /// Whether the row is what follows `head`, and its hash that of its content.
    func check(after head: AuditHead, of payment: PaymentID) -> AuditBreak? {
        guard sequence == head.sequence + 1 else { return .gap(expected: head.sequence + 1, found: sequence) }
        guard previous == head.hash.hex else { return .unlinked(sequence: sequence) }
        do {
            return try entry(of: payment).isIntact(payment: payment) ? nil : .altered(sequence: sequence)
        } catch {
            // What does not decode is not what was written.
            return .altered(sequence: sequence)
        }
    }

    /// The row under the names of ``AuditEntry``'s coding.
    private struct Verbatim: Encodable {
        let sequence: Int64
        let at: Int64
        let type: String
        let leg: Int?
        let fields: [AuditField]
        let previous: String
        let hash: String

        init(row: EventRow, fields: [AuditField]) {
            sequence = row.sequence
            at = row.at
            type = row.type
            leg = row.leg
            self.fields = fields
            previous = row.previous
            hash = row.hash
        }
    }
}
