extension PaymentMachine {
    /// All effects of a leg that exist.
    func effectReferences(ofLeg index: Int) -> [EffectReference] {
        var references: [EffectReference] = [.primary]
        let leg = payment.legs[index]
        if leg.capture != nil { references.append(.capture) }
        if leg.void != nil { references.append(.void) }
        if leg.compensation != nil { references.append(.compensation) }
        for (refundIndex, refund) in payment.refunds.enumerated()
        where refund.parts.contains(where: { $0.leg == index }) {
            references.append(.refund(refundIndex))
        }
        return references
    }

    /// A key that was declined so often, in a way that may yet change, is a matter for people: sending it once more
    /// would not bring it nearer to an end. Requests that were lost do not count; they are sent again for ever.
    static let mostPlugs = 8

    /// An effect of a leg.
    func effect(_ reference: EffectReference, ofLeg index: Int) -> Effect? {
        guard case .refund(let refundIndex) = reference else { return payment.legs[index].effect(reference) }
        guard payment.refunds.indices.contains(refundIndex) else { return nil }
        return payment.refunds[refundIndex].parts.first { $0.leg == index }?.effect
    }

    mutating func withEffect(
        _ reference: EffectReference, ofLeg index: Int, _ change: (inout Effect) -> Void
    ) {
        switch reference {
        case .primary: change(&payment.legs[index].primary)
        case .capture: PaymentMachine.changeIfPresent(&payment.legs[index].capture, change)
        case .void: PaymentMachine.changeIfPresent(&payment.legs[index].void, change)
        case .compensation: PaymentMachine.changeIfPresent(&payment.legs[index].compensation, change)
        case .refund(let refundIndex):
            guard payment.refunds.indices.contains(refundIndex),
                let part = payment.refunds[refundIndex].parts.firstIndex(where: { $0.leg == index })
            else { return }
            change(&payment.refunds[refundIndex].parts[part].effect)
        }
    }

    private static func changeIfPresent(_ effect: inout Effect?, _ change: (inout Effect) -> Void) {
        guard var present = effect else { return }
        change(&present)
        effect = present
    }

    /// The facts of the effect table about one effect.
    func facts(
        _ reference: EffectReference, _ effect: Effect, leg: Leg, goal: EffectGoal,
        _ contract: ProviderContract, _ context: MachineContext
    ) -> EffectFacts {
        let known = leg.believed(in: payment.recovery)
        var status =
            goal == .do
            ? StatusReading.whenWanted(known, reference, effect, leg: leg, contract)
            : StatusReading.whenUnwanted(known, leg: leg, contract)
        if goal == .do, reference == .primary, mayBeTurningBack(known) { status = .pending }
        if goal == .undo, mayReverse(known, leg, contract) { status = .pending }
        // An intent without an outcome is in doubt for everybody but its holder, who does not ask while it is under
        // way.
        let worst = effect.open == nil ? effect.worst : .indeterminate
        var facts = EffectFacts(goal: goal, worst: worst, status: status)
        if let recovery = payment.recovery {
            facts.trust = recovery.listingCompared ? .recoveringCompared : .recovering
            // What is in doubt is not left so for ever because nobody asks again: a cancel or the deadline ends that.
            let isOver =
                contract.inquiry == .byResend && (payment.stopReason != nil || context.now >= payment.deadline)
            facts.awaitsCaller =
                goal == .do && reference == .primary && recovery.repetition == .awaited && !isOver
        }
        facts.age = age(of: effect, contract, context)
        if let read = readWithoutLost(reference, effect, leg, contract) {
            // It is read again where what arrived after that read may be forgotten by now.
            if outlives(read, contract, context) { facts.age = .safe } else { facts.status = .notAsked }
        }
        facts.proof = proof(for: reference, effect, known, leg.provider, contract, context)
        facts.purpose = reference.purpose
        facts.memory = memory(of: effect, contract, context)
        facts.lifeIsOver = isLifeOver(effect, known, contract)
        facts.declinesStay = contract.declinesStay
        facts.refusalNamesKey = effect.isRefusalKeyless != true
        facts.keyConflicts = effect.keyConflicts ?? false
        // What was refused because of a dispute is done by a copy of the request that comes after it.
        facts.refusedForGood =
            effect.attempts - (effect.unsent ?? 0) <= 1 && effect.credentialRefusals == 0
            && (effect.kind != .refund || leg.disputes == nil)
        facts.wasAccepted = effect.acceptedAt != nil
        facts.isAskedByResend = contract.inquiry == .byResend
        // Its holder is about to hear of an attempt that is open; whoever writes beside it does not decide about that.
        facts.isInDoubt = facts.isAskedByResend && effect.isInDoubt(contract) && effect.open == nil
        facts.isUnconfirmed =
            facts.isAskedByResend && leg.inquiries >= context.policy.inquirySchedule.delays.count
        // An answer says what is so: no read is older.
        facts.visibility =
            facts.isAskedByResend ? .missedTwice : [.lagging, .readOnce, .missedTwice][min(leg.conclusiveReads, 2)]
        facts.latchAcknowledged = payment.latchAcknowledged
        facts.capturedByOthers = goal == .undo && isCapturedOutside(leg)
        facts.isOnePhase = effect.kind == .sale
        facts.declinesBound = contract.declinesBound
        facts.tombstoneOffered = contract.cancel == .tombstoning
        facts.cancelReversesSale = contract.cancelReversesSale
        // Where nothing can be asked, a request that was refused is sent again to learn of an earlier one. What no
        // request of ours made is never sent.
        facts.plugAllowed =
            context.policy.plugAllowed && !payment.undoesOthers
            && (facts.isAskedByResend || effect.sentAfterDecline < PaymentMachine.mostPlugs)
        facts.traceWanted = context.policy.tombstoneNeverSent && contract.cancel == .tombstoning
        facts.lastRefused = effect.lastOutcome == .refused || effect.lastOutcome == .declined
        facts.isDisputed = (effect.kind == .refund || goal == .undo) && !leg.openDisputes.isEmpty
        return facts
    }

