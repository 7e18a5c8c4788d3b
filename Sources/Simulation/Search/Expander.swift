internal import PaymentCore

/// What can happen next in a state of the search.
struct Expander {
    /// Where successors go: with words for each, if somebody wants to read them.
    struct Sink {
        var states: [GlobalState] = []
        var words: [String]?

        init(words: [String]? = nil) { self.words = words }

        mutating func add(_ state: GlobalState, _ label: @autoclosure () -> String) {
            states.append(state)
            words?.append(label())
        }
    }

    let world: SearchWorld
    var locals: LocalTable
    var standbys = StandbyTable()
    private let legs: Range<Int>
    /// What a hurrying worker has done by the time that it waits for others, by row.
    private var hurries: [UInt32: (row: UInt32, sent: [(Int, ProviderLeg.Slot)])] = [:]

    init(_ world: SearchWorld) {
        self.world = world
        locals = LocalTable(world)
        legs = 0..<world.legContracts.count
    }

    /// The state in which the payment has just been created.
    mutating func initial() -> GlobalState {
        let row = locals.intern(world.created(afterLoss: false, at: world.start).state)
        return hurried(GlobalState(row: row, standby: StandbyTable.empty))
    }

    /// Everything that can happen next.
    mutating func expand(_ state: GlobalState, into sink: inout Sink) {
        providersAct(state, &sink)
        providersTell(state, &sink)
        timePasses(state, &sink)
        callerActs(state, &sink)
        peopleAct(state, &sink)
        workerActs(state, site: .active, &sink)
        if state.oldSite > 0 { workerActs(state, site: .old, &sink) }
        rowsAreLost(state, &sink)
        writesLate(state, &sink)
        guard world.scenario.hurries else { return }
        for index in sink.states.indices { sink.states[index] = hurried(sink.states[index]) }
    }

    /// The state in which a hurrying worker has done everything that needs nobody else.
    mutating func hurried(_ state: GlobalState) -> GlobalState {
        guard world.scenario.hurries else { return state }
        let done = hurries[state.row] ?? hurry(state.row)
        var next = with(row: done.row, state)
        for (leg, slot) in done.sent { next.putOnWire(leg, slot) }
        return next
    }

    private mutating func hurry(_ start: UInt32) -> (row: UInt32, sent: [(Int, ProviderLeg.Slot)]) {
        var row = start
        var sent: [(Int, ProviderLeg.Slot)] = []
        for _ in 0..<64 {
            let traits = locals.traits[Int(row)]
            var next = LocalTable.none
            if let leg = traits.attempts.firstIndex(where: { $0 != nil }), let slot = traits.attempts[leg] {
                sent.append((leg, slot))
                next = locals.step(row, .ends(leg: leg, .indeterminate, credentials: false))
            } else if traits.due == .now {
                next = locals.step(row, .wakes)
            }
            guard next != LocalTable.none, next != row else { break }
            row = next
        }
        hurries[start] = (row, sent)
        return (row, sent)
    }

    // MARK: The row

    /// Whose row a worker works on.
    enum Site { case active, old }

    func row(_ state: GlobalState, _ site: Site) -> UInt32 { site == .active ? state.row : state.oldSite - 1 }

    /// The state after an event on the row; nil where it means nothing or changes nothing.
    mutating func after(_ event: LocalEvent, _ state: GlobalState, _ site: Site = .active) -> GlobalState? {
        let present = row(state, site)
        let next = locals.step(present, event)
        guard next != LocalTable.none, next != present else { return nil }
        return with(row: next, state, site)
    }

    func with(row: UInt32, _ state: GlobalState, _ site: Site = .active) -> GlobalState {
        var next = state
        if site == .active { next.row = row } else { next.oldSite = row + 1 }
        next.told |= locals.traits[Int(row)].tells
        return next
    }

    // MARK: Providers and time

