import PaymentCore
import Testing

/// Untrusted rows, unacknowledged latches, and schedules that must neither stop nor spin.
@Suite struct RecoveryTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func recovering(
        _ contracts: [ProviderContract], compared: Bool = false
    ) throws -> (PaymentMachine, [PaymentAction], MachineContext) {
        let context = MachineContext(now: fixture.start, contracts: try fixture.byName(contracts))
        let window = RecoveryWindow(
            readsCountFrom: fixture.start, latestNotAfter: fixture.start + .minutes(2), listingCompared: compared)
        let created = PaymentMachine.create(try fixture.request(contracts), context, recovery: window)
        return (created.machine, created.actions, context)
    }

    private func read(
        _ status: Observation.Status, _ machine: PaymentMachine, leg: Int, _ context: MachineContext
    ) -> PaymentEvent {
        let of = machine.payment.legs[leg]
        let taken = Observation.Movement(key: EffectKey(reported: "lost"), amount: of.amount, state: .succeeded)
        return .inquired(
            leg: leg,
            Observation(
                status, began: context.now, source: .inquiry, key: of.primary.key, amount: of.amount,
                captures: status == .captured ? [taken] : []))
    }

    private func sends(_ actions: [PaymentAction]) -> [EffectKind] {
        actions.compactMap { if case .send(let order) = $0 { order.kind } else { nil } }
    }

    @Test func `on untrusted rows everything is asked before anything is sent`() throws {
        let (_, actions, _) = try recovering([.reference, .reference])
        #expect(actions.count == 2)
        #expect(sends(actions).isEmpty)
    }

    @Test func `a captured leg and a held one prove that it went forward`() throws {
        var (machine, _, context) = try recovering([.reference, .reference])
        _ = machine.handle(read(.authorized, machine, leg: 1, context), context)
        _ = machine.handle(read(.captured, machine, leg: 0, context), context)
        #expect(machine.payment.latch == .forward)
    }

    @Test(arguments: [Observation.Status.unavailable, .pending])
    func `a read that told nothing proves nothing`(_ status: Observation.Status) throws {
        var (machine, _, context) = try recovering([.reference, .reference])
        _ = machine.handle(read(status, machine, leg: 1, context), context)
        let actions = machine.handle(read(.captured, machine, leg: 0, context), context)
        #expect(machine.payment.latch == .none)
        #expect(sends(actions).isEmpty)
        #expect(machine.payment.dueAt != nil)
    }

    @Test func `a refusal on untrusted rows does not end a leg that may have been sold`() throws {
        var (machine, _, context) = try recovering([.referenceSale], compared: true)
        var actions = machine.handle(read(.notFound, machine, leg: 0, context), context)
        #expect(sends(actions) == [.sale])
        let refused = AttemptReport(.refused, code: "http_422")
        actions = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, refused), context)
        context.now = context.now + .seconds(9)
        actions = machine.handle(read(.captured, machine, leg: 0, context), context)
        #expect(machine.payment.conclusion == nil)
        #expect(sends(actions) == [.refund])
    }

    @Test func `an answer is not believed on untrusted rows, only a read`() throws {
        var (machine, _, context) = try recovering([.reference])
        _ = machine.handle(read(.notFound, machine, leg: 0, context), context)
        let leg = machine.payment.legs[0]
        let answer = Observation(
            .authorized, began: context.now, source: .answer, key: leg.primary.key, amount: leg.amount)
        let accepted = AttemptReport(.accepted, code: "ok", observation: answer)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, accepted), context)
        #expect(machine.payment.latch == .none)
    }

    @Test func `a sale waits until the listings were compared`() throws {
        var (machine, _, context) = try recovering([.referenceSale])
        let actions = machine.handle(read(.notFound, machine, leg: 0, context), context)
        #expect(sends(actions).isEmpty)
        #expect(machine.payment.dueAt != nil)
    }

    @Test func `an acknowledgement of an earlier latch lets no refund leave`() throws {
        var stage = try fixture.stage([.reference, .reference], acknowledged: false) {
            if $0.name == 1 { $0.declines[.capture] = 1 }
        }
        stage.run(while: { $0.durable.latch != .compensate })
        stage.handle(.latchAcknowledged(.forward))
        #expect(!stage.durable.latchAcknowledged)
        #expect(stage.sent(.refund).isEmpty)
        stage.run()
        #expect(stage.durable.state == .failed)
        #expect(stage.net(0) == 0 && stage.judge.faults.isEmpty)
    }

    @Test func `an unacknowledged end is looked at again although nobody tells`() throws {
        var stage = try fixture.stage([.reference], acknowledged: false) { $0.declines[.authorize] = 1 }
        stage.run(while: { $0.durable.latch != .back })
        #expect(stage.durable.conclusion == nil)
        #expect(stage.durable.dueAt != nil)
    }

    @Test func `whoever asks now is not put off`() throws {
        var stage = try fixture.stage([.reference], send: [.lostAnswer], read: [.unavailable, .unavailable])
        stage.run(while: { $0.actions < 3 || $0.holder?.busy.isEmpty != true })
        let before = stage.actions
        stage.handle(.inquireNow)
        #expect(stage.actions == before + 1)
    }

    @Test func `a provider that cannot be read is not asked in a tight loop`() throws {
        let reads = [Stage.ReadFault.none] + Array(repeating: .unavailable, count: 60)
        var stage = try fixture.stage([.enforcing], send: [.lostRequest], read: reads)
        try stage.cancel()
        stage.run(until: fixture.start + .hours(1))
        #expect(stage.actions < 20)
        #expect(stage.durable.state == .canceling)
        stage.readScript = []
        stage.run()
        #expect(stage.durable.state == .canceled)
    }

    @Test func `a provider that throttles or cannot be reached is tried ever more slowly, without an end`() throws {
        for fault in [Stage.SendFault.unsent, .throttled] {
            var stage = try fixture.stage([.reference], .manual)
            stage.run(while: { !$0.durable.isResting })
            stage.sendScript = Array(repeating: fault, count: 500)
            try stage.capture()
            stage.run(steps: 400, until: fixture.start + .days(2))
            #expect((10...80).contains(stage.sent(.capture).count), "\(stage.sent(.capture).count)")
            #expect(stage.durable.dueAt != nil)
            stage.sendScript = []
            stage.run()
            #expect(stage.durable.state == .succeeded)
        }
    }
}
