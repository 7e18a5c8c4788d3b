extension PaymentMachine {
    /// Decides, by tables B and A, until nothing changes any more, and says when to wake.
    mutating func plan(_ context: MachineContext) -> [PaymentAction] {
        var actions: [PaymentAction] = []
        wakes.removeAll(keepingCapacity: true)
        // Each round moves a latch or settles a leg, which can happen only so often.
        let rounds = 4 + 4 * payment.legs.count
        for _ in 0..<rounds where payment.conclusion == nil {
            learnFromRows(context)
            noteStop(context)
            let facts = facts(context)
            let verdict = context.paymentTable.decide(facts)
            considerations?.payment = PaymentConsideration(facts: facts, verdict: verdict)
            wakes.removeAll(keepingCapacity: true)
            guard carryOut(verdict, by: Decided(verdict, facts), &actions, context) else { break }
        }
        if payment.conclusion == nil {
            readBeforeStop(context)
            readHoldsBesidePeople(context)
            askAboutDifferences(&actions, context)
        }
        learnFromRows(context)
        undoLateCharges(&actions, context)
        if payment.conclusion?.state == .succeeded { findRefunds(&actions, context) }
        planRefunds(&actions, context)
        // Not before the refunds of lost rows were taken out of the reads by which the payment ended.
        if payment.conclusion != nil, !payment.hasRefundUnderWay { payment.recovery = nil }
        askAboutQuarantined(&actions, context)
        setDue(context)
        return actions
    }

    /// Carries a verdict of the payment table out; `true` if something changed that the table must see.
    private mutating func carryOut(
        _ verdict: PaymentTable.Verdict, by decided: Decided, _ actions: inout [PaymentAction],
        _ context: MachineContext
    ) -> Bool {
        switch verdict.decision {
        case .latch(let latch):
            move(to: latch, by: decided, context)
            return true
        case .readAll:
            for index in payment.legs.indices where !isFreshlyRead(payment.legs[index]) {
                ask(leg: index, &actions, context)
            }
            return false
        case .authorize(let legs):
            // First what changes a leg, then what is sent: nothing leaves by a change that latches the other way.
            if legs.map({ judge(.primary, leg: $0, &actions, context) }).contains(true) { return true }
            return legs.map { pursue(.primary, leg: $0, &actions, context) }.contains(true)
        case .sell(let leg):
            return pursue(.primary, leg: leg, &actions, context)
        case .capture(let legs):
            if legs.map({ judge(.capture, leg: $0, &actions, context) }).contains(true) { return true }
            return legs.map { complete(leg: $0, &actions, context) }.contains(true)
        case .undo(let legs):
            return legs.map { undo(leg: $0, &actions, context) }.contains(true)
        case .rest:
            if payment.heldAt == nil { payment.heldAt = context.now }
            wake(at: holdEnds(context) ?? nextLookAtHold(context), for: nil)
            return false
        case .adoptCapture:
            return adoptCapture(by: decided, &actions, context)
        case .awaitCapture(let legs):
            // Without an end of the hold its caller has as long as anything is asked about in doubt.
            let longest = context.policy.inquirySchedule.delays.max() ?? .zero
            let ends = holdEnds(context) ?? payment.deadline + longest
            guard context.now >= ends else {
                wake(at: ends, for: nil)
                return false
            }
            for index in legs {
                quarantine(.capture, leg: index, cause: .captureRequestLost, by: decided, &actions, context)
            }
            return true
        case .leaveToPeople(let legs):
            for index in legs {
                quarantine(.capture, leg: index, cause: .captureRequestLost, by: decided, &actions, context)
            }
            return true
        case .missing(let legs):
            for index in legs {
                quarantine(.primary, leg: index, cause: .acceptedButMissing, by: decided, &actions, context)
            }
            return true
        case .conclude(let ending):
            conclude(ending, by: decided, context)
            return false
        case .wait:
            if !payment.latchAcknowledged { wake(at: nextLook(context), for: nil) }
            return false
        }
    }

    /// When to look again at what an event is to wake: the later, the longer nothing happened. It is for the case that
    /// nobody tells.
    func nextLook(_ context: MachineContext) -> Timestamp {
        let schedule = context.policy.inquirySchedule
        let shortest = schedule.delay(0, jitter: context.jitter)
        let longest = max(shortest, min(.hours(1), schedule.delays[schedule.delays.count - 1]))
        let waited = Span(milliseconds: max(0, (context.now - payment.updatedAt).milliseconds) / 2)
        return context.now + min(max(shortest, waited), longest)
    }

    /// Takes a capture into the row that a lost row asked for: every leg is captured, and the amounts are what was
    /// taken. Where a provider does not say how much, people decide.
    private mutating func adoptCapture(
        by decided: Decided, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let amounts = payment.legs.map(\.capturedAmount)
        guard let found = CaptureRequest.found(amounts, of: payment.legs[0].primary.key, at: context.now) else {
            for index in payment.legs.indices {
                quarantine(.capture, leg: index, cause: .captureRequestLost, by: decided, &actions, context)
            }
            return true
        }
        payment.capture = found
        let words = amounts.map(\.description).joined(separator: ", ")
        record(
            .operation,
            [AuditField("operation", "capture found")] + decided.fields + [AuditField("amounts", words)], context)
        return true
    }

    /// Once it ended without success every leg is gone; one that is not appeared later.
    private mutating func undoLateCharges(_ actions: inout [PaymentAction], _ context: MachineContext) {
        guard let conclusion = payment.conclusion, conclusion.state != .succeeded else { return }
        for index in payment.legs.indices where payment.legs[index].gone == nil {
            _ = undo(leg: index, &actions, context)
        }
    }

    /// Whether a capture was carried out before rows were lost, and only its request is missing.
    func awaitsLostCapture(_ context: MachineContext) -> Bool {
        guard payment.latch == .none, payment.conclusion == nil else { return false }
        if case .awaitCapture = context.paymentTable.decide(facts(context)).decision { return true }
        return false
    }

    /// What the payment table looks at.
    func facts(_ context: MachineContext) -> PaymentFacts {
        PaymentFacts(
            latch: payment.latch,
            legs: payment.legs.map { leg in
                PaymentFacts.Leg(
                    isOnePhase: leg.isOnePhase, standing: standing(of: leg, context), forward: forward(of: leg),
                    freshlyRead: isFreshlyRead(leg) || isLeftUnread(leg, context),
                    isAsked: !askedAmount(of: leg).isZero,
                    isCapturedWithPeople: isCapturedWithPeople(leg),
                    isDenied: leg.believed(in: payment.recovery)?.status == .notFound)
            },
            stopAsked: payment.stopReason != nil && payment.latch == .none,
            holdOnly: payment.captureMode == .manual && payment.capture == nil,
            inRecovery: payment.recovery != nil, mayHaveLostRequests: payment.mayHaveLostRequests,
            latchAcknowledged: payment.latchAcknowledged, hasCaptureRequest: payment.capture != nil)
    }

    /// A read that told nothing, or only that nothing is decided, is none that a latch can be built on.
    func isFreshlyRead(_ leg: Leg) -> Bool {
        guard let known = leg.believed(in: payment.recovery) else { return false }
        if known.awaitsPayer { return true }
        return known.status != .unavailable && known.status != .pending && !mayBeTurningBack(known)
    }

    func standing(of leg: Leg, _ context: MachineContext) -> PaymentFacts.Standing {
        if leg.quarantine != nil { return .quarantined }
        if leg.gone != nil { return .gone }
        if leg.isLost, payment.latch == .none { return .lost }
        if leg.isHeld(inRecovery: payment.recovery) { return .held }
        guard let known = leg.believed(in: payment.recovery), known.status == .captured,
            !StatusReading.contradicts(known, leg: leg), !mayBeTurningBack(known)
        else { return .open }
        return StatusReading.isGivenBack(known, leg: leg) && !provesCapture(known, leg, context) ? .open : .taken
    }

    /// After lost rows, what was captured and given back by refunds of the caller's was a success. Only a refund under
    /// the key with which we undo proves that it was turned back.
    private func provesCapture(_ known: Observation, _ leg: Leg, _ context: MachineContext) -> Bool {
        guard payment.recovery != nil, payment.latch == .none, let contract = contract(of: leg, context),
            contract.refundVisibility == .byKey
        else { return false }
        let undoing = effectKey(.refund, operation: payment.key, leg: leg, context)
        return !known.refunds.contains { $0.key == undoing && $0.state == .succeeded }
    }

    func forward(of leg: Leg) -> PaymentFacts.Forward {
        if leg.isCaptureLost { return .unattainable }
        let asked = askedAmount(of: leg)
        if asked.isZero { return leg.gone != nil ? .done : .wanted }
        if leg.gone != nil { return .unattainable }
        return leg.capturedAmount == asked ? .done : .wanted
    }

    /// What is to be captured of a leg.
    func askedAmount(of leg: Leg) -> Money {
        guard let capture = payment.capture, capture.amounts.indices.contains(leg.index) else { return leg.amount }
        return capture.amounts[leg.index]
    }

    private mutating func move(to latch: Latch, by decided: Decided, _ context: MachineContext) {
        guard payment.latch.permits(latch) else {
            preconditionFailure("a latch never moves backward: \(payment.latch) to \(latch) by \(decided.row)")
        }
        payment.latch = latch
        payment.latchAcknowledged = context.commitsAreAcknowledged
        if latch == .forward { payment.stopReason = nil }
        var fields = [AuditField("latch", latch.rawValue)] + decided.fields
        if latch == .back, payment.stopReason == nil {
            payment.stopReason = Reason(.legLost, detail: "after lost rows not every leg could be had")
        }
        if latch == .compensate, payment.stopReason == nil {
            payment.stopReason =
                payment.legs.first(where: \.isCaptureLost)?.loss?.reason ?? Reason(.captureUnavailable)
        }
        if let reason = payment.stopReason { fields.append(AuditField("reason", reason.code.rawValue)) }
        record(.latch, fields, context)
    }

    private mutating func conclude(
        _ ending: PaymentDecision.Ending, by decided: Decided, _ context: MachineContext
    ) {
        let state: PaymentState
        var reason = payment.stopReason
        switch ending {
        case .succeeded:
            state = .succeeded
            reason = nil
        case .undone:
            state = reason?.code.isCancel == true ? .canceled : .failed
        case .compensated:
            state = .failed
            let refunded = payment.legs.filter(\.isCompensated).map { "leg \($0.index)" }
            let detail = refunded.isEmpty ? "nothing was taken" : "refunded: \(refunded.joined(separator: ", "))"
            reason = Reason(.captureUnavailable, detail: detail)
        }
        payment.conclusion = Conclusion(state: state, reason: reason, at: context.now)
        record(
            .concluded,
            [AuditField("state", state.rawValue)] + decided.fields
                + [AuditField("reason", reason?.code.rawValue ?? "-")], context)
        if state == .succeeded { liftQuarantines(by: decided, context) }
    }

    /// A payment succeeds only once every leg is read as it was wanted: what people were asked about is answered. Left
    /// in quarantine, a leg would be asked about for ever, and hold up its refunds.
    private mutating func liftQuarantines(by decided: Decided, _ context: MachineContext) {
        for index in payment.legs.indices where payment.legs[index].quarantine != nil {
            payment.legs[index].quarantine = nil
            payment.legs[index].notBefore = nil
            record(
                .decision, leg: index, decided.fields + [AuditField("decision", "quarantine lifted")], context)
        }
    }

    mutating func wake(at moment: Timestamp?, for provider: ProviderName?) {
        guard let moment else { return }
        wakes.append(Wake(at: moment, provider: provider))
    }

    /// A payment is due when the first of its legs is; one with something under way is due at once for whoever finds
    /// that its holder is gone.
    private mutating func setDue(_ context: MachineContext) {
        if payment.conclusion == nil, payment.latch == .none, payment.stopReason == nil, payment.heldAt == nil,
            payment.deadline > context.now
        {
            wake(at: payment.deadline, for: nil)
        }
        for leg in payment.legs where contract(of: leg, context) == nil && payment.isUnfinished(leg) {
            // Its provider is missing; it is looked at again, in case that is mended.
            wake(at: context.now + context.policy.inquirySchedule.delay(3, jitter: context.jitter), for: leg.provider)
        }
        for index in busy.sorted() { wake(at: context.now, for: payment.legs[index].provider) }
        let first = wakes.min { $0.at < $1.at }
        // A holder that only waits for its own request moves nothing: the row stays as it is.
        if let first, let dueAt = payment.dueAt, !busy.isEmpty, dueAt <= context.now, first.at == context.now {
            return
        }
        payment.dueAt = first?.at
        payment.dueProvider = first?.provider
    }
}
