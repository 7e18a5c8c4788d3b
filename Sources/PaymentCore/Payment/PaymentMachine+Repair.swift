// What people decide about what no row decides. Nothing else changes a payment by a person's word.

extension PaymentMachine {
    /// Proposes a repair of a payment as it was read. Nothing moves by it.
    ///
    /// - Throws: Why nobody could approve it as it is proposed.
    public static func propose(
        _ request: RepairRequest, of payment: Payment, _ context: MachineContext
    ) throws(RepairRefusal) -> (machine: PaymentMachine, repair: Repair) {
        guard request.version == payment.version else { throw .changed }
        var machine = PaymentMachine(payment: payment)
        let repair = Repair(request, of: payment, facts: machine.known(of: request.target), at: context.now)
        if case .refuse(let refusal) = context.repairTable.decide(machine.facts(repair, by: nil, context)).decision {
            throw refusal
        }
        // Who proposes holds no lease: what is due is done by whoever does.
        var idle = context
        idle.mayBegin = false
        _ = machine.handle(.repairProposed(repair), idle)
        return (machine, repair)
    }

    /// Decides about a repair. An approval is carried out; what is due by it is done by whoever holds the payment.
    ///
    /// - Throws: Why it is not carried out. Nothing has changed then.
    public static func decide(
        _ repair: Repair, _ decision: Repair.Decision, of payment: Payment, _ context: MachineContext
    ) throws(RepairRefusal) -> (machine: PaymentMachine, repair: Repair) {
        var machine = PaymentMachine(payment: payment)
        if case .refuse(let refusal) = machine.verdict(repair, decision, context).verdict.decision { throw refusal }
        var idle = context
        idle.mayBegin = false
        _ = machine.handle(.repairDecided(repair, decision), idle)
        return (machine, repair.decided(decision))
    }

    mutating func noteProposal(of repair: Repair, _ context: MachineContext) {
        record(
            .operation, leg: repair.target.leg,
            [AuditField("operation", "repair proposed")] + repair.fields + [
                AuditField("expires", repair.expiresAt.rfc3339)
            ], context)
    }

    /// A person may say no to anything that is not decided yet; a yes is up to the table.
    private func verdict(
        _ repair: Repair, _ decision: Repair.Decision, _ context: MachineContext
    ) -> (verdict: RepairTable.Verdict, facts: RepairFacts) {
        let facts = facts(repair, by: decision.by, context)
        let verdict = context.repairTable.decide(facts)
        guard !decision.isApproved, !facts.isDecided, !facts.isExpired else { return (verdict, facts) }
        return (RepairTable.Verdict(row: "repair.rejected", decision: .carryOut), facts)
    }

    mutating func decided(_ repair: Repair, _ decision: Repair.Decision, _ context: MachineContext) {
        let (verdict, facts) = verdict(repair, decision, context)
        guard verdict.decision == .carryOut else { return }
        let word = decision.isApproved ? "approved" : "rejected"
        let people = [AuditField("\(word)_by", decision.by), AuditField("reason", decision.reason)]
        guard decision.isApproved else {
            record(
                .operation, leg: repair.target.leg,
                [AuditField("operation", "repair rejected")] + repair.fields + people, context)
            return
        }
        record(.resolved, leg: repair.target.leg, repair.fields + people + Decided(verdict, facts).fields, context)
        switch repair.target {
        case .leg(let leg): carryOut(repair, leg: leg, context)
        case .refund(let refundIndex, let leg): carryOut(repair.action, refund: refundIndex, leg: leg, context)
        case .discrepancy: break  // Nothing of a payment: no row lets it through.
        }
    }

    // MARK: What is done

