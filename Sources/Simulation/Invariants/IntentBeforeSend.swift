public import PaymentCore

/// Invariant 9. Nothing leaves that is not written down before, and nothing leaves twice for one intent, or
/// after the time that the intent allows.
public struct IntentBeforeSend: Invariant {
    /// Its number in the protocol.
    public static let number = 9
    /// What holds.
    public static let sentence = "no send without a durable intent"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct Attempt: Hashable {
        let target: EffectPlace
        let number: Int
    }

    /// Intents that are durable and were not sent yet; more than one if rows were lost in between.
    private var unsent: [Attempt: [Intent]] = [:]

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        for intent in commit.newIntents {
            let target = EffectPlace(payment: commit.after.id, leg: intent.leg, effect: intent.effect)
            unsent[Attempt(target: target, number: intent.number), default: []].append(intent)
        }
    }

    /// Judges a request that left.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {
        let attempt = Attempt(target: EffectPlace(order), number: order.number)
        let intent = unsent[attempt]?.popLast()
        findings.require(
            intent != nil, at, order.payment,
            "\(order.kind.rawValue) of leg \(order.leg), attempt \(order.number), left without a durable intent"
        )
        if let intent {
            findings.require(
                intent.key == order.key && intent.amount == order.amount, at, order.payment,
                "\(order.kind.rawValue) of leg \(order.leg) left with another key or amount than was written")
        }
        let skew = evidence.provider(order.provider)?.contract.clockSkew ?? .zero
        findings.require(
            at <= order.startBefore + skew + skew, at, order.payment,
            "\(order.kind.rawValue) of leg \(order.leg) left \((at - order.startBefore).milliseconds) ms too late"
        )
    }
}
