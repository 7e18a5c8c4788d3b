internal import PaymentCore

/// Turns a transaction of the reference contract into the core's words.
struct ObservationReading: Sendable {
    /// How amounts are counted.
    let amounts: AmountFormat
    /// In how many steps the money is taken: of the leg that is read, or as the provider's contract says.
    let phases: ProviderContract.Phases
    /// How keys of ours are spelled.
    let keyFormat: KeyFormat

    /// The observation.
    ///
    /// What cannot be what was asked for is marked as a contradiction and never left out.
    ///
    /// `payment` is whose transaction it should be, `nil` where anything may be read, as in a listing;
    /// `began` is the moment before the request was sent.
    func observation(
        of transaction: WireTransaction, for payment: PaymentID?, began: Timestamp, source: Observation.Source
    ) -> Observation {
        var observation = Observation(
            Self.status(transaction.status), began: began, source: source,
            key: key(transaction.key), authorizedUntil: transaction.authorizedUntil,
            reason: ShortCode.of(transaction.reason))
        if transaction.status == .pending { observation.payerAction = transaction.payerAction }
        observation.contradiction = contradiction(in: transaction, for: payment)
        if let amount = transaction.amount {
            observation.amount = amounts.money(amount)
            if observation.amount == nil { observation.contradiction = "amount_unreadable" }
        }
        observation.captures = movements(transaction.captures, &observation)
        observation.refunds = movements(transaction.refunds, &observation)
        let disputes = disputes(of: transaction)
        observation.disputes = disputes.isEmpty ? nil : disputes
        return observation
    }

    /// A key as we spell it: some providers list keys in another case than they were given.
    func key(_ text: String) -> EffectKey { EffectKey(reported: keyFormat.spelled(text)) }

    private func contradiction(in transaction: WireTransaction, for payment: PaymentID?) -> String? {
        // In a listing are transactions of every contract that the provider ever had: their own kind tells how to read
        // them.
        guard let payment else { return nil }
        if let named = transaction.payment, named != payment.text { return "another_payment" }
        switch (transaction.kind, phases) {
        case (nil, _), (.authorize, .authorizeCapture), (.sale, .sale): return nil
        case (.authorize, .sale), (.sale, .authorizeCapture): return "another_kind"
        }
    }

    private func movements(
        _ movements: [WireTransaction.Movement], _ observation: inout Observation
    ) -> [Observation.Movement] {
        var readable: [Observation.Movement] = []
        for movement in movements {
            guard let amount = amounts.money(movement.amount) else {
                observation.contradiction = "amount_unreadable"
                continue
            }
            readable.append(
                Observation.Movement(
                    key: key(movement.key), amount: amount,
                    state: Self.state(movement.status),
                    reason: ShortCode.of(movement.reason)))
        }
        return readable
    }

    /// The disputes, as many as are kept. What is of an amount that cannot be read is left out: the amount of the
    /// transaction cannot be read either then.
    func disputes(of transaction: WireTransaction) -> [Dispute] {
        let readable = transaction.disputes.compactMap { dispute in
            amounts.money(dispute.amount).map { amount in
                Dispute(id: ShortCode.reference(dispute.id), amount: amount, state: Self.state(dispute.status))
            }
        }
        return Dispute.kept(readable)
    }

    private static func state(_ status: WireTransaction.Dispute.Status) -> Dispute.State {
        switch status {
        case .open: .open
        case .won: .won
        case .lost: .lost
        }
    }

    private static func status(_ status: WireTransaction.Status) -> Observation.Status {
        switch status {
        case .pending: .pending
        case .authorized: .authorized
        case .captured: .captured
        case .declined: .declined
        case .voided: .voided
        case .tombstoned: .tombstoned
        case .expired: .expired
        }
    }

    private static func state(_ status: WireTransaction.Movement.Status) -> Observation.Movement.State {
        switch status {
        case .pending: .pending
        case .succeeded: .succeeded
        case .declined: .declined
        }
    }
}
