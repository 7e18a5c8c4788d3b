// What is known of a leg whose provider cannot be asked (`inquiry: by_resend`).
//
// Its status is put together from what the provider said of each effect: in the answer to a request, which an
// idempotent key gives again, or by its own news. What nobody answered is in doubt, and is sent again under its key. So
// is what was answered by something else than was asked.

extension PaymentMachine {
    /// Whether a leg's status is learned by sending again.
    func isAskedByResend(leg index: Int, _ context: MachineContext) -> Bool {
        payment.legs.indices.contains(index) && contract(of: payment.legs[index], context)?.inquiry == .byResend
    }

    /// The effect of a leg of which nobody knows what became; the one that was sent first, if there are several.
    /// Refunds that people decide about are theirs.
    func effectInDoubt(ofLeg index: Int, _ contract: ProviderContract) -> EffectReference? {
        effectReferences(ofLeg: index).first { reference in
            guard effect(reference, ofLeg: index)?.isInDoubt(contract) == true else { return false }
            switch reference {
            // What was canceled is not there, whatever its own request came to.
            case .primary: return payment.legs[index].void?.word?.state != .succeeded
            case .refund(let refundIndex):
                return payment.refunds[refundIndex].parts.contains { $0.leg == index && $0.state == .processing }
            case .capture, .void, .compensation: return true
            }
        }
    }

    /// The effect of a leg whose end the provider has not told.
    func unconfirmedEffect(ofLeg index: Int) -> EffectReference? {
        effectReferences(ofLeg: index).first { effect($0, ofLeg: index)?.word?.state == .pending }
    }

    /// Whether nobody knows what became of an effect whose provider cannot be asked.
    func isInDoubt(_ reference: EffectReference, leg index: Int, _ context: MachineContext) -> Bool {
        guard isAskedByResend(leg: index, context), let contract = contract(of: payment.legs[index], context) else {
            return false
        }
        return effect(reference, ofLeg: index)?.isInDoubt(contract) ?? false
    }

    /// Whether people decide about a leg of which nobody can read anything: the other legs do not wait for that.
    /// Without a latch at least one of them must have been read: a payment of which everything was captured, as lost
    /// rows may have told, is not turned back.
    func isLeftUnread(_ leg: Leg, _ context: MachineContext) -> Bool {
        guard leg.quarantine != nil, isAskedByResend(leg: leg.index, context) else { return false }
        return payment.latch != .none || payment.legs.contains { isFreshlyRead($0) }
    }

    /// Knows what the rows tell of each leg of which nothing is in doubt or under way. Not after lost rows, before both
    /// sides' listings were compared.
    mutating func learnFromRows(_ context: MachineContext) {
        for index in payment.legs.indices where payment.legs[index].knowledge == nil && !busy.contains(index) {
            guard isAskedByResend(leg: index, context), payment.legs[index].quarantine == nil,
                let contract = contract(of: payment.legs[index], context),
                let seen = readFromRows(leg: index, contract, began: context.now)
            else { continue }
            learn(seen, leg: index, context)
        }
    }

    /// Takes in the answer to a request.
    mutating func learn(
        from report: AttemptReport, of reference: EffectReference, leg index: Int, _ context: MachineContext
    ) {
        guard let effect = effect(reference, ofLeg: index), let contract = contract(of: payment.legs[index], context)
        else { return }
        var seen = report.observation
        if let theirs = effect.theirs, let shown = report.reference, theirs != shown {
            seen?.contradiction = "another_reference"
        }
        if var contradicting = seen, StatusReading.contradicts(contradicting, leg: payment.legs[index]) {
            // Where sending is how it is asked, the answer counts as one to an inquiry, also after lost rows.
            contradicting.source = .inquiry
            return learn(contradicting, leg: index, context)
        }
        let at = seen?.began ?? context.now
        if let word = effect.word(in: report, at: at) {
            withEffect(reference, ofLeg: index) { $0.hear(word) }
        }
        if report.outcome == .accepted, seen?.status == .declined, reference == .void {
            // There was nothing to release: what it is about was declined, and its own answer was lost.
            payment.legs[index].primary.hear(ProviderWord(.declined, reason: seen?.reason, at: at))
        }
        if let until = seen?.authorizedUntil { payment.legs[index].holdEnds = until }
        if let known = readFromRows(leg: index, contract, began: at) { learn(known, leg: index, context) }
    }

    /// Learns the status by sending again what is in doubt, as the effect table decides, or else looks at the rows
    /// again at a later time.
    mutating func askBySending(
        leg index: Int, _ contract: ProviderContract, _ actions: inout [PaymentAction], _ context: MachineContext
    ) {
        let leg = payment.legs[index]
        guard payment.recovery?.listingCompared ?? true else {
            return wake(at: nextLook(context), for: leg.provider)
        }
        guard let reference = effectInDoubt(ofLeg: index, contract), let effect = effect(reference, ofLeg: index) else {
            guard let seen = readFromRows(leg: index, contract, began: context.now) else { return }
            actions += inquired(leg: index, seen, context)
            return wake(at: context.now, for: leg.provider)
        }
        let goal: EffectGoal =
            reference == .primary && (payment.latch == .back || payment.latch == .compensate) ? .undo : .do
        let (decision, decided) = decide(reference, effect, leg: leg, goal: goal, contract, context)
        // What undoes a leg is sent because the leg shall not stand: the trail keeps that decision too.
        let undoes = reference == .void || reference == .compensation
        let cause = undoes ? decide(.primary, leg.primary, leg: leg, goal: .undo, contract, context).1 : nil
        switch decision {
        case .sendAgain, .plug:
            send(reference, leg: index, by: decided, because: cause, &actions, context)
        case .quarantine(let cause) where leg.quarantine == nil && reference.purpose != .refund:
            quarantine(reference, leg: index, cause: cause, by: decided, &actions, context)
            wake(at: context.now, for: leg.provider)
        default:
            // Whoever wants something of the leg carries it out.
            wake(at: nextLook(context), for: leg.provider)
        }
    }

