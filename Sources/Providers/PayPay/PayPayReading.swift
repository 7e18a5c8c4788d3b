internal import PaymentCore

/// Turns a payment of PayPay's into the core's words.
struct PayPayReading: Sendable {
    /// How keys of ours are spelled.
    let keyFormat: KeyFormat
    /// In how many steps the money is taken.
    let phases: ProviderContract.Phases

    /// The observation.
    ///
    /// `payment` is whose payment it should be; `began` is the moment before the request was sent.
    func observation(
        of transaction: PayPayPayment, payment: PaymentID, began: Timestamp, source: Observation.Source
    ) -> Observation {
        var observation = Observation(
            Self.status(of: transaction), began: began, source: source, key: ours(transaction.merchantPaymentID))
        observation.amount = PayPayAmounts.money(transaction.amount)
        if observation.amount == nil { observation.contradiction = "amount_unreadable" }
        if observation.status == .authorized { observation.authorizedUntil = transaction.expiresAt }
        if observation.status == .declined { observation.reason = "failed" }
        observation.captures = captures(of: transaction, &observation)
        observation.refunds = refunds(of: transaction, &observation)
        if let named = transaction.namedPayment, named != payment.text {
            observation.contradiction = "another_payment"
        }
        return observation
    }

    /// www.paypay.ne.jp/opa/doc/v1.0/direct_debit
    private static func status(of transaction: PayPayPayment) -> Observation.Status {
        switch transaction.status {
        case .created, .reauthorizing: .pending
        case .authorized: .authorized
        case .completed: .captured
        // Given back without a refund that anybody asked for: a cancel did it.
        case .refunded: transaction.refunds.isEmpty ? .voided : .captured
        case .failed: .declined
        case .canceled: .voided
        case .expired: .expired
        }
    }

    private func captures(
        of transaction: PayPayPayment, _ observation: inout Observation
    ) -> [Observation.Movement] {
        switch phases {
        case .sale:
            if transaction.status == .authorized || !transaction.captures.isEmpty {
                observation.contradiction = "another_kind"
            }
            return []
        case .authorizeCapture:
            guard observation.status == .authorized || observation.status == .captured else { return [] }
            if observation.status == .captured, !transaction.captures.contains(where: { $0.status == .completed }) {
                observation.contradiction = "capture_missing"
            }
            return transaction.captures.compactMap { capture in
                let state: Observation.Movement.State = capture.status == .completed ? .succeeded : .pending
                return movement(capture.merchantCaptureID, capture.amount, state, &observation)
            }
        }
    }

    private func refunds(
        of transaction: PayPayPayment, _ observation: inout Observation
    ) -> [Observation.Movement] {
        guard observation.status == .captured else { return [] }
        return transaction.refunds.compactMap { refund in
            movement(refund.merchantRefundID, refund.amount, Self.state(refund.status), &observation)
        }
    }

    private func movement(
        _ key: String, _ amount: PayPayAmount, _ state: Observation.Movement.State,
        _ observation: inout Observation
    ) -> Observation.Movement? {
        guard let money = PayPayAmounts.money(amount) else {
            observation.contradiction = "amount_unreadable"
            return nil
        }
        return Observation.Movement(
            key: ours(key), amount: money, state: state, reason: state == .declined ? "failed" : nil)
    }

    /// A movement that an answer shows of a refund; `nil` if its amount cannot be read.
    func movement(of refund: PayPayRefund) -> Observation.Movement? {
        var nothing = Observation(.captured, began: Timestamp(milliseconds: 0), source: .answer)
        return movement(refund.merchantRefundID, refund.amount, Self.state(refund.status), &nothing)
    }

    private func ours(_ text: String) -> EffectKey { EffectKey(reported: keyFormat.spelled(text)) }

    /// What PayPay accepted it goes on trying until it is done
    /// (integration.paypay.ne.jp/hc/en-us/articles/4414054913423).
    private static func state(_ status: PayPayRefund.Status) -> Observation.Movement.State {
        switch status {
        case .created, .refundFailed: .pending
        case .refunded: .succeeded
        case .failed: .declined
        }
    }
}
