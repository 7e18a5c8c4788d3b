/// What ends a payment that is not decided: a leg that is lost, its deadline, the end of a hold.
extension PaymentMachine {
    /// Notes why an undecided payment has to be turned back, if it has.
    mutating func noteStop(_ context: MachineContext) {
        guard payment.latch == .none, payment.stopReason == nil else { return }
        if let leg = payment.legs.first(where: { $0.isLost || $0.gone != nil }) {
            payment.stopReason = leg.isLost ? leg.loss?.reason : Reason(.legLost, detail: "leg \(leg.index)")
        } else if payment.isResting || isHeldBesidePeople(context) {
            if holdRanOut(context) { payment.stopReason = Reason(.authorizationExpired) }
        } else if isPastDeadline(context), !mayHaveHeld(context) {
            // What was held for its caller once has met its deadline, whatever a later read says; only the end of its
            // hold ends it then.
            payment.stopReason = Reason(.deadlinePassed)
        }
    }

    /// Whether its deadline passed, of a payment that was never held for its caller and whose capture nobody asked for.
    private func isPastDeadline(_ context: MachineContext) -> Bool {
        payment.capture == nil && payment.heldAt == nil && context.now >= payment.deadline
    }

    /// On untrusted rows the deadline ends a payment only once every leg was read. A sale that waits for the holds
    /// before it is read by nobody else (seed 2776285294).
    mutating func readBeforeStop(_ context: MachineContext) {
        guard payment.recovery != nil, payment.latch == .none, payment.stopReason == nil, isPastDeadline(context)
        else { return }
        for index in payment.legs.indices where payment.legs[index].readWantedSince == nil {
            let leg = payment.legs[index]
            guard leg.quarantine == nil, leg.gone == nil, !isFreshlyRead(leg) else { continue }
            payment.legs[index].readWantedSince = context.now
        }
    }

    /// Whether it was held for its caller when a leg of it went to people: its other holds end as they would have
    /// ended without that.
    private func isHeldBesidePeople(_ context: MachineContext) -> Bool {
        payment.heldAt != nil && payment.capture == nil && payment.legs.contains { $0.quarantine != nil }
            && !mayHaveHeld(context)
    }

    /// Whether a payment may have been held in time, or was captured since by nobody that its rows know: that waits for
    /// its caller, or for people. On untrusted rows its deadline counts only once every leg was read.
    private func mayHaveHeld(_ context: MachineContext) -> Bool {
        guard payment.captureMode == .manual else { return mayHaveGoneForward(context) }
        return payment.legs.contains { leg in
            if leg.quarantine?.cause == .captureRequestLost || standing(of: leg, context) == .taken { return true }
            return payment.recovery != nil && !isFreshlyRead(leg) && !isLeftUnread(leg, context)
        }
    }

    /// Whether a payment that is captured by itself may have gone forward by a latch that was lost: a hold is captured
    /// only after it. Its caller may have been told so, and whoever has its leg in quarantine decides about that.
    private func mayHaveGoneForward(_ context: MachineContext) -> Bool {
        guard payment.recovery != nil else { return false }
        // Beside a leg in quarantine the others are not read any more: they end by what is known of that one.
        let isWithPeople = payment.legs.contains { $0.quarantine != nil }
        return payment.legs.contains { leg in
            if isWithPeople, leg.quarantine == nil || isLeftUnread(leg, context) { return false }
            guard isFreshlyRead(leg), let known = leg.knowledge else { return true }
            return !leg.isOnePhase && known.status == .captured && !StatusReading.contradicts(known, leg: leg)
        }
    }

    /// Whether the earliest hold ran out.
    func holdRanOut(_ context: MachineContext) -> Bool {
        guard let ends = holdEnds(context) else { return false }
        return context.now >= ends
    }

    /// When the earliest hold ends, by what can be believed; `nil` where nothing can.
    func holdEnds(_ context: MachineContext) -> Timestamp? {
        payment.legs.compactMap { holdEnds(of: $0, context) }.min()
    }

    private func holdEnds(of leg: Leg, _ context: MachineContext) -> Timestamp? {
        let began = leg.primary.firstIntentAt ?? payment.createdAt
        // The moment that the provider names is by its clock; how long a hold lasts is the same by any. A hold that
        // ended before it was asked for shows a wrong clock with the first answer, before the clock is in doubt.
        if !context.clocksInDoubt.contains(leg.provider),
            let until = leg.knowledge?.authorizedUntil ?? leg.holdEnds, until > began
        {
            return until
        }
        return contract(of: leg, context)?.authorizationLife.map { began + $0 }
    }

    /// Whether a leg was captured, and people decide whether that was asked for here.
    func isCapturedWithPeople(_ leg: Leg) -> Bool {
        guard let quarantine = leg.quarantine else { return false }
        return quarantine.cause == .captureRequestLost
            || payment.recovery != nil && leg.knowledge?.status == .captured
    }

    /// The holds beside a leg that others captured are not turned back while people decide about it: the capture may
    /// have been ours, on rows that were lost, and its caller knows of it or repeats it. Once such a hold should have
    /// run out it is read, again and again; only what its provider shows then ends it (seeds 1828033407, 3641239319,
    /// 2776283127).
    mutating func readHoldsBesidePeople(_ context: MachineContext) {
        guard payment.latch == .none, payment.capture == nil, payment.legs.contains(where: isCapturedWithPeople)
        else { return }
        let pause = context.policy.inquirySchedule.delays.max() ?? .zero
        for index in payment.legs.indices where standing(of: payment.legs[index], context) == .held {
            let leg = payment.legs[index]
            guard leg.readWantedSince == nil, let known = leg.knowledge, let ends = holdEnds(of: leg, context) else {
                continue
            }
            let next = known.began < ends ? ends : known.began + pause
            guard context.now >= next else {
                wake(at: next, for: leg.provider)
                continue
            }
            payment.legs[index].readWantedSince = context.now
            payment.legs[index].notBefore = context.now
        }
    }

    /// When to look at a hold whose told end is not believed: the clock that told it may be believed by then.
    func nextLookAtHold(_ context: MachineContext) -> Timestamp? {
        let wasTold = payment.legs.contains { ($0.knowledge?.authorizedUntil ?? $0.holdEnds) != nil }
        guard wasTold else { return nil }
        return context.policy.inquirySchedule.delays.max().map { context.now + $0 }
    }
}
