/// What ends the wait for a schedule: somebody asks, or a provider is back. Schedules are for silence.
extension PaymentMachine {
    /// Somebody wants to know now: every leg is asked about, and once more where an inquiry is under way.
    mutating func askNow(_ context: MachineContext) {
        for index in payment.legs.indices where payment.legs[index].gone == nil {
            payment.legs[index].notBefore = context.now
        }
        askedMeanwhile = busy.subtracting(requesting.keys)
        record(.operation, [AuditField("operation", "reconcile")], context)
    }

    mutating func providerReturned(_ provider: ProviderName, _ context: MachineContext) {
        for index in payment.legs.indices where waitsForReturn(payment.legs[index], of: provider, context) {
            payment.legs[index].notBefore = context.now
            payment.legs[index].inquiries = 0
            for reference in effectReferences(ofLeg: index) {
                withEffect(reference, ofLeg: index) { if $0.lastOutcome == .unsent { $0.consecutiveFailures = 0 } }
            }
            record(.operation, leg: index, [AuditField("operation", "provider_returned")], context)
        }
    }

    /// Whether a leg waits, and what it waits for can be told by a provider that answers: nothing was read since the
    /// last request, or only that nothing is decided, or its last request never left. What a provider asked to wait for
    /// (`throttled`), what is with people, and what is gone stays as it is.
    private func waitsForReturn(_ leg: Leg, of provider: ProviderName, _ context: MachineContext) -> Bool {
        guard leg.provider == provider, leg.gone == nil, leg.quarantine == nil, !busy.contains(leg.index),
            let notBefore = leg.notBefore, notBefore > context.now
        else { return false }
        let outcomes = effectReferences(ofLeg: leg.index).compactMap { effect($0, ofLeg: leg.index)?.lastOutcome }
        if outcomes.last == .throttled { return false }
        if let contract = contract(of: leg, context), contract.inquiry == .byResend,
            effectInDoubt(ofLeg: leg.index, contract) == nil
        {
            // What was answered is told by the provider when it pleases; it answers nothing about it.
            return outcomes.last == .unsent
        }
        guard let known = leg.knowledge else { return true }
        return [.unavailable, .pending, .notFound].contains(known.status) || outcomes.last == .unsent
    }
}
