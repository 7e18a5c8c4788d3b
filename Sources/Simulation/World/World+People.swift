internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What people do about a payment.
enum PeopleStep {
    /// Somebody looks into what waits for people, and proposes what is to become of it.
    case propose(payment: Int)
    /// Somebody else decides about that.
    case decide(payment: Int, repair: String)
    /// Somebody looks into what the provider has beyond our books, and proposes to undo it.
    case proposeUndoing(DiscrepancyID)
    /// Somebody else decides about that.
    case decideUndoing(repair: String)
}

/// What is known of the people who do it.
struct People {
    /// Visits and decisions that are still to come.
    var atWork = 0
    /// How often they looked at a payment.
    var visits: [Int: Int] = [:]
    /// Proposals that say what is not so.
    var lies: Set<String> = []
    /// Payments of which one was carried out.
    var misjudged: Set<PaymentID> = []
    /// When they decided last about a payment.
    var decidedAt: [Int: Int64] = [:]
}

/// People who take payments out of quarantine: one proposes what the provider's books say, another one approves it, at
/// any moment, beside workers, late answers and failovers. Some say what is not so, forget the reference, or try to
/// approve what they proposed themselves.
extension World {
    /// Nobody looks at the same payment more often.
    private static let mostVisits = 6
    /// So often they try something; later they go by the provider's books alone.
    private static let trials = 2

    /// A change is durable: where it gave something to people, they are called.
    mutating func callPeople(_ payment: Int, _ before: Payment?, _ after: Payment) {
        guard plan.hasPeople, World.waiting(after).contains(where: { !World.waiting(before).contains($0) }) else {
            return
        }
        visit(payment)
    }

    /// Until no request can be on its way any more, and for up to a day, they find out what the provider did.
    private mutating func visit(_ payment: Int) {
        let number = people.visits[payment, default: 0]
        guard number < World.mostVisits else { return }
        people.visits[payment] = number + 1
        people.atWork += 1
        let settled = plan.longestRequestLife + .hours(1)
        let bits = chance.bits(131, UInt64(payment), UInt64(number))
        push(.people(.propose(payment: payment)), after: settled.milliseconds + span(86_400_000, bits))
    }

    mutating func peopleAct(_ step: PeopleStep) {
        people.atWork -= 1
        switch step {
        case .propose(let payment): if !isProposed(payment) { visit(payment) }
        case .decide(let payment, let repair): if !isDecided(payment, repair) { visit(payment) }
        case .proposeUndoing(let discrepancy): proposeUndoing(discrepancy)
        case .decideUndoing(let repair): decideUndoing(repair)
        }
    }

    /// Whether somebody's proposal is kept, or there is nothing to propose.
    private mutating func isProposed(_ paymentIndex: Int) -> Bool {
        let number = people.visits[paymentIndex, default: 0]
        let bits = chance.bits(137, UInt64(paymentIndex), UInt64(number))
        guard let replica = desk(), let payment = sites[activeSite].store.payment(ids[paymentIndex]) else {
            return false
        }
        guard let target = World.waiting(payment).first,
            let said = number > World.trials ? finding(target, payment) : said(target, payment, bits)
        else { return true }
        let evidence = Repair.Evidence(text: "the provider's books", reference: said.reference, amount: said.amount)
        let request = RepairRequest(
            payment: payment.id, target: target, action: said.action, evidence: evidence,
            isAgainstProvider: said.isAgainstProvider, version: payment.version, by: World.proposer, lasts: .days(7))
        do throws(RepairRefusal) {
            let (machine, repair) = try PaymentMachine.propose(request, of: payment, deskContext(replica))
            guard keep(machine, repair, replica) else { return false }
            if said.isLie { people.lies.insert(repair.id) } else { people.lies.remove(repair.id) }
            people.atWork += 1
            push(
                .people(.decide(payment: paymentIndex, repair: repair.id)),
                after: 60_000 + span(Int(Span.days(1).milliseconds), bits >> 8))
            return true
        } catch {
            return false
        }
    }

    /// Whether somebody approved what another one proposed. What was lost, has changed, or was rejected, is looked at
    /// again.
    private mutating func isDecided(_ paymentIndex: Int, _ id: String) -> Bool {
        let bits = chance.bits(139, UInt64(paymentIndex), UInt64(people.visits[paymentIndex, default: 0]))
        guard let replica = desk(), let payment = sites[activeSite].store.payment(ids[paymentIndex]),
            let repair = sites[activeSite].store.repairs[id]
        else { return false }
        let context = deskContext(replica)
        let decision = Repair.Decision(
            isApproved: bits & 15 != 0, by: bits >> 4 & 7 == 0 ? World.proposer : "ben", at: context.now,
            reason: "read in the provider's books")
        do throws(RepairRefusal) {
            let (machine, decided) = try PaymentMachine.decide(repair, decision, of: payment, context)
            guard keep(machine, decided, replica), decision.isApproved else { return false }
            people.decidedAt[paymentIndex] = now
            if people.lies.contains(id) { people.misjudged.insert(payment.id) }
            return true
        } catch {
            return false
        }
    }

