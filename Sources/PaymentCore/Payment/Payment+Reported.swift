extension Payment {
    /// What a webhook reports of the payment, as one digest. It changes with everything that the caller should hear of
    /// without asking: the state, why, what was taken and given back, refunds that ended or wait for people, and
    /// disputes.
    ///
    /// `nil` while the payment is under way: it is reported once its payer has to act, it rests, has ended, or waits
    /// for people.
    public var reportedState: Digest? {
        guard state.isReported else { return nil }
        var parts = ["reconciled.webhook.1", state.rawValue, reason?.code.rawValue ?? "-"]
        parts += [captured, refunded].map { String($0.value) }
        // Of several payers' steps each is another one.
        if let step = payerStep { parts += ["payer", String(step.leg.index), step.url.text] }
        for refund in refunds where refund.state != .processing {
            parts += ["refund", refund.key.text, refund.state.rawValue]
        }
        for leg in legs {
            for dispute in leg.disputes ?? [] {
                parts += ["dispute", String(leg.index), dispute.id, dispute.state.rawValue]
                parts.append(String(dispute.amount.value))
            }
        }
        return Digest(of: parts)
    }
}

extension PaymentState {
    /// Whether a caller is told of it without asking.
    fileprivate var isReported: Bool {
        switch self {
        case .requiresAction, .authorized, .succeeded, .canceled, .failed, .quarantined: true
        case .processing, .canceling: false
        }
    }
}
