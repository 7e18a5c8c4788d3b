extension PaymentMachine {
    /// Carries out only those decisions on an effect that change the leg; `true` if there was one.
    mutating func judge(
        _ reference: EffectReference, leg index: Int, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        guard !busy.contains(index), leg.quarantine == nil, let effect = effect(reference, ofLeg: index),
            let contract = contract(of: leg, context)
        else { return false }
        switch decide(reference, effect, leg: leg, goal: .do, contract, context).decision {
        case .gone, .goneAfterUndo, .quarantine: return pursue(reference, leg: index, &actions, context)
        default: return false
        }
    }

    /// Makes an effect happen, as the effect table decides; `true` if the leg changed in a way that the payment table
    /// must see.
    ///
    /// - Parameter cause: The decision on the leg for which there is such an effect, where there is one.
    mutating func pursue(
        _ reference: EffectReference, leg index: Int, because cause: Decided? = nil,
        _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        guard !busy.contains(index), leg.quarantine == nil, let effect = effect(reference, ofLeg: index),
            let contract = contract(of: leg, context)
        else { return false }
        let (decision, decided) = decide(reference, effect, leg: leg, goal: .do, contract, context)
        switch decision {
        case .done:
            return false
        case .sendFirst, .sendAgain:
            send(reference, leg: index, by: decided, because: cause, &actions, context)
            return false
        case .gone(let cause):
            return lose(reference, leg: index, cause: cause, by: decided, &actions, context)
        case .goneAfterUndo:
            return lose(reference, leg: index, cause: nil, by: decided, &actions, context)
        case .quarantine(let cause):
            quarantine(reference, leg: index, cause: cause, by: decided, &actions, context)
            return true
        default:
            wait(decision, effect, leg: index, &actions, context)
            return false
        }
    }

    /// Makes a leg not stand, as the effect table decides; `true` if the leg changed in a way that the payment table
    /// must see.
    mutating func undo(
        leg index: Int, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        guard !busy.contains(index), leg.quarantine == nil, let contract = contract(of: leg, context) else {
            return false
        }
        let (decision, decided) = decide(.primary, leg.primary, leg: leg, goal: .undo, contract, context)
        switch decision {
        case .gone(let cause):
            setGone(leg: index, cause: cause, by: decided, context)
            return true
        case .void, .cancel:
            return pursueVoid(leg: index, because: decided, &actions, context)
        case .refund:
            if isTakenByWord(leg), contract.inquiry != .byResend {
                askInstead(leg: index, &actions, context)
                return false
            }
            if reversesSale(leg, contract, context) {
                return reverse(leg: index, because: decided, &actions, context)
            }
            registerCompensation(leg: index, context)
            if let compensation = payment.legs[index].compensation, needsSumFirst(compensation, contract) {
                let sum = knownSum(leg)
                payment.legs[index].compensation?.sumBefore = sum
            }
            return pursue(.compensation, leg: index, because: decided, &actions, context)
        case .plug, .sendFirst, .sendAgain:
            send(.primary, leg: index, by: decided, &actions, context)
            return false
        case .quarantine(let cause):
            let effect = cause == .captureRequestLost ? EffectReference.capture : .primary
            quarantine(effect, leg: index, cause: cause, by: decided, &actions, context)
            return true
        default:
            wait(decision, leg.primary, leg: index, &actions, context)
            return false
        }
    }

    /// Captures a leg's asked amount, or releases a leg of which nothing is to be captured.
    mutating func complete(
        leg index: Int, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        let asked = askedAmount(of: leg)
        if asked.isZero { return undo(leg: index, &actions, context) }
        if leg.isOnePhase { return pursue(.primary, leg: index, &actions, context) }
        if leg.capture == nil {
            let operation = payment.capture?.key ?? payment.key
            payment.legs[index].capture = Effect(
                kind: .capture, key: effectKey(.capture, operation: operation, leg: leg, context), amount: asked)
            hearPeople(ofCapture: index, context)
        }
        return pursue(.capture, leg: index, &actions, context)
    }

    /// Whether a leg was captured though nobody asked for that here, and nobody asked to cancel: its hold ran out, or
    /// its deadline passed. Whoever captured it may want to keep it, which people find out.
    func isCapturedOutside(_ leg: Leg) -> Bool {
        payment.captureMode == .manual && payment.capture == nil && payment.cancel == nil && !leg.isOnePhase
            && payment.recovery == nil && payment.conclusion == nil && payment.latch == .back
            && leg.compensation == nil
    }

    /// Whether nobody but two people says that it was taken. They may be wrong: what is given back by their word alone
    /// may be a hold (seed 14691216571).
    private func isTakenByWord(_ leg: Leg) -> Bool {
        leg.compensation == nil && leg.knowledge?.reason == Leg.Gone.byPeople
    }

    /// The provider's own answer takes the place of what people said.
    private mutating func askInstead(leg index: Int, _ actions: inout [PaymentAction], _ context: MachineContext) {
        payment.legs[index].knowledge = nil
        payment.legs[index].capturedAmount = .zero(payment.amount.currency)
        ask(leg: index, &actions, context)
    }

    private mutating func pursueVoid(
        leg index: Int, because cause: Decided, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        if payment.legs[index].void == nil { registerVoid(leg: index, context) }
        return pursue(.void, leg: index, because: cause, &actions, context)
    }

    /// A reversal is of the whole sale, whatever was given back of it at the provider's console since it was read last:
    /// it is read once more before.
    private mutating func reverse(
        leg index: Int, because cause: Decided, _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        if payment.legs[index].void == nil {
            registerVoid(leg: index, context)
            payment.legs[index].readWantedSince = context.now
            payment.legs[index].notBefore = context.now
        }
        guard payment.legs[index].readWantedSince == nil || payment.legs[index].void?.attempts != 0 else {
            ask(leg: index, &actions, context)
            return false
        }
        return pursue(.void, leg: index, because: cause, &actions, context)
    }

    private mutating func registerVoid(leg index: Int, _ context: MachineContext) {
        let leg = payment.legs[index]
        payment.legs[index].void = Effect(
            kind: .void, key: effectKey(.void, operation: payment.key, leg: leg, context), amount: leg.amount)
    }

    private func reversesSale(_ leg: Leg, _ contract: ProviderContract, _ context: MachineContext) -> Bool {
        guard leg.isOnePhase, contract.cancelReversesSale, leg.compensation == nil else { return false }
        // A reversal is of the whole sale. What was given back of it, or may have been, would be given back twice.
        let isRefunded =
            leg.knowledge?.refunds.contains { $0.state != .declined } ?? false
            || payment.refunds.contains { refund in
                refund.parts.contains { $0.leg == leg.index && $0.state != .failed }
            }
        if isRefunded { return false }
        // A provider that will not reverse it any more can still give it back.
        if leg.void?.lastOutcome == .declined || leg.void?.lastOutcome == .refused { return false }
        guard let deadline = contract.cancelDeadline else { return true }
        return context.now < (leg.primary.firstIntentAt ?? payment.createdAt) + deadline
    }

    /// The refund that undoes a leg: what was taken less what was given back already, fixed when it is first decided.
    mutating func registerCompensation(leg index: Int, _ context: MachineContext) {
        let leg = payment.legs[index]
        guard leg.compensation == nil, let known = leg.knowledge else { return }
        let taken = leg.capturedAmount(in: known)
        let amount: Money
        do {
            let given = try Money.sum(
                known.refunds.filter { $0.state == .succeeded }.map(\.amount), in: taken.currency)
            amount = try taken.subtracting(given)
        } catch {
            return  // More was given back than taken: the status fact says refunded, and this is not reached.
        }
        payment.legs[index].compensation = Effect(
            kind: .refund, key: effectKey(.refund, operation: payment.key, leg: leg, context), amount: amount)
    }

    /// An effect that was wanted cannot be had.
    private mutating func lose(
        _ reference: EffectReference, leg index: Int, cause: GoneCause?, by decided: Decided,
        _ actions: inout [PaymentAction], _ context: MachineContext
    ) -> Bool {
        let leg = payment.legs[index]
        let code = leg.knowledge?.reason ?? effect(reference, ofLeg: index)?.lastCode
        let reason =
            endOfHold(leg, cause) ?? Reason(lossCode(leg, cause), detail: code.map { "leg \(index): \($0)" })
        switch reference {
        case .primary:
            payment.legs[index].loss = .primary(reason)
            if let cause {
                setGone(leg: index, cause: cause, by: decided, context)
            } else {
                record(.decision, leg: index, decided.fields + [AuditField("decision", "lost")], context)
            }
        case .capture:
            payment.legs[index].loss = .capture(Reason(.captureUnavailable, detail: reason.detail))
            record(.decision, leg: index, decided.fields + [AuditField("decision", "capture lost")], context)
        case .void, .compensation, .refund:
            return false  // The effect table gives what undoes to people, and refunds are planned by themselves.
        }
        return true
    }

    /// Why a hold ended that waited for its caller. Somebody voided it: its caller, by a cancel of which a restored row
    /// does not tell, or people at the provider. That is a cancel, and no failure.
    private func endOfHold(_ leg: Leg, _ cause: GoneCause?) -> Reason? {
        guard payment.captureMode == .manual, payment.heldAt != nil, payment.capture == nil, cause == .status else {
            return nil
        }
        switch leg.knowledge?.status {
        case .voided: return Reason(.authorizationVoided, detail: "leg \(leg.index)")
        case .expired: return Reason(.authorizationExpired, detail: "leg \(leg.index)")
        default: return nil
        }
    }

    private func lossCode(_ leg: Leg, _ cause: GoneCause?) -> Reason.Code {
        if cause == .refused { return .refused }
        return leg.knowledge?.status == .declined || leg.primary.worst == .declined ? .declined : .legLost
    }

    private mutating func setGone(
        leg index: Int, cause: GoneCause, by decided: Decided, _ context: MachineContext
    ) {
        let leg = payment.legs[index]
        let known = leg.knowledge
        // Refunded, or a completed sale reversed.
        let isUndone = known?.status == .captured || known?.status == .voided
        payment.legs[index].gone = Leg.Gone(
            cause: cause, status: known?.status, code: known?.reason ?? leg.primary.lastCode,
            isGivenBack: isUndone && !leg.capturedAmount.isZero)
        record(
            .decision, leg: index,
            decided.fields + [
                AuditField("decision", "gone"), AuditField("cause", cause.rawValue),
                AuditField("status", known?.status.rawValue ?? "not_asked"),
            ], context)
    }

    mutating func quarantine(
        _ reference: EffectReference, leg index: Int, cause: QuarantineCause, by decided: Decided, mayHeal: Bool = true,
        _ actions: inout [PaymentAction], _ context: MachineContext
    ) {
        let heals = mayHeal && cause == .contradiction
        let reference = cause == .unconfirmed ? unconfirmedEffect(ofLeg: index) ?? reference : reference
        payment.legs[index].quarantine = Leg.Quarantine(
            cause: cause, effect: reference, row: decided.row, since: context.now,
            agreeing: heals ? Leg.Agreement.none : nil)
        if heals { payment.legs[index].inquiries = 0 }
        record(
            .quarantined, leg: index,
            [AuditField("effect", reference.description), AuditField("cause", cause.rawValue)] + decided.fields + [
                AuditField("status", payment.legs[index].knowledge?.status.rawValue ?? "not_asked")
            ], context)
        actions.append(
            .alert(
                Alert(
                    payment: payment.id, leg: index, provider: payment.legs[index].provider,
                    message: "a leg is quarantined")))
    }
}
