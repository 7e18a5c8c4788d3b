/// Gives back what was taken.
extension StripeStep {
    func refund() throws -> ExecutionStep.Executed {
        if let id = call.parameters["payment_intent"] {
            return try onIntent(id, named: "payment_intent") { try refund($0, $1) }
        }
        guard let charge = call.parameters["charge"] else {
            let words = "A refund needs a payment_intent or a charge."
            return (.invalid("parameter_missing", words, parameter: "payment_intent"), false)
        }
        guard let intent = try tables.intent(ofCharge: charge) else {
            return (.missing("charge", charge, parameter: "charge"), false)
        }
        return try refund(intent, try stored(intent))
    }

    private func refund(_ intent: StripeIntent, _ found: StoredTransaction?) throws -> ExecutionStep.Executed {
        guard let found, found.record.status == .captured, let taken = found.record.amount else {
            let words = "This PaymentIntent (\(intent.id)) does not have a successful charge to refund."
            return (.invalid(nil, words, parameter: "payment_intent"), true)
        }
        let charge = intent.charges.last?.id ?? ""
        // What was charged back is not refunded beside it.
        guard (found.record.disputes ?? []).allSatisfy({ $0.status == .won }) else {
            return (.invalid("charge_disputed", "Charge \(charge) has been charged back."), true)
        }
        let left = found.record.capturedValue - found.record.refundedValue
        guard left > 0 else {
            return (.invalid("charge_already_refunded", "Charge \(charge) has already been refunded."), true)
        }
        let value = call.parameters["amount"].flatMap { Int64($0) } ?? left
        guard value <= left else {
            let words = "Refund amount (\(value)) is greater than unrefunded amount on charge (\(left))"
            return (.invalid(nil, words, parameter: "amount"), true)
        }
        return try refund(taken.with(value: value), intent, found)
    }

    /// Only an idempotency key keeps Stripe from a second refund. What its metadata says keeps it from nothing, so a
    /// refund whose key the ledger has already is another one.
    private func refund(
        _ amount: Amount, _ intent: StripeIntent, _ found: StoredTransaction
    ) throws -> ExecutionStep.Executed {
        let isTaken = found.record.refunds.contains { $0.key == request.entryKey }
        let key = isTaken ? StripeIntent.newID("re_") : request.entryKey
        let execution = rules.execute(inner(.refund(amount), entryKey: key), on: found.record)
        guard let record = execution.record else { return (StripeAnswer(.internalError), true) }
        _ = try save(record, over: found, execution.movements)
        var changed = intent
        changed.refundMetadata[key] = call.texts("metadata")
        try tables.save(changed)
        let id = changed.refundID(key)
        let shown = StripeShapes(record: record, intent: changed).refunds.first { $0.id == id }
        return (StripeAnswer(200, shown?.value ?? .null), true)
    }
}
