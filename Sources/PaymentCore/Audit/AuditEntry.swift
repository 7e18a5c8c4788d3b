/// What an entry of the audit trail is about.
public enum AuditType: String, Sendable, Hashable, Codable, CaseIterable {
    /// The payment was created.
    case created
    /// An intent was written; the request leaves after it is durable.
    case intent
    /// An attempt ended.
    case outcome
    /// A status was read.
    case inquiry
    /// A leg was decided by the effect table.
    case decision
    /// The latch moved.
    case latch
    /// The caller asked for something.
    case operation
    /// A worker took the payment over.
    case claimed
    /// The payment ended.
    case concluded
    /// A refund ended.
    case refund
    /// People must decide.
    case quarantined
    /// A person should look.
    case alert
    /// Rows became untrusted.
    case recovery
    /// People decided about a quarantined leg.
    case resolved
}

/// One field of an entry. Values are short texts without secrets.
public struct AuditField: Sendable, Hashable, Codable {
    /// The name, in snake_case.
    public let name: String
    /// The value.
    public let value: String

    /// A field.
    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// One entry of a payment's audit trail, chained to the one before it by a hash.
public struct AuditEntry: Sendable, Hashable, Codable {
    /// Its place in the trail, from 1.
    public let sequence: Int64
    /// When, by the store's clock.
    public let at: Timestamp
    /// What it is about.
    public let type: AuditType
    /// The leg it is about.
    public let leg: Int?
    /// What was seen and decided.
    public let fields: [AuditField]
    /// The hash of the entry before it; of nothing for the first.
    public let previous: Digest
    /// The hash of this entry.
    public let hash: Digest

    /// Chains a new entry to `head`.
    public init(
        after head: AuditHead, payment: PaymentID, at: Timestamp, type: AuditType, leg: Int?, fields: [AuditField]
    ) {
        sequence = head.sequence + 1
        self.at = at
        self.type = type
        self.leg = leg
        self.fields = fields
        previous = head.hash
        hash = AuditEntry.hash(
            payment: payment, sequence: sequence, at: at, type: type, leg: leg, fields: fields,
            previous: head.hash)
    }

    /// The value of a field.
    public func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// Whether the hash is that of the content, for a payment.
    public func isIntact(payment: PaymentID) -> Bool {
        hash
            == AuditEntry.hash(
                payment: payment, sequence: sequence, at: at, type: type, leg: leg, fields: fields,
                previous: previous)
    }

    private static func hash(
        payment: PaymentID, sequence: Int64, at: Timestamp, type: AuditType, leg: Int?, fields: [AuditField],
        previous: Digest
    ) -> Digest {
        var parts = [
            "reconciled.audit.1", payment.text, String(sequence), String(at.milliseconds), type.rawValue,
            leg.map { String($0) } ?? "-", previous.hex, String(fields.count),
        ]
        // By name, so that whoever reads the trail as JSON, where members have no order, can compute it again.
        for field in fields.sorted(by: { $0.name < $1.name }) {
            parts.append(field.name)
            parts.append(field.value)
        }
        return Digest(of: parts)
    }
}

/// The newest entry of a trail.
public struct AuditHead: Sendable, Hashable, Codable {
    /// Its place; 0 for an empty trail.
    public let sequence: Int64
    /// Its hash.
    public let hash: Digest

    /// A head.
    public init(sequence: Int64, hash: Digest) {
        self.sequence = sequence
        self.hash = hash
    }

    /// The head of a payment's empty trail.
    public static func empty(_ payment: PaymentID) -> AuditHead {
        AuditHead(sequence: 0, hash: Digest(of: ["reconciled.audit.0", payment.text]))
    }
}

/// What is wrong with an audit trail.
public enum AuditBreak: Error, Sendable, Hashable, CustomStringConvertible {
    /// An entry is missing, or its order is wrong.
    case gap(expected: Int64, found: Int64)
    /// An entry does not follow from the one before it.
    case unlinked(sequence: Int64)
    /// An entry's content is not what was hashed.
    case altered(sequence: Int64)
    /// The trail ends before or after the head that the payment remembers.
    case wrongHead(expected: Int64, found: Int64)

    public var description: String {
        switch self {
        case .gap(let expected, let found): "entry \(found) is where entry \(expected) should be"
        case .unlinked(let sequence): "entry \(sequence) does not follow from the one before"
        case .altered(let sequence): "entry \(sequence) is not what was hashed"
        case .wrongHead(let expected, let found):
            "it ends with another entry \(found) than the payment remembers, entry \(expected)"
        }
    }
}

extension AuditHead {
    /// Checks a whole trail against the head that the payment remembers.
    public static func verify(
        _ entries: [AuditEntry], of payment: PaymentID, head: AuditHead
    ) throws(AuditBreak) {
        var last = AuditHead.empty(payment)
        for entry in entries {
            guard entry.sequence == last.sequence + 1 else {
                throw .gap(expected: last.sequence + 1, found: entry.sequence)
            }
            guard entry.previous == last.hash else { throw .unlinked(sequence: entry.sequence) }
            guard entry.isIntact(payment: payment) else { throw .altered(sequence: entry.sequence) }
            last = AuditHead(sequence: entry.sequence, hash: entry.hash)
        }
        guard last == head else { throw .wrongHead(expected: head.sequence, found: last.sequence) }
    }
}
