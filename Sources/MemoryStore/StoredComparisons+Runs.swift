public import PaymentCore
public import Reconciler

extension StoredComparisons {
    /// The change that plans a run; `nil` if its identifier is known.
    public func planning(_ run: ComparisonRun) -> ComparisonChange? {
        runs[run.id] == nil ? .begun(run.stored(version: 1)) : nil
    }

    /// A claim of a run, and the change that makes it durable; `nil` if the run cannot be had.
    public func claiming(
        _ id: ComparisonRunID, holder: String, leaseFor: Span, at now: Timestamp,
        overlooking overlooked: StoreLaxness = []
    ) -> (claimed: ClaimedRun, change: ComparisonChange)? {
        guard let run = runs[id], !run.state.isFinal else { return nil }
        let lane = lanes[run.lane]
        if let lane, !overlooked.contains(.lanes) {
            if lane.run != id, let other = runs[lane.run], !other.state.isFinal { return nil }
            if let running = lane.lease, running.until > now, running.holder != holder { return nil }
        }
        let token = LeaseToken((lane?.token.number ?? 0) + 1)
        let until = now + leaseFor
        let taken = Lane(run: id, token: token, lease: StoreModel.Lease(holder: holder, until: until))
        return (ClaimedRun(run: run, token: token, until: until), .lane(run.lane, taken))
    }

    /// The change that prolongs the lease from now; `nil` if it is not held any more under the token.
    public func renewing(
        _ id: ComparisonRunID, _ token: LeaseToken, leaseFor: Span, at now: Timestamp
    ) -> ComparisonChange? {
        guard let run = runs[id], var lane = lane(of: run, token) else { return nil }
        lane.lease?.until = now + leaseFor
        return .lane(run.lane, lane)
    }

    /// The change that ends the lease and leaves the lane with the run; `nil` if it is not held any more.
    public func releasing(_ id: ComparisonRunID, _ token: LeaseToken) -> ComparisonChange? {
        guard let run = runs[id], var lane = lane(of: run, token) else { return nil }
        lane.lease = nil
        return .lane(run.lane, lane)
    }

    /// The change that gives up a run; `nil` if it does not exist or is final.
    func abandoning(_ id: ComparisonRunID, at now: Timestamp) -> ComparisonChange? {
        guard var run = runs[id], !run.state.isFinal else { return nil }
        run.abandon(at: now)
        return .abandoned(run.stored(version: run.version + 1))
    }

    /// Whether a step may be made, and under which version its run is then.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the step contradicts itself.
    public func judge(
        _ step: ComparisonStep, _ token: LeaseToken, overlooking overlooked: StoreLaxness = []
    ) throws(StoreFailure) -> StepResult {
        try step.check()
        guard let stored = runs[step.run.id] else { return .leaseLost }
        if !overlooked.contains(.lanes) {
            guard !stored.state.isFinal, lane(of: stored, token) != nil else { return .leaseLost }
            guard stored.version == step.run.version else { return .versionConflict }
            guard step.discrepancies.allSatisfy({ (discrepancies[$0.id]?.version ?? 0) == $0.version }) else {
                return .discrepancyConflict
            }
        }
        return .recorded(version: stored.version + 1)
    }

    /// The lane of a run, if its lease is held under a token.
    private func lane(of run: ComparisonRun, _ token: LeaseToken) -> Lane? {
        guard let lane = lanes[run.lane], lane.run == run.id, lane.token == token, lane.lease != nil else { return nil }
        return lane
    }

    /// Reads runs, newest first by (created_at, id), 1 to 200 at a time.
    public func runs(_ query: RunQuery) -> CursorPage<ComparisonRun, RunCursor> {
        let limit = min(max(query.limit, 1), 200)
        let isUnfinished = query.state.map { !$0.isFinal } ?? false
        let candidates =
            query.kind == .asked
            ? (isUnfinished ? unfinishedAsked : asked).compactMap { runs[$0] } : Array(runs.values)
        let found = candidates.filter { run in
            query.wants(run) && query.after.map { (run.createdAt, run.id) < ($0.createdAt, $0.id) } ?? true
        }.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { RunCursor(createdAt: $0.createdAt, id: $0.id) })
    }

    /// What a run found, in order of the discrepancies' identifiers.
    func findings(of run: ComparisonRunID, after: DiscrepancyID?, limit: Int) -> [RunFinding] {
        let found = findings.values.filter { finding in
            finding.run == run && after.map { finding.discrepancy > $0 } ?? true
        }
        return Array(found.sorted { $0.discrepancy < $1.discrepancy }.prefix(max(0, limit)))
    }
}
