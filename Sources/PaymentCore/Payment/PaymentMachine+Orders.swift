extension PaymentMachine {
    /// Writes an intent and asks for the request, unless it is too early for that.
    mutating func send(
        _ reference: EffectReference, leg index: Int, by decided: Decided, because cause: Decided? = nil,
        _ actions: inout [PaymentAction], _ context: MachineContext
    ) {
        let leg = payment.legs[index]
        guard let contract = contract(of: leg, context), let effect = effect(reference, ofLeg: index) else { return }
        var earliest = leg.notBefore ?? context.now
        if effect.attempts > 0, effect.lastOutcome != .unsent, let last = effect.lastIntentAt {
            // However often a provider says that it did what it did not do, it is not asked in a tight loop.
            earliest = max(earliest, last + context.policy.resendSchedule.delay(effect.attempts - 1, jitter: 0))
        }
        guard context.now >= earliest, context.mayBegin else {
            return wake(at: max(earliest, context.now), for: leg.provider)
        }
        let expires = reference == .primary && contract.enforcesNotAfter
        let notAfter = expires ? context.now + contract.maxRequestLife : nil
        let wasDeclined =
            leg.knowledge?.status == .declined || effect.lastOutcome == .declined || effect.lastOutcome == .refused
        if payment.boundTo(leg) == nil { payment.legs[index].keySpace = contract.keySpace }
        var number = 0
        withEffect(reference, ofLeg: index) {
            number = $0.begin(at: context.now, notAfter: notAfter, wasDeclined: wasDeclined)
        }
        payment.legs[index].knowledge = nil
        payment.legs[index].conclusiveReads = 0
        payment.legs[index].notBefore = nil
        // What was in doubt before is no reason to look late at what is new.
        if effect.attempts == 0 { payment.legs[index].inquiries = 0 }
        busy.insert(index)
        requesting[index] = Request(effect: reference, number: number)
        record(
            .intent, leg: index,
            [
                AuditField("effect", reference.description), AuditField("kind", effect.kind.rawValue),
                AuditField("attempt", String(number)), AuditField("key", effect.key.text),
                AuditField("amount", effect.amount.description),
            ] + keySpaceFields(ofLeg: index) + decided.fields + (cause?.fieldsOfCause ?? []), context)
        actions.append(
            .send(
                SendOrder(
                    payment: payment.id, leg: index, effect: reference, number: number, provider: leg.provider,
                    kind: effect.kind, transactionKey: leg.primary.key, key: effect.key, amount: effect.amount,
                    instrument: leg.instrument, caller: payment.caller, reference: payment.reference,
                    notAfter: notAfter, startBefore: context.now + context.policy.sendWithin,
                    named: leg.named, phases: leg.phases,
                    transactionReference: leg.primary.theirs,
                    returnURL: reference == .primary ? payment.returnURL : nil)))
    }

    /// Where the request goes, if the provider keeps keys in more than one place.
    private func keySpaceFields(ofLeg index: Int) -> [AuditField] {
        payment.legs[index].keySpace.map { [AuditField("key_space", $0.name)] } ?? []
    }

    /// Reads the status of a leg now if it was never read since the last request, or when its time has come.
    mutating func ask(leg index: Int, _ actions: inout [PaymentAction], _ context: MachineContext) {
        let leg = payment.legs[index]
        // Nobody can be asked about a provider that is not configured; it is looked at again in case that is mended.
        guard !busy.contains(index), let contract = contract(of: leg, context) else { return }
        if leg.notBefore == nil, leg.knowledge != nil, !needsConfirmation(leg) {
            payment.legs[index].notBefore = context.now + inquiryDelay(leg, context)
        }
        var earliest = payment.legs[index].notBefore ?? context.now
        if let recovery = payment.recovery { earliest = max(earliest, recovery.readsCountFrom) }
        guard context.now >= earliest, context.mayBegin else {
            return wake(at: max(earliest, context.now), for: leg.provider)
        }
        if contract.inquiry == .byResend { return askBySending(leg: index, contract, &actions, context) }
        busy.insert(index)
        actions.append(
            .inquire(
                InquiryOrder(
                    payment: leg.named ?? payment.id, leg: index, provider: leg.provider,
                    transactionKey: leg.primary.key, phases: leg.phases,
                    transactionReference: leg.primary.theirs)))
    }

    /// Whether what is known of it is an answer that counts only once a read confirms it, because rows were lost, and
    /// no read was tried yet: every payment of a recovery window passes here, and waits for nothing else.
    private func needsConfirmation(_ leg: Leg) -> Bool {
        leg.inquiries == 0 && leg.knowledge?.source == .answer && leg.believed(in: payment.recovery) == nil
    }

    /// Carries out a decision that changes nothing yet.
    mutating func wait(
        _ decision: EffectDecision, _ effect: Effect, leg index: Int, _ actions: inout [PaymentAction],
        _ context: MachineContext
    ) {
        switch decision {
        case .awaitProof:
            guard let latest = latestNotAfter(effect), let contract = contract(of: payment.legs[index], context)
            else { return ask(leg: index, &actions, context) }
            let proven = latest + contract.proofMargin + .milliseconds(1)
            if payment.legs[index].notBefore == nil, payment.legs[index].knowledge != nil, context.now < proven {
                payment.legs[index].notBefore = proven
            }
            ask(leg: index, &actions, context)
        case .awaitLife:
            guard let contract = contract(of: payment.legs[index], context) else { return }
            let over = lifeEnds(effect, contract) + contract.proofMargin + .milliseconds(1)
            if context.now < over {
                payment.legs[index].notBefore = max(payment.legs[index].notBefore ?? over, over)
            }
            ask(leg: index, &actions, context)
        case .awaitCaller:
            break  // Its request, or its deadline.
        case .awaitListing, .awaitAcknowledgement:
            wake(at: nextLook(context), for: payment.legs[index].provider)
        default:
            ask(leg: index, &actions, context)
        }
    }

    /// What a comparison wants to be read is read, whatever the tables wait for.
    mutating func askAboutDifferences(_ actions: inout [PaymentAction], _ context: MachineContext) {
        for leg in payment.legs where leg.readWantedSince != nil && leg.quarantine == nil && leg.gone == nil {
            ask(leg: leg.index, &actions, context)
        }
    }

    /// Refunds that were asked for, one after the other for each leg.
    mutating func planRefunds(_ actions: inout [PaymentAction], _ context: MachineContext) {
        guard payment.conclusion?.state == .succeeded else { return }
        for refundIndex in payment.refunds.indices where !payment.refunds[refundIndex].state.isFinal {
            for part in payment.refunds[refundIndex].parts.indices
            where payment.refunds[refundIndex].parts[part].state == .processing {
                planRefund(refundIndex, part, &actions, context)
            }
            takeShown(refundIndex, context)
            recordEnd(of: payment.refunds[refundIndex], context)
        }
    }

    /// Records how a refund ended, once it has.
    mutating func recordEnd(of refund: Refund, _ context: MachineContext) {
        guard refund.state.isFinal else { return }
        record(
            .refund,
            [
                AuditField("refund", refund.id(of: payment)), AuditField("state", refund.state.rawValue),
            ], context)
    }

    private mutating func planRefund(
        _ refundIndex: Int, _ part: Int, _ actions: inout [PaymentAction], _ context: MachineContext
    ) {
        let refund = payment.refunds[refundIndex].parts[part]
        let leg = payment.legs[refund.leg]
        guard !busy.contains(leg.index), !payment.isSearched(leg: leg.index),
            let contract = contract(of: leg, context)
        else { return }
        if contract.refundVisibility == .sumsOnly {
            switch overlap(refundIndex, leg: leg.index) {
            case .processing: return
            case .quarantined:
                // Whoever resolves the one before it resolves this one too; it must not wait in silence.
                return quarantineRefund(
                    refundIndex, part, .refundInDoubt, by: Decided("refund.behind-quarantine"), &actions, context)
            default: break
            }
        }
        if needsSumFirst(refund.effect, contract) {
            // A read that does not show the refund before this one yet would take both for somebody else's.
            let shown = max(payment.refunds[refundIndex].createdAt, shownFrom(leg, context))
            guard let sum = knownSum(leg), let began = leg.knowledge?.began, began >= shown else {
                if let (cause, row) = noSum(of: leg, since: shown) {
                    return quarantineRefund(refundIndex, part, cause, by: Decided(row), &actions, context)
                }
                if leg.notBefore == nil, leg.inquiries == 0 {
                    payment.legs[leg.index].notBefore = max(context.now, shown)
                }
                return ask(leg: leg.index, &actions, context)
            }
            payment.refunds[refundIndex].parts[part].effect.sumBefore = sum
        }
        if isPerhapsGiven(payment.refunds[refundIndex].parts[part].effect, leg, contract) {
            return quarantineRefund(
                refundIndex, part, .refundInDoubt, by: Decided("refund.sum-unexplained"), &actions, context)
        }
        let (decision, decided) = decide(
            .refund(refundIndex), refund.effect, leg: leg, goal: .do, contract, context)
        switch decision {
        case .done:
            payment.refunds[refundIndex].parts[part].state = .succeeded
            // It was executed by now at the latest, long after it was sent perhaps. A read may still miss it, and the
            // sum before the next refund must not.
            if refund.effect.acceptedAt == nil {
                payment.refunds[refundIndex].parts[part].effect.acceptedAt = context.now
            }
        case .sendFirst, .sendAgain:
            send(.refund(refundIndex), leg: leg.index, by: decided, &actions, context)
        case .gone(let cause):
            payment.refunds[refundIndex].parts[part].state = .failed
            // Nothing but a dispute keeps a refund from being sent, and the provider refuses because of it too.
            let isDisputed = !leg.openDisputes.isEmpty && refund.effect.lastOutcome == .refused
            payment.refunds[refundIndex].parts[part].reason =
                cause == .neverSent || isDisputed
                ? Dispute.code
                : leg.knowledge?.refunds.first { $0.key == refund.effect.key }?.reason ?? refund.effect.lastCode
        case .quarantine(let cause):
            quarantineRefund(refundIndex, part, cause, by: decided, &actions, context)
        default:
            wait(decision, refund.effect, leg: leg.index, &actions, context)
        }
    }

    /// Where only sums are shown, a refund is known by the difference that it makes: the sum before it must be known.
    func needsSumFirst(_ effect: Effect, _ contract: ProviderContract) -> Bool {
        contract.refundVisibility == .sumsOnly && effect.kind == .refund && effect.sumBefore == nil
    }

    /// Whether a refund may be among what was given back before it was asked for here, by a request of a lost row, and
    /// its provider may have forgotten the key. Where only sums are shown, no comparison tells more.
    private func isPerhapsGiven(_ refund: Effect, _ leg: Leg, _ contract: ProviderContract) -> Bool {
        guard payment.mayHaveLostRequests, contract.safeResendAge != nil, refund.attempts == 0,
            let sum = refund.sumBefore
        else { return false }
        return showsMore(sum, thanRefundedOf: leg)
    }

    /// Why a leg that was captured has no sum to tell a refund by, where reads that cannot be stale agree on that.
    private func noSum(of leg: Leg, since shown: Timestamp) -> (QuarantineCause, row: String)? {
        guard let known = leg.knowledge, leg.conclusiveReads >= 2 else { return nil }
        switch known.status {
        case .captured, .pending, .unavailable: return nil
        // Its provider has forgotten it.
        case .notFound: return (.acceptedButMissing, "refund.sum-forgotten")
        // Another transaction has taken its place under the key (seed 352418908).
        case .authorized, .declined, .voided, .tombstoned, .expired:
            return known.began >= shown && leg.inquiries >= 2 ? (.contradiction, "refund.not-captured") : nil
        }
    }

    /// What was given back of a leg so far, if that was read since the last request.
    func knownSum(_ leg: Leg) -> Int64? {
        guard let known = leg.believed(in: payment.recovery), known.status == .captured else { return nil }
        return StatusReading.givenBack(known)
    }

    private mutating func quarantineRefund(
        _ refundIndex: Int, _ part: Int, _ cause: QuarantineCause, by decided: Decided,
        _ actions: inout [PaymentAction],
        _ context: MachineContext
    ) {
        payment.refunds[refundIndex].parts[part].state = .quarantined
        payment.refunds[refundIndex].parts[part].reason = cause.rawValue
        let leg = payment.legs[payment.refunds[refundIndex].parts[part].leg]
        record(
            .quarantined, leg: leg.index,
            [
                AuditField("effect", EffectReference.refund(refundIndex).description),
                AuditField("cause", cause.rawValue),
            ] + decided.fields, context)
        actions.append(
            .alert(
                Alert(payment: payment.id, leg: leg.index, provider: leg.provider, message: "a refund is quarantined")))
    }

    /// The state of another refund of the leg that comes first: one that was asked for before, or that is under way.
    /// One that only waits for its turn counts as well: the sum that is read now is not the sum before the next.
    private func overlap(_ refundIndex: Int, leg index: Int) -> RefundState? {
        let others = payment.refunds.indices.filter { $0 != refundIndex }.flatMap { other in
            payment.refunds[other].parts.filter { other < refundIndex || $0.effect.attempts > 0 }
        }
        return others.first { $0.leg == index && !$0.state.isFinal }?.state
    }
}
