public import PaymentCore

/// Carries out what a comparison's policy wants, through the machine by which every payment is settled.
public protocol DifferenceSettlement: Sendable {
    /// Hands an order on. It may be given more than once, and is carried out once.
    ///
    /// - Throws: ``StoreFailure`` if it could not be handed on; it is given again then.
    func carryOut(_ order: SettlementOrder) async throws(StoreFailure)
}

extension IdempotencyRecord {
    /// The record that has a transaction undone once.
    public init(undoing transaction: UnbookedTransaction, by payment: Payment, at now: Timestamp) {
        self.init(
            caller: payment.caller, key: payment.key, operation: .create, payment: payment.id,
            fingerprint: Digest(of: ["reconciled.undo.1", transaction.provider.name, transaction.key.text]),
            createdAt: now)
    }
}
