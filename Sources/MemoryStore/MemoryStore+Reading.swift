public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Reads a payment.
    public func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? {
        try perform(.payment) { stored[id]?.payment }
    }

    /// Reads payments, newest first by (created_at, id), 1 to 200 at a time.
    public func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
        try perform(.payments) {
            let limit = min(max(query.limit, 1), 200)
            let found = stored.values.map(\.payment).filter { query.wants($0) }
                .sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            let items = Array(found.prefix(limit))
            let next = found.count > limit ? items.last.map { PageCursor(createdAt: $0.createdAt, id: $0.id) } : nil
            return Page(items: items, next: next)
        }
    }

    /// Reads a payment's audit trail as it is stored, oldest first, after a sequence number.
    public func auditTrail(
        of id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(StoreFailure) -> [AuditEntry] {
        try perform(.auditTrail) {
            Array((trails[id] ?? []).filter { $0.sequence > sequence }.prefix(max(0, limit)))
        }
    }

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    public func payment(
        at provider: ProviderName, effect key: EffectKey
    ) async throws(StoreFailure) -> PaymentID? {
        try perform(.paymentOfEffect) {
            stored.values.first { $0.payment.has(key, at: provider) }?.payment.id
        }
    }

    /// Counts for metrics and the console.
    public func statistics() async throws(StoreFailure) -> StoreStatistics {
        try perform(.statistics) {
            let payments = stored.values.map(\.payment)
            let unsettled = payments.filter { !$0.state.isFinal && $0.state != .authorized }
            return StoreStatistics(
                paymentsByState: Dictionary(grouping: payments, by: \.state).mapValues(\.count),
                due: due(at: moment()).count, oldestUnsettled: unsettled.map(\.createdAt).min(),
                waiting: payments.flatMap(\.waiting).reduce(into: [:]) { $0[$1, default: 0] += 1 })
        }
    }
}

extension PaymentQuery {
    fileprivate func wants(_ payment: Payment) -> Bool {
        if let caller, payment.caller != caller { return false }
        if let reference, payment.reference != reference { return false }
        if let state, payment.state != state { return false }
        if let waitsFor, !payment.waiting.contains(where: { $0.waitsFor == waitsFor }) { return false }
        if let provider, !payment.legs.contains(where: { $0.provider == provider }) { return false }
        if let createdAfter, payment.createdAt <= createdAfter { return false }
        if let after, (payment.createdAt, payment.id) >= (after.createdAt, after.id) { return false }
        return true
    }
}
