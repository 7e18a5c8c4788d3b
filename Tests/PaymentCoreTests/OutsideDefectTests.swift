import PaymentCore
import Testing

/// Defects that a provider written apart from this project showed, each in the smallest story.
@Suite struct OutsideDefectTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func context(
        _ contracts: [ProviderContract], at now: Timestamp, clocksInDoubt: Set<ProviderName> = []
    ) throws -> MachineContext {
        MachineContext(now: now, contracts: try fixture.byName(contracts), clocksInDoubt: clocksInDoubt)
    }

    /// A payment that rests: everything is held, and its caller knows it.
    private func resting(_ contract: ProviderContract = .reference) throws -> Stage {
        var stage = try fixture.stage([contract], .manual)
        stage.run(while: { !$0.durable.isResting })
        return stage
    }

    private func compared(_ stage: Stage, _ action: ComparisonAction) throws -> PaymentEvent {
        let run = try #require(ComparisonRunID(text: "cmp_" + String(repeating: "1", count: 40)))
        return .compared(
            ComparedDifference(leg: 0, run: run, finding: .statusDiffers, row: "both.status", action: action))
    }

    // MARK: An outage longer than the provider remembers

    @Test(arguments: [ProviderContract.Phases.sale, .authorizeCapture])
    func `a tombstone on a key that the provider may have forgotten ends nothing`(
        _ phases: ProviderContract.Phases
    ) throws {
        var contract = ProviderContract(phases: phases)
        contract.keyRetention = .hours(24)
        contract.statusRetention = .hours(30)
        contract.enforcesNotAfter = false
        var now = fixture.start
        var machine = PaymentMachine.create(try fixture.request([contract]), try context([contract], at: now)).machine
        let lost = AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, lost), try context([contract], at: now))
        now = now + .hours(31)
        var actions = machine.handle(.claimed, try context([contract], at: now))
        var voids = 0
        for _ in 0..<4 where !actions.isEmpty {
            var next: [PaymentAction] = []
            for action in actions {
                switch action {
                case .inquire:
                    let missing = Observation(.notFound, began: now, source: .inquiry)
                    next += machine.handle(.inquired(leg: 0, missing), try context([contract], at: now))
                case .send(let order):
                    voids += order.kind == .void ? 1 : 0
                    let left = Observation(.tombstoned, began: now, source: .answer, key: order.transactionKey)
                    let report = AttemptReport(.accepted, code: "tombstoned", observation: left)
                    next += machine.handle(
                        .attempted(leg: 0, effect: order.effect, number: order.number, report),
                        try context([contract], at: now))
                case .alert: break
                }
            }
            actions = next
        }
        #expect(voids == 0)
        #expect(machine.payment.state == .quarantined)
        #expect(machine.payment.legs[0].quarantine?.cause == .keyTooOld)
    }

    // MARK: Comparisons and what rests

    @Test(arguments: [ComparisonAction.settle, .quarantine])
    func `a comparison does not bring the old deadline of a held payment back`(_ action: ComparisonAction) throws {
        var stage = try resting()
        stage.now = stage.durable.deadline + .minutes(1)
        stage.handle(try compared(stage, action))
        #expect(stage.durable.latch == .none)
        #expect(stage.durable.stopReason == nil)
        let tomorrow = stage.now + .hours(20)
        stage.run(while: { $0.now < tomorrow && $0.durable.legs[0].readWantedSince != nil })
        #expect(stage.sent(.void).isEmpty)
        #expect(stage.durable.latch == .none)
    }

    @Test(arguments: [Observation.Status.notFound, .pending, .declined, .unavailable])
    func `one wrong read of a held payment turns nothing back`(_ status: Observation.Status) throws {
        var stage = try resting()
        stage.now = stage.durable.deadline + .minutes(1)
        let leg = stage.durable.legs[0]
        stage.handle(try compared(stage, .settle))
        stage.handle(.inquired(leg: 0, Observation(status, began: stage.now, source: .inquiry, key: leg.primary.key)))
        #expect(stage.durable.latch == .none)
        stage.run(while: { !$0.durable.isResting })
        #expect(stage.durable.state == .authorized)
        #expect(stage.sent(.void).isEmpty)
        // The next reads agree with what was held, and its caller captures it.
        try stage.capture()
        stage.run()
        #expect(stage.durable.state == .succeeded)
    }

    @Test func `what was captured at the console is for people, not given back`() throws {
        var stage = try resting()
        stage.now = stage.durable.deadline + .minutes(1)
        let leg = stage.durable.legs[0]
        let elsewhere = Observation.Movement(
            key: EffectKey(reported: "console"), amount: leg.amount, state: .succeeded)
        stage.handle(try compared(stage, .settle))
        stage.handle(
            .inquired(
                leg: 0,
                Observation(
                    .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
                    captures: [elsewhere])))
        #expect(stage.durable.state == .quarantined)
        #expect(stage.durable.latch == .none)
        #expect(!stage.alerts.isEmpty)
        stage.run(steps: 40)
        #expect(stage.sent(.refund).isEmpty)
    }

    @Test func `after an older copy was restored untold, the caller's repeated capture is found`() throws {
        var stage = try resting()
        stage.now = stage.durable.deadline + .minutes(1)
        let older = (stage.durable, stage.trail)
        try stage.capture()
        stage.run()
        #expect(stage.durable.state == .succeeded)
        stage.restoreUntold(older.0, older.1)
        stage.handle(try compared(stage, .settle))
        stage.run(steps: 40)
        #expect(stage.sent(.refund).isEmpty, "a success that its caller was told of is not given back")
        try stage.capture()
        stage.run()
        #expect(stage.durable.state == .succeeded)
        #expect(stage.sent(.capture).count == 1)
    }

    // MARK: Answers that name no key

    @Test func `a refusal that names no key fails no refund that was carried out`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        stage.sendScript = [.strayRefusal]
        try stage.refund([0: 300])
        #expect(stage.durable.refunds[0].state == .processing)
        #expect(stage.durable.refundableAmount(ofLeg: 0).value == 700)
        stage.run()
        #expect(stage.durable.refunds[0].state == .succeeded)
        #expect(stage.net(0) == 700)
    }

    @Test func `a stray refusal ends no payment that was captured`() throws {
        var stage = try fixture.stage([.referenceSale], send: [.strayRefusal])
        stage.run()
        #expect(stage.durable.state == .succeeded)
        #expect(stage.net(0) == 1_000)
    }

    @Test func `a key that is bound to another request is for people, and is not sent for ever`() throws {
        var now = fixture.start
        var machine = PaymentMachine.create(try fixture.request([.reference]), try context([.reference], at: now))
            .machine
        let conflict = AttemptReport(.indeterminate, code: "key_reused", keyConflicts: true)
        _ = machine.handle(
            .attempted(leg: 0, effect: .primary, number: 1, conflict), try context([.reference], at: now))
        for _ in 0..<6 where machine.payment.state != .quarantined {
            now = now + .minutes(1)
            if machine.busy.isEmpty { _ = machine.handle(.woke, try context([.reference], at: now)) }
            let missing = Observation(.notFound, began: now, source: .inquiry)
            let made = machine.handle(.inquired(leg: 0, missing), try context([.reference], at: now))
            #expect(!made.contains { if case .send = $0 { true } else { false } })
        }
        #expect(machine.payment.legs[0].quarantine?.cause == .contradiction)
    }

    // MARK: What is tried for ever

    @Test func `people are told of a refund that is tried again and again`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        stage.sendScript = Array(repeating: .lostRequest, count: 12)
        try stage.refund([0: 300])
        stage.run(while: { $0.sent(.refund).count < 8 })
        #expect(stage.alerts.contains { $0.message.contains("again and again") })
        #expect(stage.durable.troubled.map(\.effect) == [.refund(0)])
        stage.run()
        #expect(stage.durable.refunds[0].state == .succeeded)
        #expect(stage.durable.troubled.isEmpty)
    }

    @Test func `a provider that asks to wait for a year is not waited for past the deadline`() throws {
        var machine = PaymentMachine.create(
            try fixture.request([.reference]), try context([.reference], at: fixture.start)
        ).machine
        let year = AttemptReport(.throttled, code: "rate_limited", retryAfter: fixture.start + .days(365))
        _ = machine.handle(
            .attempted(leg: 0, effect: .primary, number: 1, year), try context([.reference], at: fixture.start))
        let due = try #require(machine.payment.dueAt)
        #expect(due <= machine.payment.deadline)
        #expect(try #require(machine.payment.legs[0].notBefore) <= machine.payment.deadline)
    }

    // MARK: Contradictions, and clocks

    @Test func `a contradiction heals once enough reads agree over long enough, and not before`() throws {
        var stage = try fixture.stage([.reference], send: [.lostAnswer])
        stage.run(while: { $0.holder?.busy.isEmpty != true })
        let leg = stage.durable.legs[0]
        let wrong = Observation(
            .authorized, began: stage.now, source: .inquiry, key: leg.primary.key, amount: try fixture.amount(999))
        stage.handle(.inquired(leg: 0, wrong))
        #expect(stage.durable.state == .quarantined)
        let since = try #require(stage.durable.legs[0].quarantine?.since)
        stage.run(while: { $0.durable.state == .quarantined })
        #expect(stage.now - since >= stage.policy.healingSpan)
        stage.run()
        #expect(stage.durable.state == .succeeded)
        let healed = stage.trail.filter { $0.fields.contains(AuditField("row", "contradiction.healed")) }
        #expect(healed.count == 1)
    }

    @Test func `a proof that rests on a clock in doubt is no proof`() throws {
        let provider = try fixture.provider(0)
        var now = fixture.start
        var machine = PaymentMachine.create(try fixture.request([.enforcing]), try context([.enforcing], at: now))
            .machine
        let lost = AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 400)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, lost), try context([.enforcing], at: now))
        now = machine.payment.deadline + .minutes(10)
        func read(_ doubt: Set<ProviderName>) throws {
            let context = try context([.enforcing], at: now, clocksInDoubt: doubt)
            if machine.busy.isEmpty { _ = machine.handle(.woke, context) }
            _ = machine.handle(.inquired(leg: 0, Observation(.notFound, began: now, source: .inquiry)), context)
        }
        try read([provider])
        #expect(machine.payment.latch == .back)
        #expect(machine.payment.conclusion == nil)
        now = now + .hours(1)
        try read([])
        #expect(machine.payment.state == .failed)
    }

    /// A hold of half an hour. By a clock that is twenty minutes behind it ends in ten; by one that is an hour behind
    /// it ended before it was asked for, which the first answer shows.
    /// Where nothing else is known of its end, it is looked at again within the longest delay between two questions.
    @Test(arguments: [
        (Span.minutes(20), false, 10, Span?.some(.minutes(30))), (.minutes(20), true, 30, .minutes(30)),
        (.hours(1), false, 30, .minutes(30)), (.minutes(20), true, 1440, nil), (.hours(1), false, 1440, nil),
    ])
    func `a hold does not end by a clock that is in doubt, or cannot be right`(
        behind: Span, isInDoubt: Bool, minutes: Int64, life: Span?
    ) throws {
        let provider = try fixture.provider(0)
        var contract = ProviderContract.reference
        contract.authorizationLife = life
        let now = fixture.start
        let context = try context([contract], at: now, clocksInDoubt: isInDoubt ? [provider] : [])
        var machine = PaymentMachine.create(try fixture.request([contract], .manual), context).machine
        var held = Observation(
            .authorized, began: now, source: .answer, key: machine.payment.legs[0].primary.key,
            amount: machine.payment.legs[0].amount)
        held.authorizedUntil = now + .minutes(30) + (.zero - behind)
        let report = AttemptReport(.accepted, code: "ok", observation: held, bytesWritten: 100)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, report), context)
        #expect(machine.payment.state == .authorized)
        #expect(machine.payment.dueAt == now + .minutes(minutes))
    }

    @Test(arguments: [ProviderContract.payPay, .gmoPG]) func `a plain decline fails without people`(
        _ contract: ProviderContract
    ) throws {
        var stage = try fixture.stage([contract], plug: true) {
            $0.declines[.sale] = 1
            $0.declines[.authorize] = 1
        }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.state == .failed)
        #expect(stage.durable.reason?.code == .declined)
        #expect(stage.sent.count == 1)
        #expect(stage.alerts.isEmpty)
    }
}
