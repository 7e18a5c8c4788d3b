public import PaymentCore

/// Invariant 6. What is final stays so: of payments, and of refunds.
///
/// Callers see it: whoever asks for something new after a payment ended is not told that it goes on.
///
/// Where rows were lost a conclusion may have to be found again; it is then the same, if anybody was told of it. What
/// no store kept and nobody heard may end as its caller asked meanwhile.
public struct FinalStatesStay: Invariant {
    /// Its number in the protocol.
    public static let number = 6
    /// What holds.
    public static let sentence = "final states do not change"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct End {
        let conclusion: Conclusion
        let term: Int
        let at: Timestamp
    }

    private var conclusions: [PaymentID: End] = [:]
    private var firstAsked: [CallerKey: Timestamp] = [:]
    /// Payments of which somebody was told how they ended.
    private var told: Set<PaymentID> = []
    /// Counts the promotions that lost rows.
    private var term = 0

    /// The invariant.
    public init() {}

    /// Judges a change of the active site.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        if rowsLost > 0 { term += 1 }
    }

    /// Notes what is asked.
    public mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence) {
        let key = CallerKey(operation)
        if firstAsked[key] == nil { firstAsked[key] = at }
    }

    /// Judges an answer.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {
        let shown: PaymentState
        switch answer {
        case .accepted(let state), .refused(let state): shown = state
        case .settled(let state, _):
            if state.isFinal { told.insert(operation.payment) }
            return
        case .keyReused, .unavailable: return
        }
        if shown.isFinal { told.insert(operation.payment) }
        guard let end = conclusions[operation.payment], end.term == term,
            let asked = firstAsked[CallerKey(operation)], asked > end.at
        else { return }
        findings.require(
            shown == end.conclusion.state, at, operation.payment,
            "it had ended \(end.conclusion.state) when its caller asked, who was told \(shown)")
    }

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let id = commit.after.id
        if let known = conclusions[id] {
            if known.term == term {
                findings.require(
                    commit.after.conclusion == known.conclusion, at, id,
                    "it ended \(known.conclusion.state), and now is \(commit.after.state)")
            } else if let found = commit.after.conclusion {
                findings.require(
                    found.state == known.conclusion.state || !told.contains(id)
                        || evidence.isForgotten(commit.after.id),
                    at, id,
                    "it ended \(known.conclusion.state), and after rows were lost \(found.state)")
                conclusions[id] = End(conclusion: found, term: term, at: at)
            }
        } else if let conclusion = commit.after.conclusion {
            findings.require(conclusion.state.isFinal, at, id, "it ended \(conclusion.state)")
            findings.require(
                conclusion.state == .succeeded || conclusion.reason != nil, at, id,
                "it ended without a reason")
            conclusions[id] = End(conclusion: conclusion, term: term, at: at)
        }
        if !commit.after.refunds.isEmpty { refunds(commit, at) }
    }

    private mutating func refunds(_ commit: Commit, _ at: Timestamp) {
        guard let before = commit.before?.refunds else { return }
        let after = commit.after.refunds
        guard after.count >= before.count else {
            return findings.require(false, at, commit.after.id, "a refund that was asked for is gone")
        }
        for (old, new) in zip(before, after) {
            for (part, next) in zip(old.parts, new.parts) where part.state.isFinal {
                findings.require(
                    next.state == part.state, at, commit.after.id,
                    "a refund of leg \(part.leg) ended \(part.state), and now is \(next.state)")
            }
        }
    }
}
