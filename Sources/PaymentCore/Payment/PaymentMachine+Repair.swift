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

    // MARK: What is known

    /// Everything that the table looks at. Without a person the repair is being proposed.
    func facts(_ repair: Repair, by person: String?, _ context: MachineContext) -> RepairFacts {
        var facts = RepairFacts(action: repair.action)
        facts.isDecided = repair.decision != nil
        facts.isExpired = context.now >= repair.expiresAt
        facts.isOwn = person == repair.proposedBy
        facts.isAgainstProvider = repair.isAgainstProvider
        facts.namesReference = !(repair.evidence.reference ?? "").isEmpty
        guard let (leg, effect) = repaired(repair.target) else {
            facts.isWaiting = false
            return facts
        }
        facts.isUnchanged = known(of: repair.target) == repair.facts
        let contract = contract(of: leg, context)
        facts.age = contract.map { age(of: effect, $0, context) } ?? .past
        switch repair.target {
        case .leg:
            facts.isWaiting = leg.quarantine != nil
            facts.isOthers = payment.undoesOthers && (leg.quarantine?.effect ?? .primary) == .primary
            facts.shown = leg.quarantine?.cause == .unconfirmed ? .nothing : StatusReading.shown(leg)
            let asked = askedAmount(of: leg)
            facts.namesAmount = repair.evidence.amount == asked && !asked.isZero
            facts.isUnasked =
                payment.captureMode == .manual && payment.capture == nil
                && payment.legs.contains { $0.index != leg.index && $0.capturedAmount.isZero }
        case .refund(let refundIndex, _):
            facts.isRefund = true
            let part = payment.refunds[refundIndex].parts.first { $0.leg == leg.index }
            facts.isWaiting = part?.state == .quarantined
            let isTold = part?.reason != QuarantineCause.unconfirmed.rawValue
            let isListed = contract?.refundVisibility == .byKey && isTold
            facts.shown = isListed ? StatusReading.shown(refund: effect, of: leg) : .nothing
            facts.namesAmount = repair.evidence.amount == effect.amount
        case .discrepancy: facts.isWaiting = false
        }
        return facts
    }

    /// The leg and the effect that a repair is about; `nil` where there is none.
    private func repaired(_ target: Repair.Target) -> (leg: Leg, effect: Effect)? {
        guard let index = target.leg, payment.legs.indices.contains(index) else { return nil }
        let leg = payment.legs[index]
        guard case .refund(let refundIndex, _) = target else {
            let reference = leg.quarantine?.effect ?? .primary
            return (leg, effect(reference, ofLeg: leg.index) ?? leg.primary)
        }
        guard payment.refunds.indices.contains(refundIndex) else { return nil }
        return effect(.refund(refundIndex), ofLeg: leg.index).map { (leg, $0) }
    }

    /// A digest of what a proposal is made from. A read that shows the same again changes nothing of it.
    func known(of target: Repair.Target) -> Digest {
        guard let (leg, effect) = repaired(target) else { return Digest(of: ["reconciled.repair.nothing"]) }
        var parts = [
            "reconciled.repair.facts.1", payment.latch.rawValue, payment.conclusion?.state.rawValue ?? "-",
            leg.quarantine.map { "\($0.cause.rawValue) \($0.effect) \($0.row) \($0.since.milliseconds)" } ?? "-",
            effect.key.text, effect.amount.description, String(effect.attempts), effect.worst.name,
            leg.knowledge?.status.rawValue ?? "-", leg.knowledge?.amount?.description ?? "-",
            leg.knowledge?.contradiction ?? "-", leg.capturedAmount.description,
        ]
        for movement in (leg.knowledge?.captures ?? []) + (leg.knowledge?.refunds ?? []) {
            parts += [movement.key.text, movement.amount.description, movement.state.rawValue]
        }
        if case .refund(let refundIndex, _) = target {
            let part = payment.refunds[refundIndex].parts.first { $0.leg == leg.index }
            parts += [part?.state.rawValue ?? "-", part?.reason ?? "-"]
        }
        return Digest(of: parts)
    }
}

extension Leg.Gone {
    /// The code of what people decided.
    public static let byPeople = "resolved_by_people"
    /// The code of what two people wrote off: what its provider shows of it is accepted.
    public static let writtenOff = "written_off"
}

extension StatusReading {
    /// Whether the newest read shows that it was taken, and not given back.
    static func isTaken(_ leg: Leg) -> Bool { shown(leg) == .taken }

    /// What the provider's own newest answer says of a leg.
    static func shown(_ leg: Leg) -> RepairFacts.Shown {
        guard let known = leg.knowledge, known.reason != Leg.Gone.byPeople else { return .nothing }
        if known.status == .unavailable { return .nothing }
        if contradicts(known, leg: leg) { return .other }
        switch known.status {
        case .unavailable: return .nothing
        case .notFound: return .denied
        case .pending: return .undecided
        case .authorized: return .held
        case .declined, .voided, .tombstoned, .expired: return .over
        case .captured:
            if leg.capturedAmount(in: known).isZero { return .other }
            return isGivenBack(known, leg: leg) ? .over : .taken
        }
    }

    /// The same of a refund, where the provider lists refunds by their keys.
    static func shown(refund effect: Effect, of leg: Leg) -> RepairFacts.Shown {
        guard let known = leg.knowledge, known.status == .captured, !contradicts(known, leg: leg) else {
            return .nothing
        }
        guard let ours = known.refunds.first(where: { $0.key == effect.key }) else { return .denied }
        guard ours.amount == effect.amount else { return .other }
        switch ours.state {
        case .pending: return .undecided
        case .succeeded: return .taken
        case .declined: return .over
        }
    }
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
