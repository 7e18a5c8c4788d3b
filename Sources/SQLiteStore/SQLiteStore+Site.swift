internal import GRDB
public import PaymentCore
public import Reconciler

/// One machine is one site: the role never changes.
extension SQLiteStore: SiteStore {
    private var sole: SoleSite { SoleSite(site, since: foundedAt) }

    /// The row of the only site.
    public func siteReading() async throws(StoreFailure) -> SiteReading {
        var reading = sole.reading
        reading.now = clock.now()
        reading.store = try await read("site") { db in
            try String.fetchOne(db, sql: "SELECT identity FROM store_identity").flatMap { StoreID(text: $0) }
        }
        return reading
    }

    /// Refused: no lease is needed.
    public func renewSite(_ renewal: SiteRenewal) async throws(StoreFailure) -> SiteReading? {
        throw sole.refusal("renew site")
    }

    /// Does nothing: no copy of a file takes the place of another site.
    public func noteAlive(epoch: Int64) async throws(StoreFailure) {}

    /// Refused.
    public func beginTerm(
        _ term: SiteTerm, after epoch: Int64, loss: RecoveryWindow.Loss?
    ) async throws(StoreFailure) -> SiteRow? {
        throw sole.refusal("begin term")
    }

    /// Refused.
    public func changeSite(_ change: SiteChange, epoch: Int64) async throws(StoreFailure) -> SiteRow? {
        throw sole.refusal("change site")
    }

    /// The only term.
    public func siteTerms(limit: Int) async throws(StoreFailure) -> [SiteTerm] {
        Array([sole.reading.row.term].compactMap { $0 }.prefix(max(0, limit)))
    }

    /// How many payments are leased to somebody whose lease runs.
    public func paymentsInWork() async throws(StoreFailure) -> Int {
        let now = clock.now()
        return try await read("payments in work") { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM payments WHERE lease_until > ?", arguments: [now.milliseconds]) ?? 0
        }
    }

    /// Refused.
    public func promoteDatabase(within limit: Span) async throws(StoreFailure) {
        throw sole.refusal("promote")
    }

    /// Does nothing: there is one term.
    public func write(under epoch: Int64?) {}

    /// Never tells anything.
    public func endedTerms() -> AsyncStream<Int64> { AsyncStream { $0.finish() } }
}
