internal import PaymentCore

extension Expander {
    /// One person proposes what is to become of something in quarantine, another one approves it. Nothing becomes known
    /// between the two: the table refuses what has changed, and that is as if nobody had proposed it.
    mutating func peopleAct(_ state: GlobalState, _ sink: inout Sink) {
        guard world.scenario.people != .none, state.late == 0 else { return }
        let traits = locals.traits[Int(state.row)]
        for leg in world.legContracts.indices where traits.quarantined[leg] {
            let isQuiet = ProviderLeg.Slot.allCases.allSatisfy { self.isQuiet($0, leg, state) }
            for action in Repair.Action.allCases {
                let isTrue = isQuiet && world.isTrue(action, of: state[leg: leg], leg)
                decided(.repaired(.leg(leg), action), isTrue: isTrue, leg, state, &sink)
            }
        }
        for refundIndex in traits.quarantinedRefunds {
            guard let slot = ProviderLeg.Slot.refund(refundIndex) else { continue }
            let isQuiet = self.isQuiet(slot, 0, state)
            for action in Repair.Action.allCases {
                let isTrue = isQuiet && SearchWorld.isTrue(action, isDone: state[leg: 0][refund: refundIndex].isDone)
                decided(.repaired(.refund(refundIndex, leg: 0), action), isTrue: isTrue, 0, state, &sink)
            }
        }
    }

    /// Whether no request of an effect can arrive any more.
    private func isQuiet(_ slot: ProviderLeg.Slot, _ leg: Int, _ state: GlobalState) -> Bool {
        let isSending = locals.traits[Int(state.row)].attempts[leg] == slot
        return !isSending && !state.isOnWire(leg, slot) || world.has(.peopleDoNotWait)
    }

    private mutating func decided(
        _ event: LocalEvent, isTrue: Bool, _ leg: Int, _ state: GlobalState, _ sink: inout Sink
    ) {
        guard case .repaired(let target, let action) = event else { return }
        let what = "\(action.rawValue) for \(target == .leg(leg) ? "" : "a refund of ")leg \(leg)"
        guard isTrue || world.scenario.people == .anybody, var next = after(event, state) else { return }
        if !isTrue { next.saidWrongly(leg) }
        sink.add(next, described(event, state, "two people decide: \(what)\(isTrue ? "" : ", WRONGLY")"))
    }
}

extension SearchWorld {
    /// Whether what people say of a leg is what its provider's books show, and stays so.
    func isTrue(_ action: Repair.Action, of there: ProviderLeg, _ leg: Int) -> Bool {
        let isOpen = there.status == .held || there.status == .pending
        let stands = net(there, leg) > 0 || there.standsBeneathTombstone
        switch action {
        case .charged: return captured(leg) > 0 && net(there, leg) == captured(leg)
        case .neverCharged: return !isOpen && !stands && there.status != .taken
        case .undoneOutside: return there.status == .voided || there.status == .taken && !stands
        // Whoever writes something off does not say what the provider has of it.
        case .writeOff: return false
        case .sendAgain, .undo, .resume: return true
        }
    }

    /// The same of a refund.
    static func isTrue(_ action: Repair.Action, isDone: Bool) -> Bool {
        switch action {
        case .charged: isDone
        case .neverCharged, .undoneOutside: !isDone
        case .writeOff: false
        case .sendAgain, .undo, .resume: true
        }
    }

    /// Proposed by one person and approved by another one, through a process that does not hold the payment; the holder
    /// goes on, on the newer row. `nil` where the table refuses it.
    func repaired(
        _ from: LocalState, _ timed: LocalState, _ target: Repair.Target, _ action: Repair.Action
    ) -> LocalStep? {
        var context = context(timed.now, mayBegin: false)
        context.recovery = timed.window
        let amount: Money
        switch target {
        case .leg(let leg): amount = money(captured(leg))
        case .refund(let refundIndex, _): amount = money(scenario.refunds[refundIndex])
        case .discrepancy: return nil  // The search has no comparisons of listings.
        }
        let request = RepairRequest(
            payment: from.payment.id, target: target, action: action,
            evidence: Repair.Evidence(text: "the provider's books", reference: "theirs", amount: amount),
            isAgainstProvider: true, version: from.payment.version, by: "ann", lasts: .days(7))
        do {
            let proposed = try PaymentMachine.propose(request, of: from.payment, context)
            var desk = timed
            desk.machine = proposed.machine
            let first = committed(desk, [], before: from.payment)
            let decision = Repair.Decision(isApproved: true, by: "ben", at: context.now, reason: "read in their books")
            let decided = try PaymentMachine.decide(proposed.repair, decision, of: first.state.payment, context)
            desk.machine = decided.machine
            var step = committed(desk, [], before: first.state.payment)
            step.broken = first.broken ?? step.broken
            step.entries = first.entries + step.entries
            var holder = from.machine
            holder.rebase(on: step.state.payment)
            step.state.machine = holder
            step.state.reading = from.reading
            return step
        } catch { return nil }
    }
}
