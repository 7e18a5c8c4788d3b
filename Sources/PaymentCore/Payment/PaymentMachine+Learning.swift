extension PaymentMachine {
    /// Another worker may have left intents behind: what became of them is unknown.
    mutating func takeOver(_ context: MachineContext) {
        busy.removeAll()
        requesting.removeAll()
        for index in payment.legs.indices {
            for reference in effectReferences(ofLeg: index) {
                var abandoned = false
                withEffect(reference, ofLeg: index) { abandoned = $0.abandonOpenAttempt() }
                guard abandoned else { continue }
                payment.legs[index].knowledge = nil
                payment.legs[index].notBefore = nil
                record(
                    .claimed, leg: index,
                    [
                        AuditField("effect", reference.description),
                        AuditField("outcome", OutcomeClass.indeterminate.name),
                        AuditField("code", "outcome_unknown"),
                    ], context)
            }
        }
    }

    mutating func attempted(
        leg index: Int, effect reference: EffectReference, number: Int, _ report: AttemptReport,
        _ context: MachineContext
    ) -> [PaymentAction] {
        if requesting[index] == Request(effect: reference, number: number) {
            requesting[index] = nil
            busy.remove(index)
        }
        guard payment.legs.indices.contains(index),
            let effect = effect(reference, ofLeg: index), effect.open?.number == number
        else { return [] }
        let outcome = countedOutcome(report, effect: effect, reference)
        let said = isDoubted(report) ? report.outcome : nil
        withEffect(reference, ofLeg: index) {
            $0.end(outcome, said: said, code: report.code, at: context.now)
            if report.credentialsRefused {
                $0.credentialRefusals += 1
                $0.isCredentialRefusal = true
            }
            if report.keyConflicts { $0.keyConflicts = true }
            // Another one under the same key is another transaction, which nothing here can undo.
            if let reference = report.reference, outcome != .unsent, $0.theirs == nil { $0.theirs = reference }
        }
        record(
            .outcome, leg: index,
            [
                AuditField("effect", reference.description), AuditField("kind", effect.kind.rawValue),
                AuditField("attempt", String(number)), AuditField("outcome", outcome.name),
                AuditField("code", report.code),
                AuditField("bytes_written", String(report.bytesWritten)),
                AuditField("status", report.observation?.status.rawValue ?? "-"),
            ] + (report.observation.map(payerFields) ?? []), context)
        if outcome == .accepted || outcome == .declined { payment.legs[index].inquiries = 0 }
        let consecutiveFailures = self.effect(reference, ofLeg: index)?.consecutiveFailures ?? 0
        payment.legs[index].notBefore = nextTry(
            after: outcome, report, consecutiveFailures: consecutiveFailures, leg: payment.legs[index], context)
        if isAskedByResend(leg: index, context) {
            learn(from: report, of: reference, leg: index, context)
            countAsInquiry(reference, leg: index, context)
        } else if let observation = report.observation {
            learn(observation, leg: index, context)
        }
        return noticeTrouble(reference, leg: index, outcome, context)
    }

    /// Whether an answer says that nothing was done, and does not say of what: it counts as a doubt, until an inquiry
    /// that cannot be stale shows nothing either.
    private func isDoubted(_ report: AttemptReport) -> Bool {
        !report.namesKey && !report.credentialsRefused
            && (report.outcome == .refused || report.outcome == .declined)
    }

    /// A refusal of our credentials is cured by other credentials: the first one of an authorization, and every one of
    /// what must be done, is tried again.
    private func countedOutcome(
        _ report: AttemptReport, effect: Effect, _ reference: EffectReference
    ) -> OutcomeClass {
        if isDoubted(report) { return .indeterminate }
        guard report.outcome == .refused, report.credentialsRefused else { return report.outcome }
        if reference == .primary, payment.latch == .none, effect.credentialRefusals > 0 { return .refused }
        return .throttled
    }

    private func nextTry(
        after outcome: OutcomeClass, _ report: AttemptReport, consecutiveFailures: Int, leg: Leg,
        _ context: MachineContext
    ) -> Timestamp? {
        switch outcome {
        case .unsent, .throttled:
            let delay = context.policy.resendSchedule.delay(max(0, consecutiveFailures - 1), jitter: context.jitter)
            return max(context.now + delay, min(report.retryAfter ?? context.now, latestTry(context)))
        case .indeterminate:
            return context.now + context.policy.inquirySchedule.delay(leg.inquiries, jitter: context.jitter)
        case .accepted:
            guard let observation = report.observation, observation.status == .pending else { return nil }
            var leg = leg
            leg.knowledge = observation
            return context.now + inquiryDelay(leg, context)
        case .refused, .declined:
            return nil
        }
    }

    /// However long a provider asks for, it is not waited for longer than the longest of our own delays, nor past the
    /// payment's deadline.
    private func latestTry(_ context: MachineContext) -> Timestamp {
        let latest = context.now + context.policy.resendSchedule.delays[context.policy.resendSchedule.delays.count - 1]
        guard payment.latch == .none, payment.deadline > context.now else { return latest }
        return min(latest, payment.deadline)
    }

    mutating func inquired(
        leg index: Int, _ observation: Observation, _ context: MachineContext
    ) -> [PaymentAction] {
        guard payment.legs.indices.contains(index) else { return [] }
        // What was asked before a request says nothing of it, and ends nothing that is on its way. Only this holder's
        // own counts: another's may be in rows that were read again, and who lost them must find that out by writing.
        guard requesting[index] == nil else { return [] }
        busy.remove(index)
        countInquiry(leg: index)
        let tries = payment.legs[index].inquiries
        record(
            .inquiry, leg: index,
            [
                AuditField("status", observation.status.rawValue),
                AuditField("began", observation.began.rfc3339),
                AuditField("reason", observation.contradiction ?? observation.reason ?? "-"),
            ] + payerFields(observation), context)
        // The planning that follows judges what was read; if it can only ask again, it sets the time for that.
        payment.legs[index].notBefore = askedMeanwhile.remove(index) == nil ? nil : context.now
        if let wanted = payment.legs[index].readWantedSince, observation.status != .unavailable,
            observation.began >= wanted
        {
            payment.legs[index].readWantedSince = nil
        }
        let disputes = payment.legs[index].openDisputes
        learn(observation, leg: index, context)
        heal(leg: index, observation, context)
        let alerts = alertOfDisputes(leg: index, besides: disputes)
        if noticeLateCharge(observation, leg: index, context) {
            return alerts + [alert(leg: index, "a charge appeared after the payment ended, and is undone")]
        }
        guard observation.isInDoubt, context.policy.inquirySchedule.isLast(tries), payment.legs[index].quarantine == nil
        else { return alerts }
        return alerts + [alert(leg: index, "a leg is still in doubt at the end of the inquiry schedule")]
    }

    func alert(leg index: Int, _ message: String) -> PaymentAction {
        .alert(Alert(payment: payment.id, leg: index, provider: payment.legs[index].provider, message: message))
    }

    /// A final payment keeps its state; what is held or taken after it was canceled or failed is undone by itself.
    private mutating func noticeLateCharge(
        _ observation: Observation, leg index: Int, _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        let isTold = context.contracts[leg.provider]?.inquiry == .byResend
        // What two people wrote off is accepted as it is.
        // Where nothing is asked, it is heard of while the other legs are still being undone, too.
        let isTurningBack =
            isTold && (payment.latch == .back || payment.latch == .compensate)
        guard payment.conclusion.map({ $0.state != .succeeded }) ?? isTurningBack, let gone = leg.gone,
            gone.code != Leg.Gone.writtenOff,
            observation.status == .authorized || observation.status == .captured,
            !StatusReading.isGivenBack(observation, leg: leg)
        else { return false }
        // What people saw undone at the provider would be given back once more.
        let isUndoneOutside = gone.code == Leg.Gone.byPeople && gone.cause == .status
        if !isUndoneOutside || !isTold { payment.legs[index].gone = nil }
        record(
            .alert, leg: index,
            [AuditField("what", "late charge"), AuditField("status", observation.status.rawValue)], context)
        return true
    }

    /// Takes in what the provider said.
    mutating func learn(_ observation: Observation, leg index: Int, _ context: MachineContext) {
        let leg = payment.legs[index]
        if observation.status == .unavailable, let known = leg.knowledge, known.status != .unavailable {
            return  // A failed read takes nothing away from what is known since the last request.
        }
        payment.legs[index].knowledge = observation
        if observation.status == .captured, !StatusReading.contradicts(observation, leg: leg) {
            payment.legs[index].capturedAmount = leg.capturedAmount(in: observation)
        }
        notePayerAction(observation, context)
        noteStanding(observation, leg: index)
        noteDisputes(observation, leg: index, context)
        forgetTrouble(observation, leg: index)
        if observation.status == .pending || observation.showsPendingMovement {
            payment.legs[index].conclusiveReads = 0  // It was there: no read has missed it.
            return
        }
        if observation.source == .inquiry, observation.status != .unavailable,
            observation.began >= shownFrom(leg, context)
        {
            payment.legs[index].conclusiveReads += 1
        }
    }

    /// What the provider shows as done is not tried any more.
    private mutating func forgetTrouble(_ observation: Observation, leg index: Int) {
        guard observation.contradiction == nil else { return }
        let done: [EffectReference] =
            switch observation.status {
            case .authorized: [.primary]
            case .captured: [.primary, .capture]
            case .voided, .tombstoned, .expired: [.primary, .capture, .void]
            case .notFound, .pending, .unavailable, .declined: []
            }
        for reference in done where effect(reference, ofLeg: index)?.troubledSince != nil {
            withEffect(reference, ofLeg: index) { $0.troubledSince = nil }
        }
    }

    private mutating func noteStanding(_ observation: Observation, leg index: Int) {
        let leg = payment.legs[index]
        guard observation.status == .authorized || observation.status == .captured,
            !StatusReading.contradicts(observation, leg: leg)
        else { return }
        if let until = observation.authorizedUntil { payment.legs[index].holdEnds = until }
        if payment.recovery == nil, leg.standsSince == nil { payment.legs[index].standsSince = observation.began }
    }

    /// From when on every read shows all that was accepted so far, and what was refused was refused for: once its
    /// provider's lag is over, by any of our clocks.
    func shownFrom(_ leg: Leg, _ context: MachineContext) -> Timestamp {
        var latest = payment.createdAt
        for reference in effectReferences(ofLeg: leg.index) {
            guard let effect = effect(reference, ofLeg: leg.index) else { continue }
            latest = max(latest, effect.acceptedAt ?? latest, effect.lastIntentAt ?? latest)
        }
        return latest + (contract(of: leg, context)?.proofMargin ?? .zero) + .milliseconds(1)
    }

    /// What had no effect so far may begin; it is asked about once more, because the last answer may be old.
    mutating func callerRepeated(_ context: MachineContext) {
        guard payment.conclusion == nil, let window = payment.recovery, window.repetition == .awaited else { return }
        payment.recovery = window.heard
        for index in payment.legs.indices where payment.legs[index].knowledge?.status == .notFound {
            payment.legs[index].knowledge = nil
            payment.legs[index].notBefore = nil
        }
        record(.operation, [AuditField("operation", "repeated")], context)
    }

    mutating func openRecovery(_ window: RecoveryWindow, _ context: MachineContext) {
        guard payment.conclusion == nil else { return openRecoveryOfRefunds(window, context) }
        payment.recovery = window
        payment.latchAcknowledged = context.commitsAreAcknowledged
        for index in payment.legs.indices {
            if !isTakenByPeople(leg: index) { payment.legs[index].capturedAmount = .zero(payment.amount.currency) }
            payment.legs[index].knowledge = nil
            payment.legs[index].quarantine = nil
            payment.legs[index].gone = nil
            payment.legs[index].loss = nil
            payment.legs[index].standsSince = nil
            payment.legs[index].readWantedSince = nil
            payment.legs[index].conclusiveReads = 0
            payment.legs[index].notBefore = nil
        }
        record(.recovery, [AuditField("reads_count_from", window.readsCountFrom.rfc3339)], context)
    }

    /// How the payment ended stays; what its refunds have come to is read again.
    private mutating func openRecoveryOfRefunds(_ window: RecoveryWindow, _ context: MachineContext) {
        guard payment.hasRefundUnderWay else { return }
        payment.recovery = window
        let parts = payment.refunds.flatMap(\.parts).filter { $0.state == .processing }
        for index in Set(payment.refundSearch?.legs ?? []).union(parts.map(\.leg)) {
            payment.legs[index].knowledge = nil
            payment.legs[index].conclusiveReads = 0
            payment.legs[index].notBefore = nil
        }
        record(.recovery, [AuditField("reads_count_from", window.readsCountFrom.rfc3339)], context)
    }
}

extension Leg {
    /// What an observation says was taken.
    func capturedAmount(in observation: Observation) -> Money {
        if isOnePhase { return observation.amount ?? amount }
        let taken = observation.captures.filter { $0.state == .succeeded }.map(\.amount)
        do {
            return try Money.sum(taken, in: amount.currency)
        } catch {
            return .zero(amount.currency)  // Another currency: the contradiction is found by the status fact.
        }
    }
}
