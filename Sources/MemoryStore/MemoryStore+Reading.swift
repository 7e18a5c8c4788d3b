public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Reads a payment.
    public func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? {
        try perform(.payment) { model.payment(id) }
    }

    /// Reads payments, newest first by (created_at, id), 1 to 200 at a time.
    public func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
        try perform(.payments) { model.payments(query) }
    }

    /// Reads a payment's audit trail as it is stored, oldest first, after a sequence number.
    public func auditTrail(
        of id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(StoreFailure) -> [AuditEntry] {
        try perform(.auditTrail) { model.auditTrail(of: id, after: sequence, limit: limit) }
    }

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    public func payment(
        at provider: ProviderName, effect key: EffectKey
    ) async throws(StoreFailure) -> PaymentID? {
        try perform(.paymentOfEffect) { model.payment(at: provider, effect: key) }
    }

    /// Counts for metrics and the console.
    public func statistics() async throws(StoreFailure) -> StoreStatistics {
        try perform(.statistics) { model.statistics(at: moment()) }
    }

    /// Seals the heads of all trails that grew since the last seal; `nil` if none did.
    public func seal() async throws(StoreFailure) -> Seal? {
        try perform(.seal) { model.seal(at: moment()) }
    }

    /// Checks the seals' chain, every sealed head and every trail; returns what is wrong.
    public func verifySeals() async throws(StoreFailure) -> [SealBreak] {
        try perform(.verifySeals) { model.verifySeals() }
    }
}
