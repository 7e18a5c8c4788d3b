public import PaymentCore

/// Invariant 2. A leg is never charged twice, under whatever key.
public struct OneLiveCharge: Invariant {
    /// Its number in the protocol.
    public static let number = 2
    /// What holds.
    public static let sentence = "at most one live charge per leg"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges the books after a request was executed.
    public mutating func arrived(
        _ order: SendOrder, _ outcome: OutcomeClass, at: Timestamp, _ evidence: Evidence
    ) {
        // Nothing else makes a charge live.
        guard order.kind == .authorize || order.kind == .sale,
            let provider = evidence.provider(order.provider)
        else { return }
        let live = provider.figures(of: order.payment, leg: order.leg, at: evidence.now).liveCharges
        findings.require(live <= 1, at, order.payment, "leg \(order.leg) is charged \(live) times")
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for payment in evidence.rows.everyPayment() {
            for leg in payment.legs {
                let live = evidence.figures(payment.id, leg).liveCharges
                findings.require(
                    live <= 1, evidence.now, payment.id, "leg \(leg.index) is charged \(live) times at rest")
            }
        }
    }
}
