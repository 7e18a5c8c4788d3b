public import PaymentCore

/// Carries out what a comparison's policy wants, through the machine by which every payment is settled.
public protocol DifferenceSettlement: Sendable {
    /// Hands an order on. It may be given more than once, and is carried out once.
    ///
    /// - Throws: ``StoreFailure`` if it could not be handed on; it is given again then.
    func carryOut(_ order: SettlementOrder) async throws(StoreFailure)
}

extension SettlementEngine: DifferenceSettlement {
    /// Hands an order to the payment that it is about, or makes one that undoes what no payment knows.
    public func carryOut(_ order: SettlementOrder) async throws(StoreFailure) {
        switch order.action {
        case .settle, .quarantine: try await tell(order)
        case .undo: try await undo(order)
        case .tell: break
        }
    }

    private func tell(_ order: SettlementOrder) async throws(StoreFailure) {
        guard let ours = order.finding.ours else { return }
        // Without a row there is nothing to settle: it was pruned since the run looked.
        guard try await store.payment(ours.payment) != nil else { return }
        let difference = ComparedDifference(
            leg: ours.leg, run: order.run, finding: order.finding.finding, row: order.finding.row,
            action: order.action)
        try await hand(.compared(difference), to: ours.payment)
    }

    private func undo(_ order: SettlementOrder) async throws(StoreFailure) {
        // The policy does not order what cannot be undone.
        guard let transaction = UnbookedTransaction(order.finding, run: order.run) else { return }
        let created = PaymentMachine.undoing(transaction, context())
        let payment = created.machine.payment
        let record = IdempotencyRecord(undoing: transaction, by: payment, at: context().now)
        switch try await insert(created, record, operation: "undo") {
        case .inserted: break
        case .keySpent(let known) where known.isPruned:
            alert(
                Alert(
                    payment: known.payment, leg: nil, provider: transaction.provider,
                    message: "what it undid stands at its provider again, and its own row is pruned"))
        // It is undone already; as a duplicate, where the payment that it names was in the books then.
        case .keySpent(let known): try await hand(.unbooked(transaction), to: known.payment)
        // Another transaction of the same payment is undone, or its caller came again.
        case .placeTaken: try await hand(.unbooked(transaction), to: payment.id)
        }
    }

    private func hand(_ event: PaymentEvent, to id: PaymentID) async throws(StoreFailure) {
        if try await !take(id, [event], []) { try await write(id, [event], nil) }
    }
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
