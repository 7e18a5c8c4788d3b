internal import MemoryStore
public import PaymentCore

/// Invariant 7. Whoever was told that a payment failed or was canceled pays nothing.
public struct UndoneMeansNothing: Invariant {
    /// Its number in the protocol.
    public static let number = 7
    /// What holds.
    public static let sentence = "failed or canceled means net charge zero at rest"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a durable change: nobody may be told of an end before every leg is known to be undone. While people have
    /// to decide about a leg, nothing is known of it.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        guard commit.before?.conclusion == nil, let ended = commit.after.conclusion?.state else { return }
        for leg in commit.after.legs {
            findings.require(
                leg.quarantine == nil, at, commit.after.id,
                "the payment \(ended) while people have to decide about leg \(leg.index)")
            findings.require(
                ended == .succeeded || leg.gone != nil, at, commit.after.id,
                "the payment \(ended) before leg \(leg.index) was known to be undone")
        }
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for payment in evidence.rows.everyPayment() {
            guard let ended = payment.conclusion?.state, ended != .succeeded, !evidence.misjudged.contains(payment.id)
            else { continue }
            // What people have to decide is not at rest.
            for leg in payment.legs where leg.quarantine == nil && !isLeftToPeople(leg, evidence) {
                let figures = evidence.figures(payment.id, leg)
                // A refund that somebody took out of the provider's books was made.
                findings.require(
                    figures.net - max(0, figures.removedOutside) <= 0, evidence.now, payment.id,
                    "leg \(leg.index) was charged \(figures.net) although the payment \(ended)")
                findings.require(
                    figures.held == 0, evidence.now, payment.id,
                    "leg \(leg.index) holds \(figures.held) although the payment \(ended)")
            }
        }
    }

    /// Whether it ended by the word of people, and a comparison has told people since that its key has more than one
    /// transaction: nothing is sent under such a key by itself (seed 22697543179346: a hold landed beside a decline
    /// after people had said that it was never charged).
    private func isLeftToPeople(_ leg: Leg, _ evidence: Evidence) -> Bool {
        let id = DiscrepancyID(provider: leg.provider, subject: .transaction(leg.primary.key))
        guard leg.gone?.code == Leg.Gone.byPeople, let found = evidence.rows.comparisons.discrepancies[id],
            found.state == .open
        else { return false }
        return found.suggestion == .tell && found.evidence.theirs?.isShared == true
    }
}
