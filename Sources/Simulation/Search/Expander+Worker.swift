internal import PaymentCore

extension Expander {
    mutating func workerActs(_ state: GlobalState, site: Site, _ sink: inout Sink) {
        let handlerOnly = state.late > 0 && world.has(.lateWritesAcceptedBesideHandler)
        guard !handlerOnly else { return }
        let traits = locals.traits[Int(row(state, site))]
        let name = site == .active ? "worker" : "old site's worker"
        if traits.due == .now { stepped(.wakes, state, site, "\(name) wakes", &sink) }
        if traits.isBusy { takenOver(state, site, &sink) }
        for leg in traits.attempts.indices {
            if let slot = traits.attempts[leg] { attemptEnds(slot, leg, state, site, name, &sink) }
            if traits.asks[leg] { asksStatus(leg, traits, state, site, name, &sink) }
        }
    }

    /// A step of the worker that changes the row; what it sends leaves when the attempt ends.
    mutating func stepped(
        _ event: LocalEvent, _ state: GlobalState, _ site: Site, _ words: @autoclosure () -> String,
        _ sink: inout Sink
    ) {
        guard let next = after(event, state, site) else { return }
        let text = sink.words == nil ? "" : described(event, state, words(), site)
        sink.add(next, text)
        guard world.has(.sendsBeforeCommit) else { return }
        let before = locals.traits[Int(row(state, site))]
        let attempts = locals.traits[Int(row(next, site))].attempts
        var crashed = state
        for leg in attempts.indices {
            guard let slot = attempts[leg], before.attempts[leg] == nil else { continue }
            crashed.putOnWire(leg, slot)
        }
        guard crashed != state else { return }
        sink.add(crashed, text + ", and stops before the change is durable")
    }

    private mutating func takenOver(_ state: GlobalState, _ site: Site, _ sink: inout Sink) {
        let attempts = locals.traits[Int(row(state, site))].attempts
        let next = locals.step(row(state, site), .takenOver)
        guard next != LocalTable.none else { return }
        var global = with(row: next, state, site)
        for leg in attempts.indices { if let slot = attempts[leg] { global.putOnWire(leg, slot) } }
        guard global != state else { return }
        sink.add(global, described(.takenOver, state, "the worker stops or pauses; another takes over", site))
    }

    private mutating func attemptEnds(
        _ slot: ProviderLeg.Slot, _ leg: Int, _ state: GlobalState, _ site: Site, _ name: String, _ sink: inout Sink
    ) {
        var sent = state
        sent.putOnWire(leg, slot)
        stepped(
            .ends(leg: leg, .indeterminate, credentials: false), sent, site,
            "\(name): \(slot) leg \(leg) sent, no answer", &sink)
        let answers = world.scenario.answers
        func ends(_ outcome: OutcomeClass, _ answer: Scenario.Answers, credentials: Bool = false) {
            guard answers.contains(answer) else { return }
            stepped(
                .ends(leg: leg, outcome, credentials: credentials), state, site,
                "\(name): \(slot) leg \(leg) \(outcome.name)\(credentials ? " (credentials)" : "")", &sink)
        }
        ends(.unsent, .unsent)
        ends(.throttled, .throttled)
        if answers.contains(.throttled), world.legContracts[leg].inquiry == .byResend {
            stepped(
                .ends(leg: leg, .throttled, credentials: false), sent, site,
                "\(name): \(slot) leg \(leg) throttled, and a copy of it is on its way", &sink)
        }
        if !isAnsweredByItsKey(slot, leg, state) { ends(.refused, .refused) }
        ends(.refused, .credentials, credentials: true)
        if answers.contains(.stray) {
            stepped(
                .strays(leg: leg), sent, site, "\(name): \(slot) leg \(leg) sent, answered by a stray refusal", &sink)
        }
        guard answers.contains(.transaction) else { return }
        for delivery in world.deliveries(slot, leg: leg, to: state[leg: leg]) {
            var arrived = sent
            arrived[leg: leg] = delivery.leg
            stepped(
                .answered(leg: leg, delivery.outcome, delivery.leg.shownInAnswer), arrived, site,
                "\(name): \(slot) leg \(leg), provider \(leg): \(delivery.words), and answers", &sink)
        }
    }

