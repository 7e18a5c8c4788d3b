// What is known of a leg whose provider cannot be asked (`inquiry: by_resend`).
//
// Its status is put together from what the provider said of each effect: in the answer to a request, which an
// idempotent key gives again, or by its own news. Only what nobody answered is in doubt, and is sent again under its
// key.

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

    /// Whether nobody knows what became of an effect whose provider cannot be asked.
    func isInDoubt(_ reference: EffectReference, leg index: Int, _ context: MachineContext) -> Bool {
        guard isAskedByResend(leg: index, context), let contract = contract(of: payment.legs[index], context) else {
            return false
        }
        return effect(reference, ofLeg: index)?.isInDoubt(contract) ?? false
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
        if let seen, StatusReading.contradicts(seen, leg: payment.legs[index]) {
            return learn(seen, leg: index, context)
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
        switch decision {
        case .sendAgain, .plug:
            send(reference, leg: index, by: decided, &actions, context)
        case .quarantine(let cause) where leg.quarantine == nil && reference.purpose != .refund:
            quarantine(reference, leg: index, cause: cause, by: decided, &actions, context)
            wake(at: context.now, for: leg.provider)
        default:
            // Whoever wants something of the leg carries it out.
            wake(at: nextLook(context), for: leg.provider)
        }
    }

    /// A provider told what became of an effect. It counts where the provider cannot be asked; elsewhere the status is
    /// read.
    mutating func notified(leg index: Int, _ news: EffectNews, _ context: MachineContext) -> [PaymentAction] {
        guard isAskedByResend(leg: index, context), let contract = contract(of: payment.legs[index], context) else {
            return []
        }
        var fields = [
            AuditField("operation", "notified"), AuditField("state", news.word.state.rawValue),
            AuditField("at", news.word.at.rfc3339), AuditField("reference", news.reference ?? "-"),
        ]
        if let reason = news.word.reason { fields.append(AuditField("code", reason)) }
        guard let reference = effectReference(of: news, leg: index), let effect = effect(reference, ofLeg: index) else {
            record(
                .operation, leg: index,
                fields + [AuditField("kind", news.kind.rawValue), AuditField("believed", "no")], context)
            return [alert(leg: index, "the provider tells of a change that was not asked for here")]
        }
        fields.append(AuditField("effect", reference.description))
        // After lost rows the row of its request may be the one that is missing.
        let wasSent = effect.attempts > 0 || payment.recovery != nil
        guard wasSent, news.amount == nil || news.amount == effect.amount else {
            record(.operation, leg: index, fields + [AuditField("believed", "no")], context)
            return [alert(leg: index, "a notification does not fit what was sent: look at the provider's own books")]
        }
        let before = effect.word
        var word = news.word
        word.isTold = true
        withEffect(reference, ofLeg: index) {
            $0.hear(word)
            $0.theirs = $0.theirs ?? news.reference
        }
        guard let after = self.effect(reference, ofLeg: index)?.word, after != before else { return [] }
        record(.operation, leg: index, fields, context)
        liftQuarantine(leg: index, about: reference, context)
        guard !busy.contains(index) else { return [] }
        payment.legs[index].knowledge = nil
        var actions: [PaymentAction] = []
        if let seen = readFromRows(leg: index, contract, began: context.now) {
            actions += inquired(leg: index, seen, context)
        }
        if let message = reversal(of: reference, after, leg: index) {
            actions.append(alert(leg: index, message))
        }
        return actions
    }

    /// Which effect of a leg news are about: by the provider's reference, by its own key, or, where the key of the
    /// transaction is all that they name, the capture or void that has no reference yet.
    private func effectReference(of news: EffectNews, leg index: Int) -> EffectReference? {
        let known = effectReferences(ofLeg: index).compactMap { reference in
            effect(reference, ofLeg: index).map { (reference, $0) }
        }
        let sameKind = known.filter { $0.1.kind.isSame(as: news.kind) }
        if let named = news.reference, let found = sameKind.first(where: { $0.1.theirs == named }) { return found.0 }
        // What is known under another reference is another transaction, whatever key it names.
        let open = sameKind.filter { $0.1.theirs == nil || news.reference == nil }
        if let found = open.first(where: { $0.1.key == news.key }) { return found.0 }
        // A refund that names only its payment may be anybody's.
        guard news.key == payment.legs[index].primary.key, news.kind != .refund else { return nil }
        let sent = open.filter { $0.1.attempts > 0 }
        return sent.count == 1 ? sent[0].0 : nil
    }

    /// People were asked because nobody could tell what became of an effect; its provider has told.
    private mutating func liftQuarantine(leg index: Int, about reference: EffectReference, _ context: MachineContext) {
        var isLifted = false
        if let quarantine = payment.legs[index].quarantine, quarantine.cause == .keyTooOld,
            quarantine.effect == reference
        {
            payment.legs[index].quarantine = nil
            payment.legs[index].notBefore = nil
            isLifted = true
        }
        if case .refund(let refundIndex) = reference {
            for part in payment.refunds[refundIndex].parts.indices
            where payment.refunds[refundIndex].parts[part].leg == index
                && payment.refunds[refundIndex].parts[part].state == .quarantined
                && payment.refunds[refundIndex].parts[part].reason == QuarantineCause.keyTooOld.rawValue
            {
                payment.refunds[refundIndex].parts[part].state = .processing
                payment.refunds[refundIndex].parts[part].reason = nil
                isLifted = true
            }
        }
        guard isLifted else { return }
        record(
            .decision, leg: index,
            [AuditField("row", "notified.settles"), AuditField("decision", "quarantine lifted")], context)
    }

    /// What people are told where something ended otherwise than the payment or the refund did; `nil` where it did not.
    private func reversal(of reference: EffectReference, _ word: ProviderWord, leg index: Int) -> String? {
        let isDone = word.state == .succeeded
        let isReversed: Bool
        switch reference {
        case .primary, .capture: isReversed = !isDone && payment.conclusion?.state == .succeeded
        case .void, .compensation: isReversed = !isDone && payment.conclusion != nil
        case .refund(let refundIndex):
            let ended: RefundState = isDone ? .failed : .succeeded
            isReversed = payment.refunds[refundIndex].parts.contains { $0.leg == index && $0.state == ended }
        }
        guard isReversed else { return nil }
        return isDone
            ? "a refund that had failed was made after all" : "the provider took back what it had said was done"
    }

    /// A leg's transaction as the provider's words make it; `nil` as long as anything of it is in doubt.
    func readFromRows(leg index: Int, _ contract: ProviderContract, began: Timestamp) -> Observation? {
        guard effectInDoubt(ofLeg: index, contract) == nil, payment.recovery?.listingCompared ?? true else { return nil }
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

extension EffectKind {
    /// Whether a provider may mean the same by both: what it holds and what it takes at once are authorizations to some.
    fileprivate func isSame(as other: EffectKind) -> Bool {
        let beginnings: Set<EffectKind> = [.authorize, .sale]
        return self == other || beginnings.isSuperset(of: [self, other])
    }
}

extension Effect {
    /// Whether nobody knows what became of its requests, where that is learned by sending again.
    ///
    /// A refusal that names the key settles it, since a key that stands for something is answered by that. But a copy of
    /// an earlier request may arrive after it: it counts only where it was sent after the life of all before it. One of
    /// our credentials says nothing of the key.
    func isInDoubt(_ contract: ProviderContract) -> Bool {
        guard word == nil else { return false }
        if open != nil { return true }
        let left = attempts - (unsent ?? 0)
        guard left > 0, worst > .throttled, keyConflicts != true else { return false }
        guard lastOutcome == .refused, isRefusalKeyless != true else { return worst == .indeterminate || left > 1 }
        if isCredentialRefusal == true { return true }
        guard left > 1 else { return false }
        guard let earlier = earlierIntentAt, let last = lastIntentAt else { return true }
        return last - earlier <= contract.maxRequestLife + contract.clockSkew
    }

    /// As a provider lists it.
    fileprivate var movement: Observation.Movement? {
        word.map { Observation.Movement(key: key, amount: amount, state: $0.state, reason: $0.reason) }
    }

    /// Takes a word in, unless a newer one is known.
    mutating func hear(_ news: ProviderWord) {
        guard let known = word else { return word = news }
        // The answer that a key keeps says what was so at first, and every end is newer than that. Two ends follow each
        // other by the provider's clock, which may count in seconds: then what went wrong came last. People's word gives
        // way.
        guard news.state != .pending else { return }
        // What a key was answered at first may be older than its request.
        if known.isTold == true, known.state != .pending, news.isTold != true { return }
        let isNewer = news.at > known.at || news.at == known.at && news.state == .declined
        if known.state == .pending || known.reason == Leg.Gone.byPeople || isNewer { word = news }
    }

    /// What an answer says of what the effect's key stands for; `nil` where it says nothing that binds.
    fileprivate func word(in report: AttemptReport, at: Timestamp) -> ProviderWord? {
        switch report.outcome {
        case .declined:
            return report.namesKey
                ? ProviderWord(.declined, reason: report.observation?.reason ?? report.code, at: at) : nil
        case .accepted: return ProviderWord(state(in: report.observation), at: at)
        case .unsent, .throttled, .refused, .indeterminate: return nil
        }
    }

    /// What an answer that accepts the request shows of the effect.
    private func state(in seen: Observation?) -> Observation.Movement.State {
        guard let seen else { return .pending }
        switch kind {
        case .authorize, .sale: return seen.status == .pending ? .pending : .succeeded
        case .capture: return seen.captures.first { $0.key == key }?.state ?? .pending
        case .refund: return seen.refunds.first { $0.key == key }?.state ?? .pending
        case .void: return [.voided, .tombstoned, .expired, .declined].contains(seen.status) ? .succeeded : .pending
        }
    }
}
