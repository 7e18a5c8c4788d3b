import PaymentCore
import Testing

/// Providers, rows and contracts that make a simple table go wrong, in the smallest story for each.
@Suite struct StubbornProviderTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

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
        #expect(!actions.contains { if case .send(let order) = $0 { order.kind == .authorize } else { false } })
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
        #expect(!actions.contains { if case .send(let order) = $0 { order.kind == .capture } else { false } })
    }

    @Test func `a declined sale that is plugged is not tried for ever`() throws {
        var stage = try fixture.stage([.payPay], plug: true) { $0.declines[.sale] = 1_000 }
        stage.run(steps: 400)
        #expect(stage.sent(.sale).count < 30)
        #expect(stage.durable.state == .failed || stage.durable.state == .quarantined)
    }

    /// A lost answer could never be settled there, so none is let in, whatever else the provider offers.
    @Test(arguments: [ProviderContract.Cancel.tombstoning, .onlyIfPresent, .none], [Span.days(30), nil])
    func `a contract without inquiry is refused`(cancel: ProviderContract.Cancel, keyRetention: Span?) {
        var contract = ProviderContract.reference
        (contract.cancel, contract.keyRetention) = (cancel, keyRetention)
        let others = contract.traps(under: SafetyAssumptions()).map(\.name)
        contract.inquiry = .none
        let found = Set(contract.traps(under: SafetyAssumptions()).map(\.name)).subtracting(others)
        let expected: ContractTrap.Name =
            keyRetention != nil ? .noInquiryAndKeysExpire : cancel == .none ? .noInquiryAndNoCancel : .noInquiry
        #expect(found.contains(expected), "\(found)")
    }

    @Test func `an effect that was pending is not missed by one read`() throws {
        var stage = try fixture.stage([.reference]) { $0.pendingFor = .minutes(5) }
        stage.run(while: { $0.durable.legs[0].conclusiveReads < 2 || $0.holder?.busy.isEmpty != true })
        stage.handle(.inquired(leg: 0, Observation(.notFound, began: stage.now, source: .inquiry)))
        #expect(stage.durable.state != .quarantined)
    }

    @Test func `attempts without a not_after prove nothing when the contract gains one`() throws {
        var loose = ProviderContract.enforcing
        loose.enforcesNotAfter = false
        var stage = try fixture.stage([loose], plug: true, send: [.late(.seconds(100))])
        stage.contracts = try fixture.byName([.enforcing])
        try stage.cancel()
        stage.run()
        #expect(!stage.isHeld(0))
    }

    @Test func `refused credentials are tried once more even after an attempt that was not sent`() throws {
        var stage = try fixture.stage([.reference], send: [.unsent, .credentialsRefused])
        stage.run()
        #expect(stage.durable.state == .succeeded)
    }

    @Test func `a reversal that comes too late is followed by a refund`() throws {
        var stage = try fixture.stage([.payPay], plug: true, send: [.lostAnswer]) { $0.declines[.void] = 1 }
        try stage.cancel()
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.state == .canceled)
        #expect(stage.net(0) == 0)
    }

    @Test(arguments: [Span.zero, .seconds(10), .minutes(1)], [Span.hours(24), nil])
    func `a void that is declined for ever goes to people once a read cannot be stale`(lag: Span, keys: Span?) throws {
        var contract = ProviderContract.stripe
        (contract.visibilityLag, contract.keyRetention) = (lag, keys)
        var stage = try fixture.stage([contract]) { $0.declines[.void] = 1_000 }
        stage.run(while: { $0.sent(.authorize).isEmpty })
        try stage.cancel()
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.state == .quarantined)
        #expect(stage.sent(.void).count < 5)
    }

    @Test func `after lost rows an old key is not used for the first time`() throws {
        var contract = ProviderContract.listed
        contract.cancel = .tombstoning
        var context = MachineContext(now: fixture.start, contracts: try fixture.byName([contract]))
        let window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start)
        var machine = PaymentMachine.create(try fixture.request([contract]), context, recovery: window).machine
        context.now = context.now + .seconds(1)
        let missing = Observation(.notFound, began: context.now, source: .inquiry)
        let actions = machine.handle(.inquired(leg: 0, missing), context)
        #expect(!actions.contains { if case .send = $0 { true } else { false } })
    }
}