    /// Whether the answer can only be what the key stands for already. Where nothing can be asked, a refusal that names
    /// the key says that it stands for nothing (docs/protocol.md, table A).
    private func isAnsweredByItsKey(_ slot: ProviderLeg.Slot, _ leg: Int, _ state: GlobalState) -> Bool {
        guard world.legContracts[leg].inquiry == .byResend, !world.has(.keysComeLast) else { return false }
        guard let delivery = world.deliveries(slot, leg: leg, to: state[leg: leg]).first else { return false }
        return delivery.leg == state[leg: leg] && delivery.outcome != .refused
    }

    private mutating func asksStatus(
        _ leg: Int, _ traits: LocalTraits, _ state: GlobalState, _ site: Site, _ name: String, _ sink: inout Sink
    ) {
        if world.scenario.readsMayFail {
            stepped(.readFails(leg: leg), state, site, "\(name): leg \(leg) cannot be read", &sink)
        }
        if world.scenario.mayContradict, state[leg: leg].status != .absent {
            stepped(.contradicts(leg: leg), state, site, "\(name) reads leg \(leg): another amount", &sink)
        }
        if world.scenario.readsMayErr, state.told & 4 != 0 {
            stepped(.errs(leg: leg), state, site, "\(name) reads leg \(leg): declined, WRONGLY", &sink)
        }
        if world.scenario.readsTakeTime, traits.readBegan[leg] {
            return stepped(.readEnds(leg: leg), state, site, "\(name) is answered about leg \(leg)", &sink)
        }
        let fresh = state[leg: leg].shown
        let isSale = world.legContracts[leg].phases == .sale
        for (viewIndex, view) in ([fresh] + state[leg: leg].earlier(isSale: isSale)).enumerated() {
            let event: LocalEvent =
                world.scenario.readsTakeTime ? .readBegins(leg: leg, view) : .reads(leg: leg, view)
            stepped(event, state, site, "\(name) reads leg \(leg)\(viewIndex > 0 ? " STALE" : "") = \(view)", &sink)
        }
    }

    // MARK: Late writers

    /// A task of the same worker that decided on an older version. The shipped store refuses it, so that it exists only
    /// where a plant lets it write.
    mutating func writesLate(_ state: GlobalState, _ sink: inout Sink) {
        guard world.has(.lateWritesAccepted) || world.has(.lateWritesAcceptedBesideHandler) else { return }
        if state.late > 0 {
            var next = with(row: state.late - 1, state)
            next.late = 0
            return sink.add(next, "the task writes what it decided, and sends it")
        }
        let decided = locals.step(state.row, .wakes)
        guard decided != LocalTable.none, locals.traits[Int(decided)].hasAttempt,
            !locals.traits[Int(state.row)].hasAttempt
        else { return }
        var next = state
        next.late = decided + 1
        sink.add(next, described(.wakes, state, "a task decides, and has not written it yet"))
    }

    // MARK: Words

    /// What the shipped machine did in a step, from its own audit entries and actions.
    func described(_ event: LocalEvent, _ state: GlobalState, _ what: String, _ site: Site = .active) -> String {
        guard let step = world.step(locals.states[Int(row(state, site))], event) else { return what }
        var did: [String] = []
        for entry in step.entries {
            let leg = entry.leg.map { " leg \($0)" } ?? ""
            func field(_ name: String) -> String { entry.value(name) ?? "-" }
            switch entry.type {
            case .intent: did.append("intent \(field("kind"))\(leg) [\(field("row"))]")
            case .decision: did.append("\(field("decision"))\(leg) [\(field("row"))]")
            case .latch: did.append("latch \(field("latch")) [\(field("row"))]")
            case .concluded: did.append("\(field("state").uppercased()), the caller is told [\(field("row"))]")
            case .quarantined: did.append("QUARANTINED\(leg): \(field("cause"))")
            case .alert: did.append("\(field("what"))\(leg)")
            case .refund: did.append("refund \(field("state"))")
            default: break
            }
        }
        for case .inquire(let order) in step.actions { did.append("asks leg \(order.leg)") }
        return did.isEmpty ? what : "\(what): \(did.joined(separator: ", "))"
    }
}
