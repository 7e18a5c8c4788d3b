internal import PaymentCore

/// Keys that are derived wrongly, because somebody planted that.
extension World {
    func sabotaged(_ order: SendOrder, _ payment: Int) -> SendOrder {
        var (transaction, key) = (order.transactionKey, order.key)
        if does(.newKeyForEachAttempt), order.effect == .primary, order.number > 1 {
            transaction = EffectKey(reported: "\(order.key.text)-\(order.number)")
            key = transaction
        }
        if does(.keyWithoutCaller) {
            transaction = keyWithoutCaller(payment, order.leg, order.transactionKey)
            key = order.effect == .primary ? transaction : order.key
        }
        guard transaction != order.transactionKey || key != order.key else { return order }
        return SendOrder(
            payment: order.payment, leg: order.leg, effect: order.effect, number: order.number,
            provider: order.provider, kind: order.kind, transactionKey: transaction, key: key,
            amount: order.amount, instrument: order.instrument, caller: order.caller, reference: order.reference,
            notAfter: order.notAfter, startBefore: order.startBefore,
            phases: order.phases)
    }

    func sabotaged(_ order: InquiryOrder, _ payment: Int) -> InquiryOrder {
        guard does(.keyWithoutCaller) else { return order }
        return InquiryOrder(
            payment: order.payment, leg: order.leg, provider: order.provider,
            transactionKey: keyWithoutCaller(payment, order.leg, order.transactionKey), phases: order.phases)
    }

    /// What two callers that use the same key of their own have in common.
    private func keyWithoutCaller(_ payment: Int, _ leg: Int, _ key: EffectKey) -> EffectKey {
        guard let own = plan.payments[payment].asks.first?.operation.key else { return key }
        return EffectKey(reported: Digest(of: ["callerless", own.text, String(leg)]).hex)
    }
}
