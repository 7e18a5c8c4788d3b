// What repeats without an end, and what ends by repeating.

extension PaymentMachine {
    /// What is tried again and again is tried for ever: that is safe, and people are told once the delays between the
    /// tries have reached their longest.
    mutating func noticeTrouble(
        _ reference: EffectReference, leg index: Int, _ outcome: OutcomeClass, _ context: MachineContext
    ) -> [PaymentAction] {
        guard let effect = effect(reference, ofLeg: index) else { return [] }
        let isTrouble = outcome <= .throttled || outcome == .indeterminate || isInDoubt(reference, leg: index, context)
        guard isTrouble else {
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

    /// What people are asked about is read on the slowest schedule: what it says is evidence for those who decide.
    mutating func askAboutQuarantined(_ actions: inout [PaymentAction], _ context: MachineContext) {
        for index in payment.legs.indices where isWithPeople(leg: index) && !busy.contains(index) {
            // Our own rows are no evidence for people: only the provider's own news are.
            if isAskedByResend(leg: index, context) { continue }
            let heals = payment.legs[index].quarantine?.agreeing != nil
            if payment.legs[index].notBefore == nil, payment.legs[index].knowledge != nil, !heals {
                payment.legs[index].inquiries = max(
                    payment.legs[index].inquiries, context.policy.inquirySchedule.delays.count - 1)
            }
            ask(leg: index, &actions, context)
        }
    }

    /// What people decided is not looked at as rarely as what waited for them (seed 13140475516452).
    mutating func lookAnew(leg index: Int) {
        payment.legs[index].notBefore = nil
        payment.legs[index].conclusiveReads = 0
        payment.legs[index].inquiries = 0
    }

    /// Whether people are asked about it, or about a refund of it while no other is under way, which reads by itself.
    private func isWithPeople(leg index: Int) -> Bool {
        if payment.legs[index].quarantine != nil { return true }
        let states = payment.refunds.flatMap(\.parts).filter { $0.leg == index }.map(\.state)
        return states.contains(.quarantined) && !states.contains(.processing)
    }

    /// People were asked about a refund because nobody could tell what became of it. Where its provider shows it after
    /// all, under its key and as it was asked for, nothing is left to ask. What was contradicted stays with them.
    mutating func takeShown(_ refundIndex: Int, _ context: MachineContext) {
        for part in payment.refunds[refundIndex].parts.indices {
            let refund = payment.refunds[refundIndex].parts[part]
            let leg = payment.legs[refund.leg]
            guard refund.state == .quarantined, refund.reason != QuarantineCause.contradiction.rawValue,
                leg.knowledge?.source == .inquiry, let contract = contract(of: leg, context),
                contract.refundVisibility == .byKey
            else { continue }
            let (decision, decided) = decide(
                .refund(refundIndex), refund.effect, leg: leg, goal: .do, contract, context)
            guard decision == .done else { continue }
            payment.refunds[refundIndex].parts[part].state = .succeeded
            payment.refunds[refundIndex].parts[part].reason = nil
            record(
                .decision, leg: leg.index,
                decided.fields + [
                    AuditField("effect", EffectReference.refund(refundIndex).description),
                    AuditField("decision", "quarantine lifted"),
                ], context)
        }
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
