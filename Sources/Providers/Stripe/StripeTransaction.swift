internal import PaymentCore

/// All that Stripe shows under one key of ours: an intent and its charges, newest first.
struct StripeTransaction: Sendable, Hashable {
    let intent: StripeIntent
    /// The charge that took or holds something; else the newest one.
    let charge: StripeCharge?
    /// Refunds of the charge, all of them.
    var refunds: [StripeRefund]
    /// Disputes of the charge.
    var disputes: [StripeDispute] = []
    /// Whether two intents were charged under the key: a payment that was made twice.
    let isDouble: Bool

    /// From the charges that a list shows under a key; `nil` for none.
    init?(_ charges: [StripeCharge]) {
        let taken = charges.filter { $0.status != .failed }
        guard let charge = taken.first ?? charges.first, let intent = charge.intents.first else { return nil }
        self.intent = intent
        self.charge = charge
        refunds = charge.refunds ?? []
        isDouble = Set(taken.compactMap(\.intents.first?.id)).count > 1
    }

    /// From an intent that expands its newest charge.
    init(_ intent: StripeIntent) {
        self.intent = intent
        charge = intent.latestCharge
        refunds = intent.latestCharge?.refunds ?? []
        isDouble = false
    }
}

/// Turns what Stripe shows into the core's words.
struct StripeReading: Sendable {
    /// How keys of ours are spelled.
    let keyFormat: KeyFormat
    /// In how many steps the money is taken.
    let phases: ProviderContract.Phases

    /// The observation.
    ///
    /// `payment` is whose transaction it should be, `nil` where anything may be read, as in a listing; `began` is the
    /// moment before the request was sent.
    func observation(
        of transaction: StripeTransaction, key: EffectKey, payment: PaymentID?, began: Timestamp,
        source: Observation.Source
    ) -> Observation {
        var observation = Observation(
            status(of: transaction), began: began, source: source, key: key, reason: reason(of: transaction))
        let intent = transaction.intent
        if observation.status != .tombstoned {
            let amount = transaction.charge?.amount ?? intent.amount
            observation.amount = StripeAmounts.money(amount, intent.currency)
            if observation.amount == nil { observation.contradiction = "amount_unreadable" }
        }
        if intent.status == .requiresAction { observation.payerAction = PayerAction(url: intent.payerURL) }
        if observation.status == .authorized { observation.authorizedUntil = transaction.charge?.captureBefore }
        observation.captures = captures(of: transaction, &observation)
        let disputes = disputes(of: transaction, &observation)
        observation.refunds = refunds(of: transaction, &observation) + disputes.filter { $0.state == .lost }.map(taken)
        observation.disputes = disputes.isEmpty ? nil : Dispute.kept(disputes)
        if let payment, let named = intent.metadata[StripeMetadata.payment], named != payment.text {
            observation.contradiction = "another_payment"
        }
        if transaction.isDouble { observation.contradiction = "charged_twice" }
        return observation
    }

    /// docs.stripe.com/payments/paymentintents/lifecycle
    private func status(of transaction: StripeTransaction) -> Observation.Status {
        let isTaken = transaction.charge.map { $0.status == .succeeded } ?? false
        switch transaction.intent.status {
        case .canceled:
            guard isTaken else { return .tombstoned }
            return transaction.intent.cancellationReason == "automatic" ? .expired : .voided
        case .requiresCapture: return .authorized
        case .succeeded: return .captured
        case .processing, .requiresAction: return .pending
        case .requiresPaymentMethod: return .declined
        // Confirmed and not decided, or about to be tried again: nothing can be built on it.
        case .requiresConfirmation: return .pending
        }
    }

    private func reason(of transaction: StripeTransaction) -> String? {
        switch transaction.intent.status {
        case .requiresPaymentMethod: ShortCode.of(transaction.charge?.failureCode) ?? "declined"
        case .requiresAction: "requires_action"
        default: nil
        }
    }

    private func captures(
        of transaction: StripeTransaction, _ observation: inout Observation
    ) -> [Observation.Movement] {
        let intent = transaction.intent
        guard phases == .authorizeCapture, intent.status == .succeeded else { return [] }
        guard let amount = StripeAmounts.money(intent.amountReceived, intent.currency) else {
            observation.contradiction = "amount_unreadable"
            return []
        }
        // What somebody captured at the console bears no key of ours.
        let key = intent.metadata[StripeMetadata.capture] ?? transaction.charge?.id ?? intent.id
        return [Observation.Movement(key: ours(key), amount: amount, state: .succeeded)]
    }

    private func refunds(
        of transaction: StripeTransaction, _ observation: inout Observation
    ) -> [Observation.Movement] {
        guard transaction.intent.status == .succeeded else { return [] }
        var released = transaction.charge.map { $0.amount - $0.amountCaptured } ?? 0
        var movements: [Observation.Movement] = []
        for refund in transaction.refunds {
            let name = refund.metadata[StripeMetadata.key]
            // Stripe shows what a capture of a part gave free as a refund; nothing of it was ever taken.
            if name == nil, released > 0, refund.amount == released {
                released = 0
                continue
            }
            guard let amount = StripeAmounts.money(refund.amount, refund.currency) else {
                observation.contradiction = "amount_unreadable"
                continue
            }
            movements.append(
                Observation.Movement(
                    key: ours(name ?? refund.id), amount: amount, state: Self.state(refund.status),
                    reason: ShortCode.of(refund.failureReason)))
        }
        return movements
    }

    func ours(_ text: String) -> EffectKey { EffectKey(reported: keyFormat.spelled(text)) }

    /// A refund may fail long after it was accepted (docs.stripe.com/refunds#failed-refunds).
    static func state(_ status: StripeRefund.Status) -> Observation.Movement.State {
        switch status {
        case .pending, .requiresAction: .pending
        case .succeeded: .succeeded
        case .failed, .canceled: .declined
        }
    }

    private func disputes(of transaction: StripeTransaction, _ observation: inout Observation) -> [Dispute] {
        var disputes: [Dispute] = []
        for dispute in transaction.disputes where !dispute.isInquiry {
            guard let amount = StripeAmounts.money(dispute.amount, dispute.currency) else {
                observation.contradiction = "amount_unreadable"
                continue
            }
            let state: Dispute.State =
                switch dispute.status {
                case "won", "warning_closed", "prevented": .won
                case "lost": .lost
                default: .open
                }
            disputes.append(Dispute(id: ShortCode.reference(dispute.id), amount: amount, state: state))
        }
        return disputes
    }

    /// What a lost dispute took. The payer has it back, and Stripe shows it as no refund of the charge
    /// (docs.stripe.com/disputes/how-disputes-work): without it the money would count as still ours.
    private func taken(_ lost: Dispute) -> Observation.Movement {
        Observation.Movement(key: ours(lost.id), amount: lost.amount, state: .succeeded, reason: "dispute_lost")
    }
}
