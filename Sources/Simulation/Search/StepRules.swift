internal import PaymentCore

/// What must hold of every single step, whatever the world did.
extension SearchWorld {
    /// Makes a step durable, and judges it.
    func committed(_ state: LocalState, _ actions: [PaymentAction], before: Payment?) -> LocalStep {
        var step = LocalStep(state: state, actions: actions, entries: state.machine.newEntries)
        step.broken = broken(step, before)
        step.state.machine.committed(version: (before?.version ?? 0) + 1)
        return step
    }

    private func broken(_ step: LocalStep, _ before: Payment?) -> SearchFinding? {
        let after = step.state.payment
        if let before {
            var latch = before.latch
            for entry in step.entries where entry.type == .latch {
                let name = entry.value("latch") ?? "-"
                guard let next = Latch(rawValue: name), latch.permits(next) else {
                    return SearchFinding(invariant: 12, words: "the latch moved from \(latch) to \(name)")
                }
                latch = next
            }
            guard latch == after.latch else {
                return SearchFinding(invariant: 12, words: "the latch is \(after.latch), and the trail says \(latch)")
            }
            if let ended = before.conclusion, ended != after.conclusion {
                return SearchFinding(invariant: 6, words: "a final state changed")
            }
        }
        return brokenTrail(step, before) ?? step.actions.lazy.compactMap { brokenSend($0, after) }.first
    }

    private func brokenTrail(_ step: LocalStep, _ before: Payment?) -> SearchFinding? {
        var head = before?.auditHead ?? .empty(step.state.payment.id)
        for entry in step.entries {
            guard entry.sequence == head.sequence + 1, entry.previous == head.hash else {
                return SearchFinding(invariant: 13, words: "the audit trail is broken")
            }
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
        }
        guard head == step.state.payment.auditHead else {
            return SearchFinding(invariant: 13, words: "the audit trail does not end where the payment says")
        }
        return nil
    }

    private func brokenSend(_ action: PaymentAction, _ after: Payment) -> SearchFinding? {
        guard case .send(let order) = action else { return nil }
        guard let open = openAttempt(after, order.leg), open.reference == order.effect, open.number == order.number
        else { return SearchFinding(invariant: 9, words: "a send without an intent: \(order.kind) leg \(order.leg)") }
        guard order.key == keys[order.leg][open.slot.rawValue] else {
            return SearchFinding(invariant: 10, words: "a key that is not the effect's: \(order.kind) leg \(order.leg)")
        }
        // Refunds of what people wrongly called charged may be lost with their rows: only the rest is given back then.
        let isRest =
            scenario.people == .anybody && scenario.losses != .none && open.slot == .compensation
            && restsAfterRefunds(order.leg).contains(order.amount)
        guard isRest || order.amount == amount(of: open.slot, leg: order.leg) else {
            return SearchFinding(
                invariant: 1, words: "\(order.kind) of \(order.amount) on leg \(order.leg) is not what was asked")
        }
        return nil
    }

    /// What is left of a captured leg after some of the refunds that its caller may ask for.
    private func restsAfterRefunds(_ leg: Int) -> Set<Money> {
        scenario.refunds.reduce(into: [money(captured(leg))] as Set<Money>) { rests, refund in
            for rest in rests where rest.value > refund { rests.insert(money(rest.value - refund)) }
        }
    }

    /// What an effect must be asked to move.
    func amount(of slot: ProviderLeg.Slot, leg: Int) -> Money {
        switch slot {
        case .primary, .void: money(SearchWorld.legAmount)
        case .capture, .compensation: money(captured(leg))
        case .firstRefund: money(scenario.refunds[0])
        case .secondRefund: money(scenario.refunds[1])
        }
    }
}
