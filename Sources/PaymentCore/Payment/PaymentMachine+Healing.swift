// What repeats without an end, and what ends by repeating.

extension PaymentMachine {
    /// What is tried again and again is tried for ever: that is safe, and people are told once the delays between the
    /// tries have reached their longest.
    mutating func noticeTrouble(
        _ reference: EffectReference, leg index: Int, _ outcome: OutcomeClass, _ context: MachineContext
    ) -> [PaymentAction] {
        guard let effect = effect(reference, ofLeg: index) else { return [] }
        guard outcome <= .throttled || outcome == .indeterminate else {
            if effect.troubledSince != nil {
                withEffect(reference, ofLeg: index) { $0.troubledSince = nil }
            }
            return []
        }
        guard effect.troubledSince == nil, context.policy.resendSchedule.isLast(effect.attempts - 1) else { return [] }
        withEffect(reference, ofLeg: index) { $0.troubledSince = context.now }
        record(
            .alert, leg: index,
            [
                AuditField("what", "tried again and again"), AuditField("effect", reference.description),
                AuditField("attempts", String(effect.attempts)), AuditField("code", effect.lastCode ?? "-"),
            ], context)
        return [alert(leg: index, "a \(effect.kind.rawValue) is tried again and again and does not end")]
    }

    /// A leg that one answer contradicted goes on once enough inquiries in a row, over long enough, contradict nothing:
    /// the answer was wrong then, and all of them are in the trail.
    mutating func heal(leg index: Int, _ observation: Observation, _ context: MachineContext) {
        let leg = payment.legs[index]
        guard let quarantine = leg.quarantine, var agreeing = quarantine.agreeing,
            observation.status != .unavailable, observation.status != .pending
        else { return }
        let isStale = observation.began < shownFrom(leg, context)
        if isContradicted(leg, quarantine.effect, observation, context) || observation.status == .notFound {
            agreeing = .none
        } else if !isStale {
            if agreeing.status != observation.status { agreeing = .none }
            agreeing.reads += 1
            agreeing.since = agreeing.since ?? observation.began
            agreeing.status = observation.status
        }
        payment.legs[index].quarantine?.agreeing = agreeing
        guard agreeing.reads >= context.policy.healingReads, let since = agreeing.since,
            observation.began - since >= context.policy.healingSpan
        else { return }
        payment.legs[index].quarantine = nil
        record(
            .decision, leg: index,
            [
                AuditField("row", "contradiction.healed"), AuditField("decision", "quarantine lifted"),
                AuditField("reads", String(agreeing.reads)), AuditField("agree_since", since.rfc3339),
                AuditField("contradicted", quarantine.since.rfc3339),
            ], context)
    }

    private func isContradicted(
        _ leg: Leg, _ reference: EffectReference, _ observation: Observation, _ context: MachineContext
    ) -> Bool {
        guard let contract = contract(of: leg, context), let effect = effect(reference, ofLeg: leg.index) else {
            return true
        }
        // What was seen standing is not explained away by reads that deny it, however many they are.
        return StatusReading.whenWanted(observation, reference, effect, leg: leg, contract) == .contradiction
            || StatusReading.whenUnwanted(observation, leg: leg, contract) == .contradiction
    }
}