    /// A request that leaves in doubt what it was to tell counts as an inquiry: the next one waits as another would.
    mutating func countAsInquiry(_ reference: EffectReference, leg index: Int, _ context: MachineContext) {
        guard isInDoubt(reference, leg: index, context) else { return forgetNextTry(reference, leg: index) }
        let delay = context.policy.inquirySchedule.delay(payment.legs[index].inquiries, jitter: context.jitter)
        payment.legs[index].notBefore = max(payment.legs[index].notBefore ?? context.now, context.now + delay)
        payment.legs[index].inquiries += 1
    }

    /// How an effect ended is not asked for once its provider has told it, whatever answer came after that, and what
    /// follows does not wait. It does where the provider wants to be left alone.
    private mutating func forgetNextTry(_ reference: EffectReference, leg index: Int) {
        guard let effect = effect(reference, ofLeg: index), let outcome = effect.lastOutcome, outcome > .throttled,
            let word = effect.word, word.state != .pending
        else { return }
        payment.legs[index].notBefore = nil
    }

    /// Two people say that a leg was taken: where nothing is asked, their word stands for the provider's, until the
    /// provider tells otherwise.
    mutating func hear(
        _ evidence: Repair.Evidence, about reference: EffectReference, ofLeg index: Int, _ context: MachineContext
    ) {
        guard isAskedByResend(leg: index, context) else { return }
        // What is asked of the transaction later names it by this.
        withEffect(reference, ofLeg: index) { $0.theirs = $0.theirs ?? evidence.reference }
        for taking in [EffectReference.primary, .capture] {
            withEffect(taking, ofLeg: index) {
                $0.word = ProviderWord(.succeeded, reason: Leg.Gone.byPeople, at: context.now)
            }
        }
        guard payment.legs[index].void?.word?.state == .pending else { return }
        withEffect(.void, ofLeg: index) {
            $0.word = ProviderWord(.declined, reason: Leg.Gone.byPeople, at: context.now)
        }
    }

    /// Whether two people's word is all that tells of what was taken of a leg. Where nothing can be read again, it
    /// stays like every word that was heard, also over a loss of rows.
    func isTakenByPeople(leg index: Int) -> Bool {
        let leg = payment.legs[index]
        return leg.primary.word?.reason == Leg.Gone.byPeople && leg.capture?.word == nil
    }

    /// What people said was taken before there was a capture stands for the capture's own end.
    mutating func hearPeople(ofCapture index: Int, _ context: MachineContext) {
        guard isAskedByResend(leg: index, context), !payment.legs[index].capturedAmount.isZero else { return }
        withEffect(.capture, ofLeg: index) {
            $0.word = ProviderWord(.succeeded, reason: Leg.Gone.byPeople, at: context.now)
        }
    }

    /// A leg's transaction as the provider's words make it; `nil` as long as anything of it is in doubt.
    func readFromRows(leg index: Int, _ contract: ProviderContract, began: Timestamp) -> Observation? {
        guard effectInDoubt(ofLeg: index, contract) == nil, payment.recovery?.listingCompared ?? true else {
            return nil
        }
        let leg = payment.legs[index]
        let status = statusFromRows(leg)
        guard status != .notFound, status != .tombstoned else {
            return Observation(status, began: began, source: .inquiry, key: leg.primary.key)
        }
        var seen = Observation(
            status, began: began, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            authorizedUntil: leg.holdEnds,
            reason: status == .declined ? leg.primary.word?.reason ?? leg.primary.lastCode : nil)
        seen.captures = [leg.capture].compactMap { $0?.movement }
        if status == .captured, seen.captures.isEmpty, !leg.isOnePhase {
            // Two people say that it was captured.
            seen.captures = [
                Observation.Movement(key: leg.primary.key, amount: leg.capturedAmount, state: .succeeded)
            ]
        }
        let refunds = payment.refunds.flatMap(\.parts).filter { $0.leg == index }.map(\.effect)
        seen.refunds = ([leg.compensation].compactMap { $0 } + refunds).compactMap(\.movement)
        return seen
    }

    private func statusFromRows(_ leg: Leg) -> Observation.Status {
        if leg.primary.word?.state == .declined { return .declined }
        let isReleased = leg.void?.word?.state == .succeeded
        // A capture that was done all the same is what stands.
        if isReleased, leg.capture?.word?.state != .succeeded {
            return leg.primary.word == nil ? .tombstoned : .voided
        }
        // Two people say that it was captured; the provider's own word takes the place of theirs.
        let isTakenByWord = !leg.capturedAmount.isZero && leg.capture?.word == nil
        switch leg.primary.word?.state {
        case nil where !isTakenByWord: return .notFound
        case .pending: return .pending
        case .declined, .succeeded, nil: break
        }
        // What is under way either way may end either way.
        let isUnderWay = leg.void?.word?.state == .pending && !isReleased
        if isUnderWay || leg.capture?.word?.state == .pending { return .pending }
        let isTaken = leg.isOnePhase || leg.capture?.word?.state == .succeeded || isTakenByWord
        return isTaken ? .captured : .authorized
    }
}
