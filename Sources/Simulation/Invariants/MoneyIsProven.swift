internal import MemoryStore
public import PaymentCore

/// Invariant 19. The money of every run that was completed is proven, and what stands is what the positions add up to.
public struct MoneyIsProven: Invariant {
    /// Its number in the protocol.
    public static let number = 19
    /// What holds.
    public static let sentence =
        "opening plus what a run moved equals closing on both sides, and what differs between them has a name"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a run that was completed.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        guard case .recorded(let step, _, _, _) = news, step.run.state == .completed, !step.run.isDry else { return }
        for proof in step.run.proofs where !proof.isProven {
            findings.require(
                false, at, nil,
                "\(step.run.provider): \(proof.unexplained) \(proof.currency) unexplained, drift of ours "
                    + "\(proof.drift.ours), of theirs \(proof.drift.theirs)")
        }
    }

    /// Judges the end: adds up what is remembered, apart from every run.
    public mutating func atRest(_ evidence: Evidence) {
        let comparisons = evidence.rows.comparisons
        for provider in evidence.providers {
            var sums: [Currency: (ours: Int64, theirs: Int64)] = [:]
            for row in comparisons.rows(at: provider.name) {
                if let ours = row.ours { sums[ours.net.currency, default: (0, 0)].ours += ours.net.value }
                if let theirs = row.theirs?.net { sums[theirs.currency, default: (0, 0)].theirs += theirs.value }
            }
            let standing = comparisons.standing[provider.name]?.byCurrency ?? [:]
            for (currency, sides) in standing {
                let sum = sums[currency] ?? (0, 0)
                findings.require(
                    sum.ours == sides.ours && sum.theirs == sides.theirs, evidence.now, nil,
                    "\(provider.name): \(sides.ours) and \(sides.theirs) \(currency) stand, the positions come to "
                        + "\(sum.ours) and \(sum.theirs)")
            }
        }
    }
}