    private func providersAct(_ state: GlobalState, _ sink: inout Sink) {
        for leg in legs {
            for slot in ProviderLeg.Slot.allCases where state.isOnWire(leg, slot) {
                for delivery in world.deliveries(slot, leg: leg, to: state[leg: leg])
                where delivery.leg != state[leg: leg] {
                    var next = state
                    next[leg: leg] = delivery.leg
                    sink.add(next, "provider \(leg): \(delivery.words) (\(slot) arrives)")
                }
                var next = state
                next.takeOffWire(leg, slot)
                sink.add(next, "no copy of \(slot) leg \(leg) is left")
            }
            let present = state[leg: leg]
            func becomes(_ status: ProviderLeg.Status, outside: Bool = false, _ words: String) {
                var next = state
                next[leg: leg].status = status
                if status == .expired || status == .voided { next[leg: leg].captureDeclined = false }
                next[leg: leg].isRecent = world.legMayLag
                if outside { next[leg: leg].changedOutside = true }
                sink.add(next, "provider \(leg): \(words)")
            }
            if present.status == .held {
                becomes(.expired, "the hold EXPIRES")
                if world.scenario.changesOutside { becomes(.voided, outside: true, "voided at the console") }
                if world.scenario.capturesOutside { becomes(.taken, outside: true, "CAPTURED at the console") }
            }
            if present.status == .pending {
                let isSale = world.legContracts[leg].phases == .sale
                becomes(isSale ? .taken : .held, "decides: \(isSale ? "SOLD" : "AUTHORIZED")")
                if world.scenario.refusals.contains(.primary) { becomes(.declined, "decides: declined") }
            }
        }
    }

    private mutating func providersTell(_ state: GlobalState, _ sink: inout Sink) {
        guard world.scenario.tells else { return }
        for leg in legs where world.legContracts[leg].inquiry == .byResend {
            let isSale = world.legContracts[leg].phases == .sale
            for slot in ProviderLeg.Slot.allCases where world.hasEffect(slot, leg: leg) {
                if let isDone = state[leg: leg].end(of: slot, isSale: isSale) {
                    let words = "provider \(leg) tells that \(slot) \(isDone ? "was done" : "failed")"
                    tells(.told(leg: leg, slot, isDone: isDone), state, words, &sink)
                }
                tells(
                    .toldAstray(leg: leg, slot, ofAnother: true), state,
                    "provider \(leg) tells of \(slot) of ANOTHER payment", &sink)
                guard slot != .void else { continue }
                tells(
                    .toldAstray(leg: leg, slot, ofAnother: false), state,
                    "provider \(leg) tells of \(slot) of ANOTHER amount", &sink)
            }
        }
    }

    private mutating func tells(
        _ event: LocalEvent, _ state: GlobalState, _ words: @autoclosure () -> String, _ sink: inout Sink
    ) {
        guard let next = after(event, state) else { return }
        sink.add(next, described(event, state, words()))
    }

    private mutating func timePasses(_ state: GlobalState, _ sink: inout Sink) {
        let traits = locals.traits[Int(state.row)]
        // A worker that waits for an answer for so long is the same as one that was taken over.
        guard !traits.hasAttempt, state.late == 0 else { return }
        let agesMatter =
            world.legContracts.contains { $0.enforcesNotAfter || $0.visibilityLag > .zero }
            || world.scenario.requestLife == .bounded || world.scenario.losses != .none
        if agesMatter, let next = passed(.lifePasses, state) { sink.add(next, "the life of requests passes") }
        if world.retention != nil, let next = passed(.retentionPasses, state) {
            sink.add(next, "the retention of keys or statuses passes")
        }
        if world.scenario.deadlineIsNear, !traits.deadlinePassed, let next = passed(.deadlinePasses, state) {
            sink.add(next, "the deadline passes")
        }
        if world.scenario.captureMode == .manual, !traits.holdsEnded, let next = passed(.holdsEnd, state) {
            sink.add(next, "days pass")
        }
    }

