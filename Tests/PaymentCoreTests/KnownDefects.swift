import PaymentCore
import Testing

/// What the core does not do yet as the protocol wants it. Each test says what is wrong; once it is mended the test fails
/// as "known issue was not recorded", loses its `withKnownIssue` and moves to the suite where it belongs.
@Suite struct KnownDefects {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test func `a key of 26 characters can be made`() async {
        await withKnownIssue("the mask of the remaining bits overflows after the last character, and traps") {
            await #expect(processExitsWith: .success) {
                guard KeyFormat.base32of26.encode(Digest(of: ["a"])).utf8.count == 26 else { fatalError("wrong length") }
            }
        }
    }

    @Test func `a hold of another amount than asked is not captured`() throws {
        var stage = try fixture.stage([.reference, .reference]) { $0.showsAnotherAmount = $0.name == 0 }
        stage.run(while: { !$0.awaitsPeople })
        withKnownIssue("a hold counts as held whatever its amount and key; the contradiction is seen after the capture") {
            #expect(stage.sent(.capture).isEmpty)
            #expect(stage.durable.latch == .none)
        }
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
        withKnownIssue("the key of a hold is not looked at before the payment goes forward") {
            #expect(machine.payment.state == .quarantined)
            #expect(machine.payment.latch == .none)
        }
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
        withKnownIssue("the proof of a captured leg turns it back without a reason, and so it is concluded") {
            #expect(machine.payment.reason != nil)
        }
    }

    @Test func `nothing is authorized by the change that turns the payment back`() throws {
        let contracts = try fixture.byName([.reference, .reference])
        var context = MachineContext(now: fixture.start, contracts: contracts)
        var machine = PaymentMachine.create(try fixture.request([.reference, .reference]), context).machine
        let unsent = AttemptReport(.unsent, code: "connect_refused")
        _ = machine.handle(.attempted(leg: 0, effect: .primary, number: 1, unsent), context)
        context.now = context.now + .seconds(2)
        let declined = AttemptReport(
            .declined, code: "declined", observation: Observation(.declined, began: context.now, source: .answer))
        let actions = machine.handle(.attempted(leg: 1, effect: .primary, number: 1, declined), context)
        #expect(machine.payment.latch == .back)
        withKnownIssue("leg 0 is sent again, though the same change latches back") {
            #expect(!actions.contains { if case .send(let order) = $0 { order.kind == .authorize } else { false } })
        }
    }

    @Test func `nothing is captured by the change that gives the payment up`() throws {
        var stage = try fixture.stage([.reference, .reference])
        stage.run(while: { $0.sent(.capture).count < 2 })
        var context = stage.context
        var machine = try #require(stage.holder)
        let unsent = AttemptReport(.unsent, code: "connect_refused")
        _ = machine.handle(.attempted(leg: 0, effect: .capture, number: 1, unsent), context)
        context.now = context.now + .seconds(2)
        let declined = AttemptReport(.declined, code: "declined")
        let actions = machine.handle(.attempted(leg: 1, effect: .capture, number: 1, declined), context)
        #expect(machine.payment.latch == .compensate)
        withKnownIssue("leg 0 is captured, though the same change latches compensate") {
            #expect(!actions.contains { if case .send(let order) = $0 { order.kind == .capture } else { false } })
        }
    }

    @Test func `a refund behind one that is quarantined does not wait in silence`() throws {
        var stage = try fixture.stage([.gmoLike]) { $0.declines[.refund] = 1 }
        stage.run()
        try stage.refund([0: 100], key: "refund-1")
        try stage.refund([0: 200], key: "refund-2")
        stage.run()
        #expect(stage.durable.refunds.first?.state == .quarantined)
        withKnownIssue("it is processing for ever, due never, and nobody can resolve the one before it") {
            #expect(stage.durable.refunds.last?.state != .processing || stage.durable.dueAt != nil)
        }
    }

    @Test func `a refund that is refused after one in doubt is not sent for ever`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        stage.sendScript = [.lostRequest] + Array(repeating: .refused, count: 500)
        try stage.refund([0: 100])
        stage.run(steps: 400)
        withKnownIssue("it is sent again every hour, unchanged, and nobody is told") {
            #expect(stage.sent(.refund).count < 30)
            #expect(!stage.alerts.isEmpty)
        }
    }

    @Test func `a declined sale that is plugged is not tried for ever`() throws {
        var stage = try fixture.stage([.payPay], plug: true) { $0.declines[.sale] = 1_000 }
        stage.run(steps: 400)
        withKnownIssue("the declined card is charged anew every hour without an end, and the caller never hears") {
            #expect(stage.sent(.sale).count < 30)
            #expect(stage.durable.state == .failed || stage.durable.state == .quarantined)
        }
    }

    @Test func `a contract without inquiry that is allowed can be settled`() throws {
        var contract = ProviderContract.reference
        contract.inquiry = .none
        guard contract.traps(under: SafetyAssumptions()).isEmpty else { return }
        let unreadable = Array(repeating: Stage.ReadFault.unavailable, count: 500)
        var stage = try fixture.stage([contract], send: [.lostAnswer], read: unreadable)
        stage.run(steps: 200)
        withKnownIssue("it asks for ever what cannot be asked, and neither sends nor cancels the key") {
            #expect(stage.durable.state.isFinal)
        }
    }

    @Test(arguments: ["4111111111111111 12", "1 4111 1111 1111 1111"])
    func `a card number beside other digits is found`(_ text: String) {
        withKnownIssue("digits beside it, after one space or hyphen, are taken for a part of it") {
            #expect(CardNumber.appears(in: text))
        }
    }

    @Test func `an effect that was pending is not missed by one read`() throws {
        var stage = try fixture.stage([.reference]) { $0.pendingFor = .minutes(5) }
        stage.run(while: { $0.durable.legs[0].conclusiveReads < 2 || $0.holder?.busy.isEmpty != true })
        stage.handle(.inquired(leg: 0, Observation(.notFound, began: stage.now, source: .inquiry)))
        withKnownIssue("reads that found it count as reads that did not") {
            #expect(stage.durable.state != .quarantined)
        }
    }

    @Test func `attempts without a not_after prove nothing when the contract gains one`() throws {
        var loose = ProviderContract.enforcing
        loose.enforcesNotAfter = false
        var stage = try fixture.stage([loose], plug: true, send: [.late(.seconds(100))])
        stage.contracts = try fixture.byName([.enforcing])
        try stage.cancel()
        stage.run()
        withKnownIssue("gone is taken for proven, the request arrives later, and its hold stays") {
            #expect(!stage.isHeld(0))
        }
    }

    @Test func `refused credentials are tried once more even after an attempt that was not sent`() throws {
        var stage = try fixture.stage([.reference], send: [.unsent, .credentialsRefused])
        stage.run()
        withKnownIssue("the unsent attempt counts as the first refusal, and the payment fails") {
            #expect(stage.durable.state == .succeeded)
        }
    }

    @Test func `a refund made elsewhere before ours does not put ours in doubt`() throws {
        var stage = try fixture.stage([.gmoLike])
        stage.run()
        let elsewhere = try fixture.amount(300)
        stage.atProvider(0) { $0.refundOutside($1, elsewhere) }
        try stage.refund([0: 200])
        stage.run()
        withKnownIssue("the sum before it is taken from the read after the capture, not from one of its own time") {
            #expect(stage.durable.refunds.first?.state == .succeeded)
        }
    }

    @Test func `a reversal that comes too late is followed by a refund`() throws {
        var stage = try fixture.stage([.payPay], plug: true, send: [.lostAnswer]) { $0.declines[.void] = 1 }
        try stage.cancel()
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        withKnownIssue("the sale is quarantined, though it can be refunded") {
            #expect(stage.durable.state == .canceled)
            #expect(stage.net(0) == 0)
        }
    }

    @Test func `a charge that appears after the end is undone`() throws {
        var stage = try fixture.stage([.reference]) { $0.declines[.authorize] = 1 }
        stage.run()
        let leg = stage.durable.legs[0]
        let late = Observation(
            .authorized, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount)
        stage.handle(.inquired(leg: 0, late))
        withKnownIssue("a concluded payment is not looked at any more") {
            #expect(stage.sent(.void).count == 1)
        }
    }

    @Test func `after lost rows an old key is not used for the first time`() throws {
        var contract = ProviderContract.stripe
        contract.cancel = .tombstoning
        var context = MachineContext(now: fixture.start, contracts: try fixture.byName([contract]))
        let window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start)
        var machine = PaymentMachine.create(try fixture.request([contract]), context, recovery: window).machine
        context.now = context.now + .seconds(1)
        let missing = Observation(.notFound, began: context.now, source: .inquiry)
        let actions = machine.handle(.inquired(leg: 0, missing), context)
        withKnownIssue("its age is unknown, which counts as too old, and it is sent all the same") {
            #expect(!actions.contains { if case .send = $0 { true } else { false } })
        }
    }
}
