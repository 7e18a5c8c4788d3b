public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Plans a run: stores it if its identifier is new; returns what is stored.
    public func begin(_ run: ComparisonRun) async throws(StoreFailure) -> ComparisonRun {
        try perform(.beginRun) { () throws(StoreFailure) in
            if let change = model.comparisons.planning(run) { try take(change) }
            return model.comparisons.runs[run.id] ?? run
        }
    }

    /// Claims a run and its lane; `nil` if it cannot be had.
    public func claimRun(
        _ id: ComparisonRunID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedRun? {
        try perform(.claimRun) { () throws(StoreFailure) in
            let claim = model.comparisons.claiming(id, holder: holder, leaseFor: leaseFor, at: moment())
            if let claim { try take(claim.change) }
            return claim?.claimed
        }
    }

    /// Prolongs the lease from now, if it is still held under the token.
    public func renewRun(
        _ id: ComparisonRunID, token: LeaseToken, leaseFor: Span
    ) async throws(StoreFailure) -> Bool {
        try perform(.renewRun) { () throws(StoreFailure) in
            let change = model.comparisons.renewing(id, token, leaseFor: leaseFor, at: moment())
            if let change { try take(change) }
            return change != nil
        }
    }

    /// Ends the lease and leaves the lane with the run.
    public func releaseRun(_ id: ComparisonRunID, token: LeaseToken) async throws(StoreFailure) {
        try perform(.releaseRun) { () throws(StoreFailure) in
            if let change = model.comparisons.releasing(id, token) { try take(change) }
        }
    }

    /// Gives up a run that is not final and frees its lane.
    public func abandonRun(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.abandonRun) { () throws(StoreFailure) in
            if let change = model.comparisons.abandoning(id, at: moment()) { try take(change) }
            return model.comparisons.runs[id]
        }
    }

    /// Reads a run.
    public func run(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.run) { model.comparisons.runs[id] }
    }

    /// Reads runs, newest first by (created_at, id), 1 to 200 at a time.
    public func runs(_ query: RunQuery) async throws(StoreFailure) -> CursorPage<ComparisonRun, RunCursor> {
        try perform(.runs) { model.comparisons.runs(query) }
    }

    /// The head of a provider's chain.
    public func chainHead(of provider: ProviderName) async throws(StoreFailure) -> ComparisonRun? {
        try perform(.chainHead) { model.comparisons.head(of: provider) }
    }

    /// What a run found, in order of the discrepancies' identifiers.
    public func findings(
        of run: ComparisonRunID, after: DiscrepancyID?, limit: Int
    ) async throws(StoreFailure) -> [RunFinding] {
        try perform(.findings) { model.comparisons.findings(of: run, after: after, limit: limit) }
    }
}
