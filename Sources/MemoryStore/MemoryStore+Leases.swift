public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Claims payments that are due and not leased, the longest overdue first.
    public func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        try perform(.claimDue) {
            let now = moment()
            var taken: [ProviderName: Int] = [:]
            var claimed: [ClaimedPayment] = []
            for id in due(at: now, in: request.scope) where claimed.count < request.limit {
                guard let found = stored[id] else { continue }
                if let provider = found.payment.dueProvider, let limit = request.limitPerProvider[provider] {
                    guard taken[provider, default: 0] < limit else { continue }
                    taken[provider, default: 0] += 1
                }
                claimed.append(lease(found, to: request.holder, until: now + request.leaseFor))
            }
            return claimed
        }
    }

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due.
    public func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        try perform(.claimWaiting) {
            let now = moment()
            let waiting = stored.values.compactMap { found -> (dueAt: Timestamp, id: PaymentID)? in
                guard found.lease == nil, found.payment.dueProvider == request.provider,
                    let dueAt = found.payment.dueAt, dueAt > now
                else { return nil }
                if let after = request.after, (dueAt, found.payment.id) <= (after.dueAt, after.id) { return nil }
                return (dueAt, found.payment.id)
            }
            let chosen = waiting.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(max(0, request.limit))
            return chosen.compactMap { stored[$0.id] }.map {
                lease($0, to: request.holder, until: now + request.leaseFor)
            }
        }
    }

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    public func claim(
        _ id: PaymentID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedPayment? {
        try perform(.claim) {
            let now = moment()
            guard let found = stored[id] else { return nil }
            if let running = found.lease, running.until > now, running.holder != holder { return nil }
            return lease(found, to: holder, until: now + leaseFor)
        }
    }

    /// Prolongs leases from now; returns those that are still held.
    public func renew(
        _ leases: [PaymentID: LeaseToken], leaseFor: Span
    ) async throws(StoreFailure) -> Set<PaymentID> {
        try perform(.renew) {
            let until = moment() + leaseFor
            var held: Set<PaymentID> = []
            for (id, token) in leases {
                guard var found = stored[id], found.token == token, found.lease != nil else { continue }
                found.lease?.until = until
                stored[id] = found
                held.insert(id)
            }
            return held
        }
    }

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    public func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {
        try perform(.release) {
            guard let found = stored[id], found.token == token else { return }
            stored[id] = Stored(payment: found.payment, token: found.token, lease: nil)
        }
    }

    /// When the next payment can be claimed as due; for a leased one not before its lease ends.
    public func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? {
        try perform(.nextDue) {
            stored.values.compactMap { found in
                found.payment.dueAt.map { dueAt in
                    max(dueAt + scope.wait(at: found.payment.dueProvider), found.lease?.until ?? dueAt)
                }
            }.min()
        }
    }

    /// What is due and not leased, the longest overdue first.
    func due(at now: Timestamp, in scope: DueScope = .everywhere) -> [PaymentID] {
        let found = stored.values.compactMap { found -> (dueAt: Timestamp, id: PaymentID)? in
            guard let dueAt = found.payment.dueAt, dueAt + scope.wait(at: found.payment.dueProvider) <= now else {
                return nil
            }
            if let running = found.lease, running.until > now { return nil }
            return (dueAt, found.payment.id)
        }
        return found.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.map(\.id)
    }

    private func lease(_ found: Stored, to holder: String, until: Timestamp) -> ClaimedPayment {
        let token = LeaseToken(found.token.number + 1)
        stored[found.payment.id] = Stored(
            payment: found.payment, token: token, lease: Lease(holder: holder, until: until))
        return ClaimedPayment(payment: found.payment, token: token, until: until)
    }
}