    /// Whether a refund that is not decided yet may be the one by which lost rows turned the payment back.
    func mayBeTurningBack(_ known: Observation?) -> Bool {
        guard payment.recovery != nil, payment.latch == .none else { return false }
        return known?.refunds.contains { $0.state == .pending } ?? false
    }

    /// The read that shows that no request of a lost row had executed an effect which this row has not sent: a capture
    /// where the hold is shown and nothing of it taken, a refund where what was taken is shown and nothing given back
    /// that could be it.
    private func readWithoutLost(
        _ reference: EffectReference, _ effect: Effect, _ leg: Leg, _ contract: ProviderContract
    ) -> Observation? {
        guard effect.firstIntentAt == nil, payment.recovery != nil, let known = leg.believed(in: payment.recovery)
        else { return nil }
        switch reference {
        case .capture where known.status == .authorized: return known.captures.isEmpty ? known : nil
        case .refund where known.status == .captured:
            let isShown =
                switch contract.refundVisibility {
                case .byKey: known.refunds.contains { $0.key == effect.key }
                case .sumsOnly:
                    payment.mayHaveLostRequests && showsMore(StatusReading.givenBack(known), thanRefundedOf: leg)
                }
            return isShown ? nil : known
        default: return nil
        }
    }

    /// Whether a key that was not used before a read can be sent now: no request of a lost row could arrive after the
    /// read, or the provider still remembers the key of one that did.
    private func outlives(_ read: Observation, _ contract: ProviderContract, _ context: MachineContext) -> Bool {
        guard let limit = contract.safeResendAge, let recovery = payment.recovery else { return true }
        if read.began > recovery.latestNotAfter + contract.proofMargin { return true }
        return context.now - read.began + contract.proofMargin < limit
    }

    /// Whether a provider that shows only sums gave back more of a leg than the rows tell.
    func showsMore(_ sum: Int64, thanRefundedOf leg: Leg) -> Bool {
        sum > payment.refundedAmount(ofLeg: leg.index).value
    }

    func age(
        of effect: Effect, _ contract: ProviderContract, _ context: MachineContext
    ) -> EffectFacts.ResendAge {
        // A void is idempotent by the state that it meets, not by a remembered key.
        guard effect.kind != .void, let limit = contract.safeResendAge else { return .safe }
        guard let first = effect.firstIntentAt else { return payment.recovery == nil ? .safe : .past }
        return context.now - first < limit ? .safe : .past
    }

    /// Whether what was executed under a key is still remembered when a request arrives that is sent now.
    private func memory(
        of effect: Effect, _ contract: ProviderContract, _ context: MachineContext
    ) -> EffectFacts.Memory {
        guard let limit = contract.memory else { return .whole }
        if let first = effect.firstIntentAt { return context.now - first < limit ? .whole : .mayBeLost }
        // Of lost rows nobody knows when they sent what; a comparison of the listings over the loss would have shown
        // it.
        guard let recovery = payment.recovery else { return .whole }
        return recovery.listingCompared ? .whole : .mayBeLost
    }

    /// Whether the status was read after the last moment at which a request of the effect may be executed, while the
    /// provider still showed what was.
    private func isLifeOver(_ effect: Effect, _ known: Observation?, _ contract: ProviderContract) -> Bool {
        guard let known, known.began > lifeEnds(effect, contract) + contract.proofMargin else { return false }
        guard let retention = contract.statusRetention else { return true }
        guard let first = effect.firstIntentAt else { return false }
        return known.began < first + (retention - contract.clockSkew)
    }

    /// The last moment at which a request of the effect may be executed: safe if requests live at most as long as the
    /// contract assumes.
    func lifeEnds(_ effect: Effect, _ contract: ProviderContract) -> Timestamp {
        let ours = effect.lastIntentAt.map { $0 + contract.maxRequestLife } ?? payment.createdAt
        return max(ours, payment.recovery?.latestNotAfter ?? ours)
    }

    private func proof(
        for reference: EffectReference, _ effect: Effect, _ known: Observation?, _ provider: ProviderName,
        _ contract: ProviderContract, _ context: MachineContext
    ) -> EffectFacts.Proof {
        guard contract.enforcesNotAfter, reference == .primary, !effect.hasUnboundedAttempt else { return .none }
        guard let latest = latestNotAfter(effect) else { return .proven }
        // A provider that forgets statuses shows the same for what never was and for what was long ago.
        if let retention = contract.statusRetention {
            guard let first = effect.firstIntentAt else { return .none }
            let readableUntil = first + (retention - contract.clockSkew)
            guard (known?.began ?? context.now) < readableUntil else { return .none }
        }
        guard let known else { return .notYet }
        // A provider whose clock is off refuses at another moment than it promised.
        guard !context.clocksInDoubt.contains(provider) else { return .notYet }
        return known.began > latest + contract.proofMargin ? .proven : .notYet
    }

    /// The latest moment at which the provider may still execute an attempt, lost rows included.
    func latestNotAfter(_ effect: Effect) -> Timestamp? {
        guard let recovery = payment.recovery else { return effect.latestNotAfter }
        return max(recovery.latestNotAfter, effect.latestNotAfter ?? recovery.latestNotAfter)
    }
}