    /// The state after a length of time; nil if nothing changes.
    mutating func passed(_ event: LocalEvent, _ state: GlobalState) -> GlobalState? {
        var next = state
        let row = locals.step(state.row, event)
        guard row != LocalTable.none else { return nil }
        next.row = row
        if state.oldSite > 0 { next.oldSite = locals.step(state.oldSite - 1, event) + 1 }
        next.standby = standbys.passing(state.standby, event, world)
        if event != .deadlinePasses {
            for leg in legs { grow(old: leg, event, &next) }
        }
        return next == state ? nil : next
    }

    private func grow(old leg: Int, _ event: LocalEvent, _ next: inout GlobalState) {
        let contract = world.legContracts[leg]
        next[leg: leg].isRecent = false
        next[leg: leg].isNew = false
        let isBounded = world.scenario.requestLife == .bounded && !world.has(.requestsOutliveTheirLife)
        for slot in ProviderLeg.Slot.allCases {
            let isRefusedLate = slot == .primary && contract.enforcesNotAfter && !world.has(.notAfterNotEnforced)
            if isBounded || isRefusedLate { next.takeOffWire(leg, slot) }
        }
        guard event != .lifePasses, next[leg: leg].status != .absent else { return }
        // A tombstone stays. One that was left on a forgotten key is told by the key that is forgotten beneath it.
        guard next[leg: leg].status != .tombstoned else { return }
        if contract.keyRetention != nil { next[leg: leg].forgetKeys() }
        if contract.statusRetention != nil { next[leg: leg].statusForgotten = true }
    }

    // MARK: The caller

    private mutating func callerActs(_ state: GlobalState, _ sink: inout Sink) {
        let traits = locals.traits[Int(state.row)]
        if traits.mayCancel {
            if state.late == 0 || world.has(.lateWritesAccepted) {
                stepped(.cancels, state, .active, "the caller cancels", &sink)
            }
            if let next = after(.cancelsBeside, state) {
                sink.add(next, described(.cancelsBeside, state, "the caller cancels beside the worker"))
            }
        }
        guard state.late == 0 else { return }
        if world.scenario.isCompared, !traits.isFinal {
            for leg in legs {
                guard let next = after(.compared(leg: leg), state) else { continue }
                sink.add(next, described(.compared(leg: leg), state, "a comparison finds that leg \(leg) differs"))
            }
        }
        if traits.isResting, let next = after(.captures, state) {
            sink.add(next, described(.captures, state, "the caller captures"))
        }
        if let refundIndex = traits.nextRefund, let next = after(.refunds(refundIndex), state) {
            sink.add(next, described(.refunds(refundIndex), state, "the caller asks for a refund"))
        }
    }

    // MARK: Lost rows

    private mutating func rowsAreLost(_ state: GlobalState, _ sink: inout Sink) {
        guard world.scenario.losses != .none else { return }
        let traits = locals.traits[Int(state.row)]
        if world.scenario.isReplicated {
            let copy = standbys.copy(of: state.row, locals)
            if copy != state.standby {
                var next = state
                next.standby = copy
                sink.add(next, "the rows reach the standby")
            }
        }
        if !traits.latchAcknowledged, standbys.latch(state.standby) == traits.latch,
            let next = after(.acknowledged, state)
        {
            sink.add(next, described(.acknowledged, state, "the latch is acknowledged"))
        }
        guard Int(state.losses) < world.scenario.lossCount else { return }
        var next = state
        next.losses += 1
        // What the holder had under way may still leave.
        for leg in legs { if let slot = traits.attempts[leg] { next.putOnWire(leg, slot) } }
        if world.has(.oldSiteGoesOn) { next.oldSite = state.row + 1 }
        if world.scenario.isRestore { next.standby = StandbyTable.empty }
        next.row = standbys.recover(next.standby, &locals)
        next.told |= locals.traits[Int(next.row)].tells
        sink.add(
            next,
            world.scenario.isRestore
                ? "a RESTORE loses every row, and the caller asks again"
                : "a FAILOVER loses rows, and the caller asks again")
    }
}
