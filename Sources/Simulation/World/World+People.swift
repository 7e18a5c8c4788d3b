internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What people do about a payment.
enum PeopleStep {
    /// Somebody looks into what waits for people, and proposes what is to become of it.
    case propose(payment: Int, visit: Int)
    /// Somebody else decides about that.
    case decide(payment: Int, repair: String, visit: Int)
}

/// People who take payments out of quarantine: one proposes what the provider's books say, another one approves it, at
/// any moment, beside workers, late answers and failovers. They are honest. (Those who are not, are in the core's own
/// walks: what they do to money is no defect of ours.)
extension World {
    /// Nobody looks at the same payment more often.
    private static let mostVisits = 8

    /// A change is durable: where it gave something to people, they are called.
    mutating func callPeople(_ payment: Int, _ before: Payment?, _ after: Payment) {
        guard plan.hasPeople, World.waiting(after).contains(where: { !World.waiting(before).contains($0) }) else {
            return
        }
        let bits = chance.bits(131, UInt64(payment), UInt64(after.version))
        visit(payment, 0, bits)
    }

    /// Until no request can be on its way any more, and for up to three days, they find out what the provider did.
    private mutating func visit(_ payment: Int, _ number: Int, _ bits: UInt64) {
        guard number < World.mostVisits else { return }
        peopleAtWork += 1
        let settled = plan.longestRequestLife + .hours(1)
        let after = settled.milliseconds + span(Int(Span.days(3).milliseconds), bits)
        push(.people(.propose(payment: payment, visit: number)), after: after)
    }

    mutating func peopleAct(_ step: PeopleStep) {
        peopleAtWork -= 1
        switch step {
        case .propose(let payment, let number): propose(payment, number)
        case .decide(let payment, let repair, let number): decide(payment, repair, number)
        }
    }

    private mutating func propose(_ paymentIndex: Int, _ number: Int) {
        let bits = chance.bits(137, UInt64(paymentIndex), UInt64(number))
        guard let replica = desk() else { return visit(paymentIndex, number + 1, bits) }
        guard let payment = sites[activeSite].store.payment(ids[paymentIndex]),
            let target = World.waiting(payment).first,
            let (action, amount) = finding(target, payment, Chance.mixed(bits))
        else { return }
        let evidence = Repair.Evidence(text: "the provider's books", reference: "theirs", amount: amount)
        let request = RepairRequest(
            payment: payment.id, target: target, action: action, evidence: evidence, isAgainstProvider: true,
            version: payment.version, by: "ann", lasts: .days(7))
        let proposed: (machine: PaymentMachine, repair: Repair)
        do throws(RepairRefusal) {
            proposed = try PaymentMachine.propose(request, of: payment, deskContext(replica))
        } catch {
            return visit(paymentIndex, number + 1, bits)
        }
        guard keep(proposed.machine, proposed.repair, replica) else { return visit(paymentIndex, number + 1, bits) }
        peopleAtWork += 1
        push(
            .people(.decide(payment: paymentIndex, repair: proposed.repair.id, visit: number)),
            after: 60_000 + span(Int(Span.days(2).milliseconds), bits >> 8))
    }

    private mutating func decide(_ paymentIndex: Int, _ id: String, _ number: Int) {
        let bits = chance.bits(139, UInt64(paymentIndex), UInt64(number))
        // A row that was lost is proposed again.
        guard let replica = desk(), let payment = sites[activeSite].store.payment(ids[paymentIndex]),
            let repair = sites[activeSite].store.repairs[id]
        else { return visit(paymentIndex, number + 1, bits) }
        let context = deskContext(replica)
        let decision = Repair.Decision(
            isApproved: bits & 15 != 0, by: "ben", at: context.now, reason: "the provider's books")
        let decided: (machine: PaymentMachine, repair: Repair)
        do throws(RepairRefusal) {
            decided = try PaymentMachine.decide(repair, decision, of: payment, context)
        } catch {
            return visit(paymentIndex, number + 1, bits)
        }
        guard keep(decided.machine, decided.repair, replica), decision.isApproved else {
            return visit(paymentIndex, number + 1, bits)
        }
    }

    /// What somebody who sees the provider's books says; `nil` where they say nothing that could be proposed.
    private mutating func finding(
        _ target: Repair.Target, _ payment: Payment, _ bits: UInt64
    ) -> (Repair.Action, Money?)? {
        let leg = payment.legs[target.leg]
        guard let provider = providerPlaces[leg.provider] else { return nil }
        if bits & 7 == 0 { return (.resume, nil) }
        if bits & 7 == 1 { return (.sendAgain, nil) }
        if case .refund(let refundIndex, _) = target {
            guard let part = payment.refunds[refundIndex].parts.first(where: { $0.leg == leg.index }) else { return nil }
            let isMade =
                providers[provider].transaction(leg.primary.key, at: time)?.refunds
                .contains { $0.key == part.effect.key && $0.state == .succeeded } ?? false
            return (isMade ? .charged : .neverCharged, part.effect.amount)
        }
        if bits & 7 == 2 { return (.undo, nil) }
        let figures = providers[provider].figures(of: payment.id, leg: leg.index, at: time)
        guard figures.liveCharges <= 1 else { return nil }
        let asked = SucceededMeansAsked.asked(of: leg, payment)
        if figures.held == 0, figures.refunded == 0, figures.captured == asked.value, !asked.isZero {
            return (.charged, asked)
        }
        // What stands and was not asked so is undone at the provider's own console.
        if figures.held > 0 { _ = providers[provider].changeOutside(.void, leg.primary.key, at: time) }
        if figures.net > 0 { _ = providers[provider].changeOutside(.refundAll, leg.primary.key, at: time) }
        let left = providers[provider].figures(of: payment.id, leg: leg.index, at: time)
        guard left.held == 0, left.net == 0 else { return nil }
        return (left.captured > 0 || figures.held > 0 ? .undoneOutside : .neverCharged, nil)
    }

    /// A replica of the active site that takes what people ask.
    private mutating func desk() -> Int? {
        for replica in replicas.indices
        where replicas[replica].isUp && replicas[replica].site == activeSite && isOpen(replica) {
            if takesWrites(replica) { return replica }
        }
        return nil
    }

    private func deskContext(_ replica: Int) -> MachineContext {
        var context = MachineContext(
            now: storeTime(replicas[replica].site), contracts: contracts(replica), policy: policy(replica),
            commitsAreAcknowledged: plan.keepsAcknowledgedRows || does(.commitsCalledAcknowledged),
            effectTable: plant.effectTable, paymentTable: plant.paymentTable)
        context.mayBegin = false
        return context
    }

    private mutating func keep(_ machine: PaymentMachine, _ repair: Repair, _ replica: Int) -> Bool {
        let change = PaymentChange(
            payment: machine.payment, entries: machine.newEntries, lease: .none, repair: repair)
        guard case .success(.committed) = write(change, by: replica) else { return false }
        return true
    }

    /// What of a payment waits for people.
    private static func waiting(_ payment: Payment?) -> [Repair.Target] {
        guard let payment else { return [] }
        let legs = payment.legs.filter { $0.quarantine != nil }.map { Repair.Target.leg($0.index) }
        return legs
            + payment.refunds.enumerated().flatMap { index, refund in
                refund.parts.filter { $0.state == .quarantined }.map { Repair.Target.refund(index, leg: $0.leg) }
            }
    }
}
