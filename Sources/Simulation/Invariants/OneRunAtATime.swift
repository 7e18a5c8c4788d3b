internal import MemoryStore
public import PaymentCore
internal import Reconciler

/// Invariant 18. A window is compared once, by one replica at a time, and the next only once it is finished.
public struct OneRunAtATime: Invariant {
    /// Its number in the protocol.
    public static let number = 18
    /// What holds.
    public static let sentence =
        "only who claimed a provider's lane last writes a step of its run, and a run that is finished never goes on"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct Claim {
        let run: ComparisonRunID
        let token: LeaseToken
    }

    /// The newest claim of each lane.
    private var claims: [String: Claim] = [:]
    private var versions: [ComparisonRunID: Int64] = [:]
    private var finished: Set<ComparisonRunID> = []

    /// The invariant.
    public init() {}

    /// What was claimed and finished before rows were lost may be claimed and finished again.
    public mutating func promoted(site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence) {
        claims.removeAll()
        versions.removeAll()
        let stored = evidence.rows.comparisons.runs
        finished = finished.filter { stored[$0]?.state.isFinal == true }
    }

    /// Judges claims and steps.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        switch news {
        case .planned(let run):
            findings.require(!finished.contains(run.id), at, nil, "\(run.id) was finished, and is planned again")
        case .claimed(let run, _, let token):
            if let known = claims[run.lane] {
                findings.require(
                    known.token < token, at, nil, "the lane of \(run.provider) was claimed under an old token")
                findings.require(
                    known.run == run.id || finished.contains(known.run), at, nil,
                    "the lane of \(run.provider) was claimed while another run was under way")
            }
            findings.require(!finished.contains(run.id), at, nil, "\(run.id) was finished, and claimed again")
            claims[run.lane] = Claim(run: run.id, token: token)
        case .recorded(let step, let before, _, let token):
            let run = step.run
            findings.require(!finished.contains(run.id), at, nil, "\(run.id) was finished, and went on")
            if let claim = claims[run.lane] {
                findings.require(
                    claim.run == run.id && claim.token == token, at, nil,
                    "\(run.id) went on under a claim that was not the newest")
            }
            findings.require(
                before.version == run.version && (versions[run.id] ?? run.version) == run.version, at, nil,
                "\(run.id) was written from version \(run.version), and was of \(before.version)")
            versions[run.id] = run.version + 1
            if run.state.isFinal { finished.insert(run.id) }
        case .ordered: break
        }
    }
}
