public import PaymentCore
public import Reconciler

/// Payments in memory, for tests. It keeps nothing beyond the life of the object, and behaves as every other store
/// does.
///
/// It adds a clock, the site's row and scripted faults to a ``StoreModel``, which has the rules.
///
/// Deterministic: the same calls in the same order give the same results, whatever the seeds of hashing.
public actor MemoryStore: PaymentStore {
    private let clock: @Sendable () -> Timestamp
    private var latest = Timestamp(milliseconds: .min)
    private var faults: [ScriptedFault] = []
    var model = StoreModel()
    /// How many changes were made, as a place in a log; and how many of them a standby has.
    var written = LogPosition(offset: 0)
    var standby: LogPosition?
    nonisolated let heldTerm = HeldTerm()
    var siteRow = SiteRow(term: nil)
    var siteTerms: [SiteTerm] = []

    /// An empty store that judges leases and due times by `clock`. If the clock goes backward, the store's stands
    /// still.
    public init(clock: @escaping @Sendable () -> Timestamp) {
        self.clock = clock
        let first = SiteTerm(
            epoch: 1, site: .main, since: clock(), beginning: .first, by: "reconciled", reason: "the store is new")
        siteRow = SiteRow(term: first, aliveAt: first.since)
        siteTerms = [first]
    }

    /// Lets the next call of an operation fail; calls add up, each is used once, in order.
    ///
    /// - Parameter afterDoing: whether the call does its work first, as when a connection breaks after the commit.
    public func failNext(_ code: StoreFailure.Code, on operation: StoreOperation, afterDoing: Bool = false) {
        faults.append(ScriptedFault(code: code, operation: operation, afterDoing: afterDoing))
    }

    /// Faults that were not used yet.
    public var unusedFaults: Int { faults.count }

    /// Runs one operation, with the fault that is scripted for it.
    func perform<Value>(
        _ operation: StoreOperation, _ body: () throws(StoreFailure) -> Value
    ) throws(StoreFailure) -> Value {
        if operation.isWrite { try requireTerm(operation) }
        guard let index = faults.firstIndex(where: { $0.operation == operation }) else { return try body() }
        let fault = faults.remove(at: index)
        if fault.afterDoing { _ = try body() }
        throw StoreFailure(fault.code, operation: operation.rawValue, cause: "scripted")
    }

    /// The clock's time, or the latest that was told if that is later.
    func moment() -> Timestamp {
        latest = max(latest, clock())
        return latest
    }

    /// The clock's time, which never goes backward here.
    public func now() async throws(StoreFailure) -> Timestamp {
        try perform(.now) { moment() }
    }

    /// Does nothing, unless a fault is scripted.
    public func probe() async throws(StoreFailure) {
        try perform(.probe) {}
    }
}
