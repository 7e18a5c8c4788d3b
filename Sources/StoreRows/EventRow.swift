package import PaymentCore
internal import Reconciler

/// An entry of an audit trail as a row of `events`.
package struct EventRow: Sendable {
    /// Its place in the trail, from 1.
    package let sequence: Int64
    /// When, in milliseconds since 1970.
    package let at: Int64
    /// What happened.
    package let type: String
    /// Which leg it is about.
    package let leg: Int?
    /// What there is to say, as JSON.
    package let fields: String
    /// The hash of the entry before.
    package let previous: String
    /// Its hash.
    package let hash: String

    /// The names of its columns, in the order of ``init(_:_:_:_:_:_:_:)``.
    package static let columns = "seq, at, type, leg, fields, prev, hash"

    /// The row of an entry.
    package init(_ entry: AuditEntry) {
        sequence = entry.sequence
        at = entry.at.milliseconds
        type = entry.type.rawValue
        leg = entry.leg
        fields = PaymentDocument.encode(entry.fields)
        previous = entry.previous.hex
        hash = entry.hash.hex
    }

    /// A row of ``columns``, as it was read.
    package init(
        _ sequence: Int64, _ at: Int64, _ type: String, _ leg: Int?, _ fields: String, _ previous: String,
        _ hash: String
    ) {
        self.sequence = sequence
        self.at = at
        self.type = type
        self.leg = leg
        self.fields = fields
        self.previous = previous
        self.hash = hash
    }

    /// The entry, with the hash that is stored: whether it is that of the content is for the reader to check.
    package func entry(of payment: PaymentID) throws -> AuditEntry {
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

    /// The entry, if the row is what follows `head`, and its hash that of its content.
    package func entry(after head: AuditHead, of payment: PaymentID) throws(AuditBreak) -> AuditEntry {
        guard sequence == head.sequence + 1 else { throw .gap(expected: head.sequence + 1, found: sequence) }
        guard previous == head.hash.hex else { throw .unlinked(sequence: sequence) }
        let found: AuditEntry
        do {
            found = try entry(of: payment)
        } catch {
            // What does not decode is not what was written.
            throw .altered(sequence: sequence)
        }
        guard found.isIntact(payment: payment), found.hash.hex == hash else { throw .altered(sequence: sequence) }
        return found
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
