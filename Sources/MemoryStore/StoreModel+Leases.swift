public import PaymentCore
public import Reconciler

extension StoreModel {
    /// Claims payments that are due and not leased, the longest overdue first. Of those that are due since the same
    /// moment, the one with the first place comes first.
    ///
    /// - Parameter oldest: What is due for longer is overlooked; only sabotage says so.
    public mutating func claimDue(
        _ request: ClaimRequest, at now: Timestamp, overlookingBefore oldest: Timestamp? = nil
    ) -> [ClaimedPayment] {
        var due: [(at: Timestamp, rowIndex: Int)] = []
        let scope = request.scope
        for rowIndex in rows.indices {
            guard let at = claimable(rowIndex, at: now, in: scope) else { continue }
            if let oldest, at < oldest { continue }
            due.append((at, rowIndex))
        }
        guard !due.isEmpty else { return [] }
        due.sort { ($0.at, $0.rowIndex) < ($1.at, $1.rowIndex) }
        var taken: [ProviderName: Int] = [:]
        var claimed: [ClaimedPayment] = []
        for (_, rowIndex) in due where claimed.count < request.limit {
            if let provider = rows[rowIndex]?.payment.dueProvider, let limit = request.limitPerProvider[provider] {
                guard taken[provider, default: 0] < limit else { continue }
                taken[provider, default: 0] += 1
            }
            if let lease = lease(rowIndex, to: request.holder, until: now + request.leaseFor) { claimed.append(lease) }
        }
        return claimed
    }

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due.
    public mutating func claimWaiting(_ request: WaitingRequest, at now: Timestamp) -> [ClaimedPayment] {
        var waiting: [(at: Timestamp, id: PaymentID, rowIndex: Int)] = []
        for rowIndex in rows.indices {
            guard let row = rows[rowIndex], let dueAt = row.payment.dueAt, dueAt > now, row.lease == nil,
                row.payment.dueProvider == request.provider
            else { continue }
            if let after = request.after, (dueAt, ids[rowIndex]) <= (after.dueAt, after.id) { continue }
            waiting.append((dueAt, ids[rowIndex], rowIndex))
        }
        waiting.sort { ($0.at, $0.id) < ($1.at, $1.id) }
        return waiting.prefix(max(0, request.limit)).compactMap {
            lease($0.rowIndex, to: request.holder, until: now + request.leaseFor)
        }
    }

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    public mutating func claim(
        _ id: PaymentID, holder: String, leaseFor: Span, at now: Timestamp
    ) -> ClaimedPayment? {
        guard let rowIndex = rowIndices[id], let row = rows[rowIndex] else { return nil }
        if let running = row.lease, running.until > now, running.holder != holder { return nil }
        return lease(rowIndex, to: holder, until: now + leaseFor)
    }

    private mutating func lease(_ rowIndex: Int, to holder: String, until: Timestamp) -> ClaimedPayment? {
        guard let row = rows[rowIndex] else { return nil }
        let token = LeaseToken(row.token.number + 1)
        rows[rowIndex]?.token = token
        rows[rowIndex]?.lease = Lease(holder: holder, until: until)
        return ClaimedPayment(payment: row.payment, token: token, until: until)
    }

    /// Prolongs a lease from now; `false` if it is not held any more.
    public mutating func renew(
        _ id: PaymentID, _ token: LeaseToken, leaseFor: Span, at now: Timestamp
    ) -> Bool {
        guard let rowIndex = rowIndices[id], let row = rows[rowIndex], row.token == token, row.lease != nil else {
            return false
        }
        rows[rowIndex]?.lease?.until = now + leaseFor
        return true
    }

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    public mutating func release(_ id: PaymentID, _ token: LeaseToken) {
        guard let rowIndex = rowIndices[id], rows[rowIndex]?.token == token else { return }
        rows[rowIndex]?.lease = nil
    }

    /// Ends every lease on a payment.
    public mutating func endLeases() {
        for rowIndex in rows.indices { rows[rowIndex]?.lease = nil }
    }

    /// When the next payment can be claimed as due; for a leased one not before its lease ends.
    public func nextDue(in scope: DueScope) -> Timestamp? {
        var next: Timestamp?
        for row in rows {
            guard let row, let dueAt = row.payment.dueAt else { continue }
            var at = dueAt + scope.wait(at: row.payment.dueProvider)
            if let lease = row.lease { at = max(at, lease.until) }
            next = min(next ?? at, at)
        }
        return next
    }

    /// How many payments are due and not leased.
    func dueCount(at now: Timestamp) -> Int { rows.indices.count { claimable($0, at: now, in: .everywhere) != nil } }

    /// How many payments are leased to somebody whose lease runs.
    public func leasedCount(at now: Timestamp) -> Int { rows.count { $0?.isLeased(at: now) ?? false } }

    /// Since when a payment is due, if it can be claimed as due now.
    private func claimable(_ rowIndex: Int, at now: Timestamp, in scope: DueScope) -> Timestamp? {
        // An optional chain would copy the whole payment, for every row at every look of a sweep.
        guard let row = rows[rowIndex], let dueAt = row.payment.dueAt, dueAt <= now, !row.isLeased(at: now),
            dueAt + scope.wait(at: row.payment.dueProvider) <= now
        else { return nil }
        return dueAt
    }
}
