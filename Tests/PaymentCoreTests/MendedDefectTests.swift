import PaymentCore
import Testing

/// Defects that an adversary of the core found, each with the story that showed it.
@Suite struct MendedDefectTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func `a hold of another amount than asked is not captured`() throws {
        var stage = try fixture.stage([.reference, .reference]) { $0.showsAnotherAmount = $0.name == 0 }
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.sent(.capture).isEmpty)
        #expect(stage.durable.latch == .none)
    }

    @Test func `a hold under another key than ours is not captured`() throws {
        let contracts = try fixture.byName([.reference])
        let context = MachineContext(now: fixture.start, contracts: contracts)
        var machine = PaymentMachine.create(try fixture.request([.reference]), context).machine
        let foreign = Observation(
            .authorized, began: context.now, source: .answer, key: EffectKey(reported: "foreign"),
            amount: try fixture.amount(1_000))
        let report = AttemptReport(.accepted, code: "ok", observation: foreign)
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, report), context)
        #expect(machine.payment.state == .quarantined)
        #expect(machine.payment.latch == .none)
    }

    @Test func `a payment that a recovery turns back says why`() throws {
        let contracts = try fixture.byName([.reference, .reference])
        let context = MachineContext(now: fixture.start, contracts: contracts)
        let window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start)
        let request = try fixture.request([.reference, .reference])
        var machine = PaymentMachine.create(request, context, recovery: window).machine
        let leg = machine.payment.legs[0]
        let taken = Observation.Movement(key: EffectKey(reported: "lost"), amount: leg.amount, state: .succeeded)
        let declined = Observation(.declined, began: context.now, source: .inquiry)
        let captured = Observation(
            .captured, began: context.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [taken])
        _ = machine.handle(.inquired(leg: 0, captured), context)
        _ = machine.handle(.inquired(leg: 1, declined), context)
        #expect(machine.payment.latch == .back)
        #expect(machine.payment.reason?.code == .legLost)
    }

    @Test func `a capture that is read with a refund under way is done`() throws {
        var stage = try fixture.stage([.reference], send: [.none, .lostAnswer])
        stage.run(while: { $0.net(0) == 0 })
        let leg = stage.durable.legs[0]
        let ours = Observation.Movement(
            key: try #require(leg.capture?.key), amount: leg.amount, state: .succeeded)
        let elsewhere = Observation.Movement(
            key: EffectKey(reported: "console"), amount: try fixture.amount(10), state: .pending)
        stage.run(while: { $0.durable.legs[0].capture?.open != nil })
        stage.handle(
            .inquired(
                leg: 0,
                Observation(
                    .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
                    captures: [ours], refunds: [elsewhere])))
        #expect(stage.durable.state == .succeeded)
    }

    /// Simulation, seed 1283: the leg was asked about daily for ever, and its refunds waited for the next day.
    @Test func `a quarantined leg that turns out as it was wanted is an ordinary one again`() throws {
        var contract = ProviderContract.reference
        contract.keyRetention = .minutes(10)
        var stage = try fixture.stage(
            [contract], send: [.none, .late(.days(2))], read: Array(repeating: .unavailable, count: 7))
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.legs.first?.quarantine?.effect == .capture)
        stage.run(while: { $0.durable.state != .succeeded })
        #expect(stage.durable.legs.first?.quarantine == nil)
        #expect(stage.durable.dueAt == nil)
        #expect(stage.trail.contains { $0.fields.contains(AuditField("decision", "quarantine lifted")) })
        try stage.refund([0: 100])
        #expect(stage.sent(.refund).count == 1)
    }

    /// Simulation, seed 103753: the replay of a sale whose status was forgotten said captured, no read ever did, and
    /// the key was sent again each hour for ever.
    @Test func `a plug that was accepted and is not shown is for people, and is not sent again`() throws {
        let contracts = try fixture.byName([.payPay])
        var policy = SettlementPolicy()
        policy.plugAllowed = true
        var now = fixture.start
        func context() -> MachineContext { MachineContext(now: now, contracts: contracts, policy: policy) }
        let window = RecoveryWindow(readsCountFrom: now, latestNotAfter: now, listingCompared: true)
        var (machine, waiting) = PaymentMachine.create(
            try fixture.request([.payPay]), context(), recovery: window)
        var sent = 0
        /// Its first request is lost, each later one is answered with what was forgotten; no read shows anything.
        func carryOut() {
            while !waiting.isEmpty {
                switch waiting.removeFirst() {
                case .send(let order):
                    let replay = Observation(
                        .captured, began: now, source: .answer, key: order.transactionKey, amount: order.amount)
                    let report =
                        machine.payment.deadline < now
                        ? AttemptReport(.accepted, code: "replayed", observation: replay)
                        : AttemptReport(.indeterminate, code: "timeout")
                    if machine.payment.deadline < now { sent += 1 }
                    waiting += machine.handle(
                        .attempted(leg: 0, effect: order.effect, number: order.number, report), context())
                case .inquire:
                    let missing = Observation(.notFound, began: now, source: .inquiry)
                    waiting += machine.handle(.inquired(leg: 0, missing), context())
                case .alert: break
                }
            }
        }
        carryOut()
        now = machine.payment.deadline + .seconds(1)
        for _ in 0..<40 where machine.payment.state != .quarantined {
            now = now + .minutes(30)
            waiting = machine.handle(.woke, context())
            carryOut()
        }
        #expect(machine.payment.legs[0].quarantine?.cause == .acceptedButMissing)
        #expect(sent <= 2)
    }

    /// Simulation, seed 75, and outside: what was accepted was declined since. Nothing is sent again; once no request
    /// can arrive any more, the decline that is shown is the end.
    @Test func `a decline that may change ends the payment without another request`() throws {
        let contracts = try fixture.byName([.gmoPG])
        var policy = SettlementPolicy()
        policy.plugAllowed = true
        var now = fixture.start
        func context() -> MachineContext { MachineContext(now: now, contracts: contracts, policy: policy) }
        var machine = PaymentMachine.create(try fixture.request([.gmoPG]), context()).machine
        let key = machine.payment.legs[0].primary.key
        let pending = Observation(.pending, began: now, source: .answer, key: key)
        _ = machine.handle(
            .attempted(
                leg: 0, effect: .primary, number: 1, AttemptReport(.accepted, code: "pending", observation: pending)),
            context())
        var sent = 0
        for minutes: Int64 in [1, 4] {
            now = fixture.start + .minutes(minutes)
            if !machine.busy.contains(0) { _ = machine.handle(.woke, context()) }
            try #require(machine.busy.contains(0))
            #expect(machine.payment.conclusion == nil, "its request may still arrive")
            let declined = Observation(.declined, began: now, source: .inquiry, key: key)
            for case .send in machine.handle(.inquired(leg: 0, declined), context()) { sent += 1 }
        }
        #expect(sent == 0)
        #expect(machine.payment.state == .failed)
        #expect(machine.payment.reason?.code == .declined)
    }

    /// Seed 62: the end of a request of the holder before ended what this one had asked, and it asked a second time.
    @Test func `the end of an earlier holder's request does not end a question that is under way`() throws {
        let contracts = try fixture.byName([.reference])
        let context = MachineContext(now: fixture.start, contracts: contracts)
        let created = PaymentMachine.create(try fixture.request([.reference]), context).machine
        var machine = PaymentMachine(payment: created.payment)
        let asked = machine.handle(.claimed, context).count { if case .inquire = $0 { true } else { false } }
        #expect(asked == 1 && machine.busy == [0])
        let late = AttemptReport(.indeterminate, code: "read_timeout")
        let again = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, late), context)
        #expect(again.isEmpty && machine.busy == [0])
    }

    @Test func `attempts that had no effect do not use up the plug`() throws {
        var stage = try fixture.stage(
            [.gmoPG], plug: true, deadline: fixture.start + .days(1),
            send: Array(repeating: .unsent, count: 8) + [.late(.seconds(100))])
        stage.run(while: { $0.sent.count < 9 })
        try stage.cancel()
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.state == .canceled)
    }

    @Test func `a refund that is declined after one in doubt is not sent for ever`() throws {
        var stage = try fixture.stage([.gmoPG]) { $0.declines[.refund] = 1 }
        stage.run()
        stage.sendScript = [.lostRequest]
        try stage.refund([0: 100])
        stage.run(steps: 400)
        #expect(stage.sent(.refund).count < 30)
    }

    @Test func `a charge that appears after the end is undone`() throws {
        var stage = try fixture.stage([.reference]) { $0.declines[.authorize] = 1 }
        stage.run()
        let leg = stage.durable.legs[0]
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .authorized) }
        let late = Observation(
            .authorized, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount)
        stage.handle(.inquired(leg: 0, late))
        #expect(stage.sent(.void).count == 1)
        stage.run(while: { $0.durable.dueAt != nil })
        #expect(stage.durable.state == .failed)
        #expect(stage.durable.legs[0].gone != nil)
        #expect(stage.durable.dueAt == nil)
    }

    @Test func `a payment whose provider is not configured stays due`() throws {
        let contracts = try fixture.byName([.reference])
        let context = MachineContext(now: fixture.start, contracts: contracts)
        var machine = PaymentMachine.create(try fixture.request([.reference]), context).machine
        let lost = AttemptReport(.indeterminate, code: "read_timeout")
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, lost), context)
        let late = MachineContext(now: machine.payment.deadline + .seconds(1), contracts: [:])
        let actions = machine.handle(.woke, late)
        #expect(actions.isEmpty)
        #expect(machine.payment.latch == .back)
        #expect(machine.payment.dueAt != nil)
    }
}
