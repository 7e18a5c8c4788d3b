public import PaymentCore
public import Reconciler

extension StoreModel {
    /// Reads payments, newest first by (created_at, id), 1 to 200 at a time.
    public func payments(_ query: PaymentQuery) -> Page<Payment> {
        let limit = min(max(query.limit, 1), 200)
        var found: [(at: Timestamp, id: PaymentID, rowIndex: Int)] = []
        let keyed = query.key.map { key in Set(records.values.filter { $0.key == key }.map(\.payment)) }
        for rowIndex in rows.indices {
            guard let row = rows[rowIndex], query.wants(row.payment, keyed: keyed ?? []) else { continue }
            found.append((row.payment.createdAt, ids[rowIndex], rowIndex))
        }
        found.sort { ($0.at, $0.id) > ($1.at, $1.id) }
        let items = found.prefix(limit).compactMap { rows[$0.rowIndex]?.payment }
        let next = found.count > limit ? items.last.map { PageCursor(createdAt: $0.createdAt, id: $0.id) } : nil
        return Page(items: items, next: next)
    }

    /// Every payment, in the order of their places.
    var everyPayment: [Payment] { rows.compactMap { $0?.payment } }

    /// Reads a payment's audit trail as it is stored, oldest first, after a sequence number.
    func auditTrail(of id: PaymentID, after sequence: Int64, limit: Int) -> [AuditEntry] {
        Array((row(id)?.trail ?? []).filter { $0.sequence > sequence }.prefix(max(0, limit)))
    }

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    func payment(at provider: ProviderName, effect key: EffectKey) -> PaymentID? {
        everyPayment.first { $0.has(key, at: provider) }?.id
    }

    /// Counts for metrics and the console.
    func statistics(at now: Timestamp) -> StoreStatistics {
        let payments = everyPayment
        let unsettled = payments.filter(\.state.isUnsettled)
        return StoreStatistics(
            paymentsByState: Dictionary(grouping: payments, by: \.state).mapValues(\.count),
            due: dueCount(at: now), oldestUnsettled: unsettled.map(\.createdAt).min(),
            waiting: payments.flatMap(\.waiting).reduce(into: [:]) { $0[$1, default: 0] += 1 },
            oldestUnsealed: rows.compactMap { $0?.unsealed.first?.at }.min())
    }
}

extension PaymentQuery {
    /// - Parameter keyed: The payments of requests under ``key``.
    fileprivate func wants(_ payment: Payment, keyed: Set<PaymentID>) -> Bool {
        if let caller, payment.caller != caller { return false }
        if let reference, payment.reference != reference { return false }
        if let key, !keyed.contains(payment.id), !payment.hasEffect(under: key) { return false }
        if let state, payment.state != state { return false }
        if let waitsFor, !payment.waiting.contains(where: { $0.waitsFor == waitsFor }) { return false }
        if let provider, !payment.legs.contains(where: { $0.provider == provider }) { return false }
        if let createdAfter, payment.createdAt <= createdAfter { return false }
        if let after, (payment.createdAt, payment.id) >= (after.createdAt, after.id) { return false }
        return true
    }
}
