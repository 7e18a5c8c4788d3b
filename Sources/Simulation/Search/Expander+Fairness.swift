internal import PaymentCore

extension Expander {
    /// One step of a run in which nothing fails any more.
    enum FairStep {
        /// It is over, or it is the caller's turn.
        case rests
        case next(GlobalState)
        /// Nothing will ever happen.
        case stuck
    }

    /// What happens next if the network delivers, providers answer, and time passes.
    mutating func fairStep(_ state: GlobalState) -> FairStep {
        if let next = fairDelivery(state) { return .next(next) }
        if state.late > 0 {
            var next = with(row: state.late - 1, state)
            next.late = 0
            return .next(next)
        }
        let traits = locals.traits[Int(state.row)]
        for leg in traits.attempts.indices {
            if let slot = traits.attempts[leg] { return fairAttempt(slot, leg, state) }
            if traits.asks[leg] { return fairRead(leg, traits, state) }
        }
        if !traits.latchAcknowledged, let next = fairAcknowledgement(state) { return .next(next) }
        if traits.isResting { return .rests }
        switch traits.due {
        case .never: return traits.isFinal ? .rests : .stuck
        case .now: return afterOrStuck(.wakes, state)
        case .afterDeadline: return passedOrStuck(.deadlinePasses, state)
        case .afterLife: return passedOrStuck(.lifePasses, state)
        case .afterRetention: return passedOrStuck(.retentionPasses, state)
        case .afterHolds: return passedOrStuck(.holdsEnd, state)
        }
    }

    private mutating func afterOrStuck(_ event: LocalEvent, _ state: GlobalState) -> FairStep {
        after(event, state).map { .next($0) } ?? .stuck
    }

    private mutating func passedOrStuck(_ event: LocalEvent, _ state: GlobalState) -> FairStep {
        passed(event, state).map { .next($0) } ?? .stuck
    }

    private func fairDelivery(_ state: GlobalState) -> GlobalState? {
        for leg in world.legContracts.indices {
            for slot in ProviderLeg.Slot.allCases where state.isOnWire(leg, slot) {
                var next = state
                next.takeOffWire(leg, slot)
                if let delivery = world.deliveries(slot, leg: leg, to: state[leg: leg]).first {
                    next[leg: leg] = delivery.leg
                }
                return next
            }
            if state[leg: leg].status == .pending {
                var next = state
                next[leg: leg].status = world.legContracts[leg].phases == .sale ? .taken : .held
                return next
            }
        }
        return nil
    }

    private mutating func fairAttempt(_ slot: ProviderLeg.Slot, _ leg: Int, _ state: GlobalState) -> FairStep {
        var sent = state
        guard world.scenario.answers.contains(.transaction),
            let delivery = world.deliveries(slot, leg: leg, to: state[leg: leg]).first
        else {
            sent.putOnWire(leg, slot)
            return afterOrStuck(.ends(leg: leg, .indeterminate, credentials: false), sent)
        }
        sent[leg: leg] = delivery.leg
        guard let answered = after(.answered(leg: leg, delivery.outcome, delivery.leg.shownInAnswer), sent) else {
            return .stuck
        }
        // Who sends again at once is answered the same, until no earlier request can arrive any more: time passes.
        if after(.wakes, answered) == state, let later = passed(.lifePasses, answered) { return .next(later) }
        return .next(answered)
    }

    private mutating func fairRead(_ leg: Int, _ traits: LocalTraits, _ state: GlobalState) -> FairStep {
        let view = state[leg: leg].shown
        guard world.scenario.readsTakeTime else {
            guard let read = after(.reads(leg: leg, view), state) else { return .stuck }
            // Who asks again at once is shown the same, until what is shown cannot be old any more: time passes.
            if after(.wakes, read) == state, let later = passed(.lifePasses, read) { return .next(later) }
            return .next(read)
        }
        return afterOrStuck(traits.readBegan[leg] ? .readEnds(leg: leg) : .readBegins(leg: leg, view), state)
    }

    private mutating func fairAcknowledgement(_ state: GlobalState) -> GlobalState? {
        guard world.scenario.isReplicated else { return nil }
        let copy = standbys.copy(of: state.row, locals)
        if copy != state.standby {
            var next = state
            next.standby = copy
            return next
        }
        return after(.acknowledged, state)
    }
}
