public import PaymentCore

/// Invariant 8. A payment that succeeded took exactly what was asked, from every leg, at that moment.
public struct SucceededMeansAsked: Invariant {
    /// Its number in the protocol.
    public static let number = 8
    /// What holds.
    public static let sentence = "succeeded means captured = the amount asked ≤ authorized, per leg"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        guard payment.conclusion?.state == .succeeded, commit.before?.conclusion == nil else { return }
        findings.require(
            payment.captureMode == .automatic || payment.capture != nil || isResolved(payment), at, payment.id,
            "it succeeded although its caller never asked for a capture")
        // What two people decided takes the place of what could not be known.
        for leg in payment.legs where leg.knowledge?.reason != Leg.Gone.byPeople {
            let asked = SucceededMeansAsked.asked(of: leg, payment)
            let figures = evidence.figures(payment.id, leg)
            // What was to be released and somebody took at the provider's own console was given back.
            let isGivenBack = asked.isZero && leg.isCompensated
            let ours = isGivenBack ? 0 : leg.capturedAmount.value
            let taken = isGivenBack ? figures.net : figures.captured
            findings.require(
                ours == asked.value, at, payment.id,
                "leg \(leg.index) succeeded with \(leg.capturedAmount), asked \(asked)")
            findings.require(
                asked.value <= leg.amount.value, at, payment.id,
                "leg \(leg.index) took \(asked) of \(leg.amount)")
            // Where two people said what is not so, the books are otherwise. A read after their word, which it may not
            // overrule, takes the place of what is known (seed 20684138014285).
            guard !evidence.misjudged.contains(payment.id) else { continue }
            findings.require(
                taken == asked.value, at, payment.id,
                "leg \(leg.index) succeeded with \(taken) taken, asked \(asked)")
            findings.require(
                figures.held == 0, at, payment.id,
                "leg \(leg.index) still holds \(figures.held) after it succeeded")
        }
    }

    private func isResolved(_ payment: Payment) -> Bool {
        payment.legs.contains { $0.knowledge?.reason == Leg.Gone.byPeople }
    }

    static func asked(of leg: Leg, _ payment: Payment) -> Money {
        guard let capture = payment.capture, capture.amounts.indices.contains(leg.index) else {
            return leg.amount
        }
        return capture.amounts[leg.index]
    }
}
