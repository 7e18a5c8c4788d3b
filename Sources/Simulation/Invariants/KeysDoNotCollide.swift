public import PaymentCore

/// Invariant 5. What one caller asks never meets what another asks, even under the same key.
public struct KeysDoNotCollide: Invariant {
    /// Its number in the protocol.
    public static let number = 5
    /// What holds.
    public static let sentence = "keys never collide across callers"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct Place: Hashable {
        let caller: CallerID
        let payment: PaymentID
        let leg: Int
        let effect: EffectReference
    }

    private var effects: [EffectKey: Place] = [:]
    private var creates: [PaymentID: CallerKey] = [:]
    private var owners: [PaymentID: CallerID] = [:]

    /// The invariant.
    public init() {}

    /// Notes what is asked.
    public mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence) {
        guard case .create = operation.kind else { return }
        let key = CallerKey(operation)
        let known = creates[operation.payment] ?? key
        findings.require(
            known == key, at, operation.payment, "two creates of different callers or keys are one payment")
        creates[operation.payment] = known
    }

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        // What undoes a transaction of a payment that our rows lack takes that payment's place.
        guard commit.before == nil, !commit.after.isUndoing else { return }
        let owner = owners[commit.after.id] ?? commit.after.caller
        findings.require(owner == commit.after.caller, at, commit.after.id, "a payment changed hands")
        owners[commit.after.id] = owner
    }

    /// Judges an answer.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {
        guard answer.isTaken else { return }
        findings.require(
            owners[operation.payment] == operation.caller, at, operation.payment,
            "\(operation.caller) was answered under \(operation.key) about a payment that it does not have")
    }

    /// Judges a request that left.
    public mutating func sent(_ order: SendOrder, replica: Int, at: Timestamp, _ evidence: Evidence) {
        let target = Place(caller: order.caller, payment: order.payment, leg: order.leg, effect: order.effect)
        guard let known = effects[order.key] else {
            effects[order.key] = target
            return
        }
        findings.require(
            known.caller == target.caller && known.payment == target.payment && known.leg == target.leg
                && KeysDoNotCollide.agree(known.effect, target.effect),
            at, order.payment, "one effect key for two effects")
    }

    /// After rows were lost, refunds may be asked again in another order: their places are not part of the
    /// key.
    private static func agree(_ first: EffectReference, _ second: EffectReference) -> Bool {
        if case .refund = first, case .refund = second { return true }
        return first == second
    }
}
