public import PaymentCore

/// Invariant 10. The key of an effect is what its definition says, everywhere and for ever.
public struct KeyIsDerived: Invariant {
    /// Its number in the protocol.
    public static let number = 10
    /// What holds.
    public static let sentence =
        "K is a pure function of caller, payment, operation, leg, effect and generation"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// Keys that were checked, by their effect.
    private var keys: [EffectPlace: EffectKey] = [:]
    private var primaries: [EffectPlace: EffectKey] = [:]

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        // What undoes a transaction of a payment that our rows lack takes that payment's place.
        if commit.before == nil, !payment.isUndoing {
            findings.require(
                payment.id == PaymentID(caller: payment.caller, key: payment.key), at, payment.id,
                "the payment's identifier is not derived from caller and key")
        }
        for intent in commit.newIntents {
            let target = EffectPlace(payment: payment.id, leg: intent.leg, effect: intent.effect)
            if keys[target] == intent.key { continue }
            let derived = KeyIsDerived.derived(intent, payment, evidence)
            findings.require(
                derived == intent.key, at, payment.id,
                "the key of leg \(intent.leg), \(intent.effect), is not what its definition says")
            keys[target] = intent.key
            let primary = EffectPlace(payment: payment.id, leg: intent.leg, effect: .primary)
            primaries[primary] = payment.leg(intent.leg)?.primary.key
        }
    }

    /// Judges a request that left.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {
        if let known = keys[EffectPlace(order)] {
            findings.require(
                order.key == known, at, order.payment,
                "\(order.kind.rawValue) of leg \(order.leg) was sent under another key than its own")
        }
        let primary = EffectPlace(payment: order.payment, leg: order.leg, effect: .primary)
        if let known = primaries[primary] {
            findings.require(
                order.transactionKey == known, at, order.payment,
                "\(order.kind.rawValue) of leg \(order.leg) was sent about another transaction than its own")
        }
    }

    private static func derived(_ intent: Intent, _ payment: Payment, _ evidence: Evidence) -> EffectKey? {
        guard let leg = payment.leg(intent.leg), let provider = evidence.provider(leg.provider) else {
            return nil
        }
        let operation: IdempotencyKey
        let kind: EffectKind
        switch intent.effect {
        case .primary: (operation, kind) = (payment.key, leg.isOnePhase ? .sale : .authorize)
        case .capture: (operation, kind) = (payment.capture?.key ?? payment.key, .capture)
        case .void: (operation, kind) = (payment.key, .void)
        case .compensation: (operation, kind) = (payment.key, .refund)
        case .refund(let refundIndex):
            guard payment.refunds.indices.contains(refundIndex) else { return nil }
            (operation, kind) = (payment.refunds[refundIndex].key, .refund)
        }
        let source = EffectKey.Source(
            caller: payment.caller, payment: payment.id, operation: operation, leg: leg.index, effect: kind)
        return EffectKey(source, format: provider.contract.keyFormat)
    }
}
