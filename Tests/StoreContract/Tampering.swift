public import PaymentCore

/// What somebody may do to what is stored, past the store.
public enum Tampering: Sendable, Hashable {
    /// An entry of a trail says something else; its hash stays.
    case alterEntry(PaymentID, sequence: Int64)
    /// The newest entry of a trail is removed, and the payment's head is set to the one before it.
    case truncateTrail(PaymentID)
    /// A whole trail is written anew, with other content and hashes that fit, and the payment's head with it.
    case rewriteTrail(PaymentID)
    /// A payment's whole trail is removed.
    case removeTrail(PaymentID)
    /// A payment says that it is captured otherwise; its trail stays.
    case alterPayment(PaymentID)
    /// The time of a seal is changed; its hash stays.
    case alterSeal(number: Int64)
    /// A seal is removed.
    case removeSeal(number: Int64)

    /// A trail with the same steps and other content, whose hashes fit.
    public static func forged(_ trail: [AuditEntry], of payment: PaymentID) -> [AuditEntry] {
        var head = AuditHead.empty(payment)
        return trail.map { entry in
            let forged = AuditEntry(
                after: head, payment: payment, at: entry.at, type: entry.type, leg: entry.leg,
                fields: [AuditField("forged", "yes")])
            head = AuditHead(sequence: forged.sequence, hash: forged.hash)
            return forged
        }
    }
}
