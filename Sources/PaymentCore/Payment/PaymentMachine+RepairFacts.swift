// What is known of the target of a repair.

extension PaymentMachine {
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
        facts.isProviderMissing = payment.missingProvider(of: leg, context.contracts) != nil
        facts.mayBeUnderWay = facts.isProviderMissing && mayBeUnderWay(leg, context)
        switch repair.target {
        case .leg:
            // What ended in success is not taken back; what is to be refunded of it is a target of its own.
            let isOpen = leg.gone == nil && payment.conclusion?.state != .succeeded
            facts.isWaiting = leg.quarantine != nil || facts.isProviderMissing && isOpen
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
            facts.isWaiting = part?.state == .quarantined || facts.isProviderMissing && part?.state == .processing
            let isTold = part?.reason != QuarantineCause.unconfirmed.rawValue
            let isListed = contract?.refundVisibility == .byKey && isTold
            facts.shown = isListed ? StatusReading.shown(refund: effect, of: leg) : .nothing
            facts.namesAmount = repair.evidence.amount == effect.amount
        case .discrepancy: facts.isWaiting = false
        }
        return facts
    }

    /// Whether a request about a leg was sent so short a time ago that it may still arrive. A provider that is not
    /// configured has no contract: the usual one tells then how long that may be.
    private func mayBeUnderWay(_ leg: Leg, _ context: MachineContext) -> Bool {
        let contract = context.contracts[leg.provider] ?? .reference
        return effectReferences(ofLeg: leg.index).contains { reference in
            guard let sent = effect(reference, ofLeg: leg.index)?.lastIntentAt else { return false }
            return context.now < sent + contract.maxRequestLife + contract.clockSkew
        }
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