    private mutating func carryOut(_ repair: Repair, leg index: Int, _ context: MachineContext) {
        let leg = payment.legs[index]
        payment.legs[index].quarantine = nil
        lookAnew(leg: index)
        switch repair.action {
        case .charged:
            hear(repair.evidence, about: leg.quarantine?.effect ?? .primary, ofLeg: index, context)
            setCharged(leg: index, context)
        case .neverCharged:
            payment.legs[index].capturedAmount = .zero(payment.amount.currency)
            end(leg: index, Leg.Gone(cause: .neverHappened, code: Leg.Gone.byPeople))
        case .undoneOutside:
            let isGivenBack = !leg.capturedAmount.isZero
            end(leg: index, Leg.Gone(cause: .status, code: Leg.Gone.byPeople, isGivenBack: isGivenBack))
        case .writeOff: end(leg: index, Leg.Gone(cause: .neverHappened, code: Leg.Gone.writtenOff))
        case .resume: payment.legs[index].knowledge = nil
        case .sendAgain:
            if let reference = leg.quarantine?.effect { withEffect(reference, ofLeg: index) { $0.isInDoubtAgain() } }
            payment.legs[index].knowledge = nil
        case .undo:
            turnBack(leg: index)
            if StatusReading.isTaken(leg) { registerCompensation(leg: index, context) }
            for reference in [EffectReference.void, .compensation] {
                withEffect(reference, ofLeg: index) { $0.isInDoubtAgain() }
            }
            payment.legs[index].knowledge = nil
        }
    }

    private mutating func setCharged(leg index: Int, _ context: MachineContext) {
        let leg = payment.legs[index]
        let amount = askedAmount(of: leg)
        let capture = Observation.Movement(
            key: leg.capture?.key ?? leg.primary.key, amount: amount, state: .succeeded)
        payment.legs[index].capturedAmount = amount
        payment.legs[index].knowledge = Observation(
            .captured, began: context.now, source: .inquiry, amount: leg.amount,
            captures: leg.isOnePhase ? [] : [capture], reason: Leg.Gone.byPeople)
        // The request is lost, and every leg is taken: that is what was asked.
        guard payment.captureMode == .manual, payment.capture == nil, payment.latch == .none else { return }
        payment.capture = CaptureRequest.found(
            payment.legs.map(\.capturedAmount), of: payment.legs[0].primary.key, at: context.now)
    }

    private mutating func end(leg index: Int, _ gone: Leg.Gone) {
        payment.legs[index].gone = gone
        turnBack(leg: index)
    }

    /// What people take away from a payment is not there for it any more.
    private mutating func turnBack(leg index: Int) {
        guard payment.legs[index].loss == nil else { return }
        let detail = "leg \(index): decided by people"
        switch payment.latch {
        case .none: payment.legs[index].loss = .primary(Reason(.legLost, detail: detail))
        case .forward: payment.legs[index].loss = .capture(Reason(.captureUnavailable, detail: detail))
        case .back, .compensate: break
        }
    }

    private mutating func carryOut(
        _ action: Repair.Action, refund refundIndex: Int, leg index: Int, _ context: MachineContext
    ) {
        guard let part = payment.refunds[refundIndex].parts.firstIndex(where: { $0.leg == index }) else { return }
        switch action {
        case .charged: payment.refunds[refundIndex].parts[part].state = .succeeded
        case .neverCharged, .undoneOutside, .writeOff: payment.refunds[refundIndex].parts[part].state = .failed
        case .sendAgain, .resume:
            payment.refunds[refundIndex].parts[part].state = .processing
            payment.legs[index].knowledge = nil
            lookAnew(leg: index)
            if action == .sendAgain {
                withEffect(.refund(refundIndex), ofLeg: index) { $0.isInDoubtAgain() }
            }
        case .undo: return  // No row lets it through.
        }
        payment.refunds[refundIndex].parts[part].reason =
            action == .writeOff ? Leg.Gone.writtenOff : Leg.Gone.byPeople
        recordEnd(of: payment.refunds[refundIndex], context)
    }
}

extension Leg.Gone {
    /// The code of what people decided.
    public static let byPeople = "resolved_by_people"
    /// The code of what two people wrote off: what its provider shows of it is accepted.
    public static let writtenOff = "written_off"
}

extension Repair {
    /// What an entry of the trail says of it.
    var fields: [AuditField] {
        var fields = [AuditField("repair", id), AuditField("resolution", action.rawValue)]
        if case .refund(let index, _) = target {
            fields.append(AuditField("effect", EffectReference.refund(index).description))
        }
        fields += [AuditField("requested_by", proposedBy), AuditField("evidence", evidence.text)]
        if let file = evidence.file { fields.append(AuditField("evidence_sha256", file.hex)) }
        if let reference = evidence.reference { fields.append(AuditField("reference", reference)) }
        if let amount = evidence.amount { fields.append(AuditField("amount", amount.description)) }
        if isAgainstProvider { fields.append(AuditField("against_provider", "yes")) }
        return fields
    }
}
