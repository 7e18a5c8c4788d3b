public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Claims payments that are due and not leased, the longest overdue first.
    public func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        try perform(.claimDue) { model.claimDue(request, at: moment()) }
    }

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due.
    public func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] {
        try perform(.claimWaiting) { model.claimWaiting(request, at: moment()) }
    }

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    public func claim(
        _ id: PaymentID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedPayment? {
        try perform(.claim) { model.claim(id, holder: holder, leaseFor: leaseFor, at: moment()) }
    }

    /// Prolongs leases from now; returns those that are still held.
    public func renew(
        _ leases: [PaymentID: LeaseToken], leaseFor: Span
    ) async throws(StoreFailure) -> Set<PaymentID> {
        try perform(.renew) {
            let now = moment()
            var held: Set<PaymentID> = []
            for (id, token) in leases where model.renew(id, token, leaseFor: leaseFor, at: now) { held.insert(id) }
            return held
        }
    }

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    public func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {
        try perform(.release) { model.release(id, token) }
    }

    /// When the next payment can be claimed as due; for a leased one not before its lease ends.
    public func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? {
        try perform(.nextDue) { model.nextDue(in: scope) }
    }
}
