/// Ways in which a provider's books come to differ from a caller's.
public enum PlantKind: String, Codable, Sendable, CaseIterable, Hashable {
    /// It is shown to whoever asks for its key, and not listed: for good, or until `for_ms` have passed.
    case hidden
    /// It was executed, and is neither shown nor listed any more.
    case forgotten
    /// A transaction that nobody asked for, whose metadata names a payment and a leg.
    case orphan
    /// A transaction that nobody asked for and that names nobody.
    case foreign
    /// A second charge under another key, with the same metadata.
    case duplicate
    /// It is of another amount, and so is what was taken.
    case amountChanged = "amount_changed"
    /// It is of another currency, with all that was taken and given back.
    case currencyChanged = "currency_changed"
    /// Somebody else voided what was captured.
    case voidedElsewhere = "voided_elsewhere"
    /// Somebody else captured what was held.
    case capturedElsewhere = "captured_elsewhere"
    /// Somebody else refunded a part.
    case refundAdded = "refund_added"
    /// A refund is of another amount.
    case refundChanged = "refund_changed"
    /// A refund is not there.
    case refundMissing = "refund_missing"
    /// A refund that succeeded failed later, and the money came back.
    case refundFailed = "refund_failed"
    /// All that was left was taken back by somebody else: a chargeback.
    case chargedBack = "charged_back"

    /// Whether it makes a transaction instead of changing one.
    var makesTransaction: Bool { self == .orphan || self == .foreign || self == .duplicate }

    /// Whether it happened after everything else, if nothing is said about when.
    var isLate: Bool {
        makesTransaction
            || [.voidedElsewhere, .capturedElsewhere, .refundAdded, .refundFailed, .chargedBack]
                .contains(self)
    }

    /// What can be planted so, for a person.
    var eligible: String {
        switch self {
        case .hidden, .forgotten, .amountChanged, .currencyChanged: "authorized or captured, with nothing pending"
        case .orphan, .foreign: "none that is known"
        case .duplicate: "authorized or captured, with nothing pending and metadata that names a payment"
        case .voidedElsewhere: "captured, with nothing pending or refunded"
        case .capturedElsewhere: "authorized, with nothing pending"
        case .refundAdded: "captured, with nothing pending and at least 2 left to refund"
        case .refundChanged, .refundMissing, .refundFailed: "captured, with nothing pending and a refund that succeeded"
        case .chargedBack: "captured, with nothing pending and something left to refund"
        }
    }

    /// Whether a transaction can be the one that differs.
    func isEligible(_ record: TransactionRecord) -> Bool {
        let isHeld = record.status == .authorized && !record.hasPendingCapture
        let isTaken = record.status == .captured && record.refunds.allSatisfy { $0.status != .pending }
        let left = record.capturedValue - record.refundedValue
        switch self {
        case .hidden, .forgotten, .amountChanged, .currencyChanged: return isHeld || isTaken
        case .orphan, .foreign: return false
        case .duplicate: return (isHeld || isTaken) && record.metadata["payment"] != nil
        case .voidedElsewhere: return isTaken && record.refundedValue == 0
        case .capturedElsewhere: return isHeld
        case .refundAdded: return isTaken && left >= 2
        case .refundChanged, .refundMissing, .refundFailed:
            return isTaken && record.refunds.contains { $0.status == .succeeded }
        case .chargedBack: return isTaken && left >= 1
        }
    }

    /// The members of an order that it uses, besides the kind, `count`, `seed` and `at_ms`.
    var members: Set<PlantOrder.CodingKeys> {
        switch self {
        case .hidden: [.key, .forMs]
        case .forgotten: [.key]
        case .orphan: [.key, .amountValue, .currency, .payment, .leg, .store, .onePhase, .held]
        case .foreign: [.key, .amountValue, .currency, .onePhase, .held]
        case .duplicate: [.key, .store]
        case .voidedElsewhere, .capturedElsewhere, .refundMissing, .refundFailed, .chargedBack: [.key]
        case .amountChanged, .refundAdded, .refundChanged: [.key, .amountValue]
        case .currencyChanged: [.key, .currency]
        }
    }
}
