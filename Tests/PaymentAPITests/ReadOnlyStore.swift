import PaymentCore
import Reconciler

/// A store that only reads what it was given.
struct ReadOnlyStore: PaymentStore {
    let payments: [Payment]
    private static let refusal = StoreFailure(.other, operation: "write", cause: "read only")

    func now() async throws(StoreFailure) -> Timestamp { SamplePayment.now }
    func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult { throw Self.refusal }
    func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? { payments.first { $0.id == id } }
    func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
        Page(items: payments.filter { query.caller == nil || $0.caller == query.caller }, next: nil)
    }
    func auditTrail(
        of id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(StoreFailure) -> [AuditEntry] { [] }
    func payment(
        at provider: ProviderName, effect key: EffectKey
    ) async throws(StoreFailure) -> PaymentID? { payments.first { $0.has(key, at: provider) }?.id }
    func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment] { [] }
    func claim(
        _ id: PaymentID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedPayment? { nil }
    func renew(
        _ leases: [PaymentID: LeaseToken], leaseFor: Span
    ) async throws(StoreFailure) -> Set<PaymentID> { [] }
    func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment] { [] }
    func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure) {}
    func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp? { nil }
    func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord? { nil }
    func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer { throw Self.refusal }
    func seal() async throws(StoreFailure) -> Seal? { nil }
    func verifySeals() async throws(StoreFailure) -> [SealBreak] { [] }
    func statistics() async throws(StoreFailure) -> StoreStatistics {
        StoreStatistics(paymentsByState: [:], due: 0, oldestUnsettled: nil, waiting: [:], oldestUnsealed: nil)
    }
    func probe() async throws(StoreFailure) {}
}
