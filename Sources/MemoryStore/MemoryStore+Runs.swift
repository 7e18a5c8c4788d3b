public import PaymentCore
public import Reconciler

/// What comparisons keep.
struct Comparisons {
    /// To which run a lane belongs, and the lease on it.
    struct Lane {
        var run: ComparisonRunID
        var token: LeaseToken
        var lease: MemoryStore.Lease?
    }

    /// Where a transaction is remembered.
    struct Place: Hashable {
        var provider: ProviderName
        var key: EffectKey
    }

    /// Where a finding is kept.
    struct FindingPlace: Hashable {
        var run: ComparisonRunID
        var discrepancy: DiscrepancyID
    }

    var runs: [ComparisonRunID: ComparisonRun] = [:]
    var lanes: [String: Lane] = [:]
    var rows: [Place: ComparedPosition] = [:]
    var discrepancies: [DiscrepancyID: Discrepancy] = [:]
    var findings: [FindingPlace: RunFinding] = [:]
    var standing: [ProviderName: NetSums] = [:]
}

extension MemoryStore {
    /// Plans a run: stores it if its identifier is new; returns what is stored.
    public func begin(_ run: ComparisonRun) async throws(StoreFailure) -> ComparisonRun {
        try perform(.beginRun) {
            if let stored = comparisons.runs[run.id] { return stored }
            let first = run.stored(version: 1)
            comparisons.runs[run.id] = first
            return first
        }
    }

    /// Claims a run and its lane; `nil` if it cannot be had.
    public func claimRun(
        _ id: ComparisonRunID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedRun? {
        try perform(.claimRun) {
            let now = moment()
            guard let run = comparisons.runs[id], !run.state.isFinal else { return nil }
            let lane = comparisons.lanes[run.lane]
            if let lane, lane.run != id, let other = comparisons.runs[lane.run], !other.state.isFinal { return nil }
            if let running = lane?.lease, running.until > now, running.holder != holder { return nil }
            let token = LeaseToken((lane?.token.number ?? 0) + 1)
            let until = now + leaseFor
            comparisons.lanes[run.lane] = Comparisons.Lane(
                run: id, token: token, lease: Lease(holder: holder, until: until))
            return ClaimedRun(run: run, token: token, until: until)
        }
    }

    /// Prolongs the lease from now, if it is still held under the token.
    public func renewRun(
        _ id: ComparisonRunID, token: LeaseToken, leaseFor: Span
    ) async throws(StoreFailure) -> Bool {
        try perform(.renewRun) {
            guard let run = comparisons.runs[id], holds(run, token) else { return false }
            comparisons.lanes[run.lane]?.lease?.until = moment() + leaseFor
            return true
        }
    }

    /// Ends the lease and leaves the lane with the run.
    public func releaseRun(_ id: ComparisonRunID, token: LeaseToken) async throws(StoreFailure) {
        try perform(.releaseRun) {
            guard let run = comparisons.runs[id], holds(run, token) else { return }
            comparisons.lanes[run.lane]?.lease = nil
        }
    }

    /// Gives up a run that is not final and frees its lane.
    public func abandonRun(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.abandonRun) {
            guard var run = comparisons.runs[id] else { return nil }
            guard !run.state.isFinal else { return run }
            run.abandon(at: moment())
            let given = run.stored(version: run.version + 1)
            comparisons.runs[id] = given
            if comparisons.lanes[run.lane]?.run == id { comparisons.lanes[run.lane]?.lease = nil }
            return given
        }
    }

    /// Reads a run.
    public func run(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.run) { comparisons.runs[id] }
    }

    /// Reads runs, newest first by (created_at, id), 1 to 200 at a time.
    public func runs(_ query: RunQuery) async throws(StoreFailure) -> CursorPage<ComparisonRun, RunCursor> {
        try perform(.runs) {
            let limit = min(max(query.limit, 1), 200)
            let found = comparisons.runs.values.filter { run in
                query.wants(run) && query.after.map { (run.createdAt, run.id) < ($0.createdAt, $0.id) } ?? true
            }.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            let items = Array(found.prefix(limit))
            let last = found.count > limit ? items.last : nil
            return CursorPage(items: items, next: last.map { RunCursor(createdAt: $0.createdAt, id: $0.id) })
        }
    }

    /// The head of a provider's chain.
    public func chainHead(of provider: ProviderName) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.chainHead) {
            comparisons.runs.values.filter { $0.provider == provider && $0.kind == .scheduled && !$0.isDry }
                .max { ($0.window.to, $0.attempt) < ($1.window.to, $1.attempt) }
        }
    }

    /// What a run found, in order of the discrepancies' identifiers.
    public func findings(
        of run: ComparisonRunID, after: DiscrepancyID?, limit: Int
    ) async throws(StoreFailure) -> [RunFinding] {
        try perform(.findings) {
            let found = comparisons.findings.values.filter { finding in
                finding.run == run && after.map { finding.discrepancy > $0 } ?? true
            }
            return Array(found.sorted { $0.discrepancy < $1.discrepancy }.prefix(max(0, limit)))
        }
    }

    /// Whether the lease on a run's lane is held under a token.
    func holds(_ run: ComparisonRun, _ token: LeaseToken) -> Bool {
        guard let lane = comparisons.lanes[run.lane] else { return false }
        return lane.run == run.id && lane.token == token && lane.lease != nil
    }
}