    /// What somebody says who does not go by the books alone.
    private mutating func said(_ target: Repair.Target, _ payment: Payment, _ bits: UInt64) -> Said? {
        guard let index = target.leg else { return nil }
        let asked = SucceededMeansAsked.asked(of: payment.legs[index], payment)
        switch bits & 15 {
        case 0, 1: return Said(.resume)
        case 2, 3: return Said(.sendAgain)
        case 4, 5: return Said(.undo)
        case 6, 7, 8:
            let actions: [Repair.Action] = [.charged, .neverCharged, .undoneOutside, .writeOff]
            var said = Said(actions[Int(bits >> 16 & 3)], asked)
            said.isLie = true
            said.isAgainstProvider = bits >> 18 & 1 == 0
            if bits >> 19 & 3 == 0 { said.reference = nil }
            return said
        case 9:
            var said = finding(target, payment)
            said?.reference = nil
            return said
        default: return finding(target, payment)
        }
    }

    /// What somebody who sees the provider's books says; `nil` where they say nothing that could be proposed.
    private mutating func finding(_ target: Repair.Target, _ payment: Payment) -> Said? {
        guard let index = target.leg else { return nil }
        let leg = payment.legs[index]
        // Of what the provider lost, its books tell nobody anything.
        guard let provider = providerPlaces[leg.provider], providers[provider].goneAt[leg.primary.key] == nil else {
            return nil
        }
        if case .refund(let refundIndex, _) = target {
            guard let part = payment.refunds[refundIndex].parts.first(where: { $0.leg == leg.index }) else {
                return nil
            }
            let isMade =
                providers[provider].transaction(leg.primary.key, at: time)?.refunds
                .contains { $0.key == part.effect.key && $0.state == .succeeded } ?? false
            return Said(isMade ? .charged : .neverCharged, part.effect.amount)
        }
        let figures = evidence.figures(payment.id, leg)
        guard figures.liveCharges <= 1 else { return nil }
        let asked = SucceededMeansAsked.asked(of: leg, payment)
        if figures.held == 0, figures.refunded == 0, figures.captured == asked.value, !asked.isZero {
            return Said(.charged, asked)
        }
        // What stands and was not asked so is undone at the provider's own console.
        if figures.held > 0 { _ = providers[provider].changeOutside(.void, leg.primary.key, at: time) }
        if figures.net > 0 { _ = providers[provider].changeOutside(.refundAll, leg.primary.key, at: time) }
        let left = evidence.figures(payment.id, leg)
        guard left.held == 0, left.net == 0 else { return nil }
        return Said(left.captured > 0 || figures.held > 0 ? .undoneOutside : .neverCharged)
    }

    /// What is proposed.
    private struct Said {
        let action: Repair.Action
        let amount: Money?
        var reference: String? = "theirs"
        var isAgainstProvider = true
        /// Whether nobody looked whether it is so.
        var isLie = false

        init(_ action: Repair.Action, _ amount: Money? = nil) { (self.action, self.amount) = (action, amount) }
    }

    static let proposer = "ann"

    /// A replica of the active site that takes what people ask.
    mutating func desk() -> Int? {
        for replica in replicas.indices where replicas[replica].isUp && replicas[replica].site == activeSite {
            if isOpen(replica), takesWrites(replica) { return replica }
        }
        return nil
    }

    func deskContext(_ replica: Int) -> MachineContext {
        var context = MachineContext(
            now: storeTime(replicas[replica].site), contracts: contracts(replica), policy: policy(replica),
            commitsAreAcknowledged: plan.keepsAcknowledgedRows || does(.commitsCalledAcknowledged),
            effectTable: plant.effectTable, paymentTable: plant.paymentTable)
        context.mayBegin = false
        context.repairTable = plant.repairTable
        if does(.ownRepairApproved) { context.repairTable = context.repairTable.without("repair.own") }
        return context
    }

    private mutating func keep(_ machine: PaymentMachine, _ repair: Repair, _ replica: Int) -> Bool {
        let change = PaymentChange(
            payment: machine.payment, entries: machine.newEntries, lease: .none, repair: repair)
        if case .success(.committed) = write(change, by: replica) { return true }
        return false
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
