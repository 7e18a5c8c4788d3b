public import PaymentCore

/// Invariant 21. A discrepancy is opened only about what truly differs, and is old enough to be judged.
public struct NothingIsInvented: Invariant {
    /// Its number in the protocol.
    public static let number = 21
    /// What holds.
    public static let sentence = "nothing is called a difference that is none, or that is young enough to be in flight"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// When each run was claimed last.
    private var claimed: [ComparisonRunID: Timestamp] = [:]
    /// When each row was written last. The row has the moment of its decision, and may be stored minutes later (seed
    /// 420612553).
    private var written: [PaymentID: Timestamp] = [:]
    /// By how much replicas' clocks are behind at most, and a little more.
    private static let margin = Span.seconds(2)

    /// The invariant.
    public init() {}

    /// Notes when a row was written.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        written[commit.after.id] = at
    }

    /// Judges what a run opens.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        switch news {
        case .claimed(let run, _, _): claimed[run.id] = at
        case .recorded(let step, _, _, _):
            for finding in step.findings where finding.outcome == .opened {
                judge(finding.evidence, of: step.run, at, evidence)
            }
        case .planned, .ordered: break
        }
    }

    private static func words(_ shown: ListedPosition?) -> String {
        let lines = shown?.lines.map { line in
            let taken = line.captured.map { ", \($0) taken" } ?? ""
            let given = line.refunds.isEmpty ? "" : ", refunds \(line.refunds.map { "\($0.amount)" })"
            let moments = [("made", line.createdAt), ("changed", line.updatedAt)].compactMap { name, moment in
                moment.map { ", \(name) \($0.rfc3339)" }
            }
            return "\(line.status.rawValue)\(taken)\(given)\(moments.joined())"
        }
        return lines.map { $0.joined(separator: "; ") } ?? "nothing"
    }

    private mutating func judge(
        _ finding: ComparisonFinding, of run: ComparisonRun, _ at: Timestamp, _ evidence: Evidence
    ) {
        guard case .transaction(let key) = finding.subject, let provider = evidence.provider(run.provider) else {
            return
        }
        let sides = TrueSides(key, at: provider, evidence)
        // What changed while it was compared may have been otherwise when it was looked at.
        let began = (claimed[run.id] ?? at) + (Span.zero - NothingIsInvented.margin)
        let stored = sides.named.flatMap { written[$0] } ?? sides.changedAt
        guard max(sides.changedAt, stored) < began else { return }
        // Told by the contract itself, and not by what the run took for the limit.
        let contract = provider.contract
        let horizon = run.createdAt + (Span.zero - (contract.maxRequestLife + contract.visibilityLag))
        // An amount does not change in flight: it is judged however young it is.
        findings.require(
            sides.seenAt(by: run) < horizon || sides.isShownOtherwise, at, sides.named,
            "\(key) at \(run.provider) is called \(finding.finding.rawValue) by \(finding.row), and changed "
                + "\((at - sides.writtenAt).milliseconds) ms ago")
        if finding.finding == .hidden {
            return findings.require(
                provider.wasHidden(key, at: began), at, sides.named,
                "\(key) at \(run.provider) is called hidden, and is listed")
        }
        // A provider that forgot a transaction and took a late copy of its request showed two under one key, one after
        // the other (seed 2795823962).
        let wereTwo = finding.finding == .duplicate && sides.goneAt != nil
        // Two lines may be one transaction that changed. Only an inquiry tells, and its provider has forgotten it:
        // money that was shown is not explained away (seed 3355186206).
        let isUntold = !sides.isShown && finding.theirs?.isShared == true
        let mayDiffer =
            sides.differ || sides.isReplaced || sides.isForgotten || sides.isShownOtherwise || sides.wasChangedByOthers
            || wereTwo || isUntold || sides.isMissing || provider.wasHidden(key, at: began)
        findings.require(
            mayDiffer, at, sides.named,
            "\(key) at \(run.provider) is called \(finding.finding.rawValue) by \(finding.row), and the sides agree; "
                + "shown: \(NothingIsInvented.words(finding.theirs))")
    }
}
