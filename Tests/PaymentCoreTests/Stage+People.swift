import PaymentCore

/// People beside the holder.
extension Stage {
    /// What one person proposes about a target as it is now.
    func request(
        _ action: Repair.Action, _ target: Repair.Target = .leg(0), against: Bool = false, by person: String = "ann",
        reference: String? = "theirs-1", amount: Money? = nil, lasts: Span = .hours(24)
    ) -> RepairRequest {
        let leg = durable.legs[target.leg ?? 0]
        let asked: Money
        switch target {
        case .leg(let index): asked = durable.capture?.amounts[index] ?? leg.amount
        case .refund(let index, let leg):
            let part = durable.refunds[index].parts.first { $0.leg == leg }
            asked = part?.effect.amount ?? .zero(durable.amount.currency)
        case .discrepancy: asked = leg.amount
        }
        let evidence = Repair.Evidence(
            text: "their letter of today", reference: reference, amount: amount ?? asked)
        return RepairRequest(
            payment: durable.id, target: target, action: action, evidence: evidence, isAgainstProvider: against,
            version: durable.version, by: person, lasts: lasts)
    }

    /// One person proposes.
    mutating func propose(_ request: RepairRequest) throws(RepairRefusal) -> Repair {
        let (machine, repair) = try PaymentMachine.propose(request, of: durable, context)
        judge.proposed(repair, about: durable.legs[repair.target.leg ?? 0])
        store(machine)
        return repair
    }

    /// Somebody decides.
    @discardableResult
    mutating func decide(
        _ repair: Repair, approves: Bool = true, by person: String = "ben"
    ) throws(RepairRefusal) -> Repair {
        let decision = Repair.Decision(isApproved: approves, by: person, at: now, reason: "as they wrote")
        let (machine, decided) = try PaymentMachine.decide(repair, decision, of: durable, context)
        store(machine)
        return decided
    }

    /// One person proposes, and another one approves.
    @discardableResult
    mutating func repair(
        _ action: Repair.Action, _ target: Repair.Target = .leg(0), against: Bool = false
    ) throws(RepairRefusal) -> Repair {
        try decide(try propose(request(action, target, against: against)))
    }
}
