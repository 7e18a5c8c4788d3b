internal import MemoryStore
public import PaymentCore

/// Invariant 17. The windows of a provider's chain follow each other without a gap and without an overlap.
///
/// Where rows were lost, the chain goes on at the last run that is left.
public struct WindowsAdjoin: Invariant {
    /// Its number in the protocol.
    public static let number = 17
    /// What holds.
    public static let sentence = "the windows of a provider adjoin, from the beginning to the present"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a run that was planned, by the runs that are stored besides.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        guard case .planned(let run) = news, run.kind == .scheduled else { return }
        let others = evidence.rows.comparisons.runs.values.filter {
            $0.provider == run.provider && $0.kind == .scheduled && $0.id != run.id
        }
        guard let last = others.map(\.window.to).max() else { return }
        findings.require(
            last == run.window.from, at, nil,
            "\(run.provider): a window begins at \(run.window.from.rfc3339), the one before ends at \(last.rfc3339)")
        findings.require(
            others.allSatisfy { $0.state.isFinal }, at, nil,
            "\(run.provider): a run was planned before the one before was finished")
    }

    /// Judges the end: nothing between the first window and the last was left out.
    public mutating func atRest(_ evidence: Evidence) {
        let comparisons = evidence.rows.comparisons
        for provider in evidence.providers {
            var windows: [ComparedWindow] = []
            // Those that somebody asked for are beside the chain.
            for run in comparisons.runs.values
            where run.provider == provider.name && run.kind == .scheduled && run.state == .completed {
                windows.append(run.window)
            }
            windows.sort { $0.from < $1.from }
            for (window, next) in zip(windows, windows.dropFirst()) {
                findings.require(
                    window.to == next.from, evidence.now, nil,
                    "\(provider.name): nothing was compared from \(window.to.rfc3339) to \(next.from.rfc3339)")
            }
        }
    }
}
