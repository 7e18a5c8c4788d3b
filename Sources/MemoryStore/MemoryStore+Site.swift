public import PaymentCore
public import Reconciler
internal import Synchronization

/// Under which term the store writes, and who hears that it ended.
final class HeldTerm: Sendable {
    private struct State {
        var epoch: Int64? = 1
        var listeners: [AsyncStream<Int64>.Continuation] = []
    }

    private let state = Mutex(State())

    var epoch: Int64? {
        get { state.withLock { $0.epoch } }
        set { state.withLock { $0.epoch = newValue } }
    }

    func ended(_ epoch: Int64) {
        let listeners = state.withLock { state in
            if state.epoch == epoch { state.epoch = nil }
            return state.listeners
        }
        for listener in listeners { listener.yield(epoch) }
    }

    func endings() -> AsyncStream<Int64> {
        let (stream, continuation) = AsyncStream.makeStream(of: Int64.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.listeners.append(continuation) }
        return stream
    }
}

extension MemoryStore: SiteStore {
    /// The site of a store in memory.
    static let site = SiteName.main
    /// Its identity: what is in memory is never beside another at one provider.
    static let identity = StoreID(text: "sto_" + String(repeating: "0", count: 32))

    /// Requires that the term is current under which the store writes.
    func requireTerm(_ operation: StoreOperation) throws(StoreFailure) {
        guard let epoch = heldTerm.epoch else {
            throw StoreFailure(.inactive, operation: operation.rawValue, cause: "site main is not active")
        }
        guard siteRow.epoch == epoch, siteRow.term?.site == MemoryStore.site, !siteRow.phase.isOver else {
            heldTerm.ended(epoch)
            throw StoreFailure(.inactive, operation: operation.rawValue, cause: "term \(epoch) is over")
        }
    }

    /// The row, and a database that nobody follows.
    public func siteReading() async throws(StoreFailure) -> SiteReading {
        try perform(.siteReading) {
            SiteReading(row: siteRow, now: moment(), database: SiteDatabase(), store: MemoryStore.identity)
        }
    }

    /// Prolongs the lease in the row. There is no standby that could confirm it.
    public func renewSite(_ renewal: SiteRenewal) async throws(StoreFailure) -> SiteReading? {
        try perform(.renewSite) { () throws(StoreFailure) in
            guard siteRow.epoch == renewal.epoch, !siteRow.phase.isOver else { return nil }
            guard renewal.proof != .standby else {
                throw StoreFailure(.unavailable, operation: "renew site", cause: "no standby is there")
            }
            let now = moment()
            siteRow = siteRow.renewed(for: renewal.lease, by: renewal.proof, seen: .none, at: now)
            return SiteReading(row: siteRow, now: now, database: SiteDatabase(), store: MemoryStore.identity)
        }
    }

    /// Writes down that the site acts although nobody follows.
    public func noteAlive(epoch: Int64) async throws(StoreFailure) {
        try perform(.noteAlive) {
            guard siteRow.epoch == epoch, !siteRow.phase.isOver else { return }
            siteRow.aliveAt = moment()
        }
    }

    /// Begins a term.
    public func beginTerm(
        _ term: SiteTerm, after epoch: Int64, loss: RecoveryWindow.Loss?
    ) async throws(StoreFailure) -> SiteRow? {
        try perform(.beginTerm) {
            guard siteRow.epoch == epoch, epoch < term.epoch else { return nil }
            var term = term
            term.since = moment()
            let newest = model.everyPayment.map(\.updatedAt).max()
            siteRow = siteRow.began(term, loss: loss, newest: newest)
            siteTerms.insert(term, at: 0)
            model.endLeases()
            if term.site == MemoryStore.site { heldTerm.epoch = term.epoch }
            return siteRow
        }
    }

    /// Changes the row of a term.
    public func changeSite(_ change: SiteChange, epoch: Int64) async throws(StoreFailure) -> SiteRow? {
        try perform(.changeSite) {
            guard siteRow.epoch == epoch, let row = siteRow.changed(by: change, at: LogPosition(offset: 0)) else {
                return nil
            }
            siteRow = row
            return row
        }
    }

    /// The terms, newest first.
    public func siteTerms(limit: Int) async throws(StoreFailure) -> [SiteTerm] {
        try perform(.siteTerms) { Array(siteTerms.prefix(max(0, limit))) }
    }

    /// How many payments are leased to somebody whose lease runs.
    public func paymentsInWork() async throws(StoreFailure) -> Int {
        try perform(.paymentsInWork) { model.leasedCount(at: moment()) }
    }

    /// Does nothing: it takes writes already.
    public func promoteDatabase(within limit: Span) async throws(StoreFailure) {}

    /// From now on, writes are made under this term; without one they are refused.
    public nonisolated func write(under epoch: Int64?) { heldTerm.epoch = epoch }

    /// Tells the number of each term under which a write was refused.
    public nonisolated func endedTerms() -> AsyncStream<Int64> { heldTerm.endings() }
}
