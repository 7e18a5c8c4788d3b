import PaymentCore
import Testing

/// After lost rows a comparison finds refunds of which no row tells. Their callers may have been told, and never ask
/// again: the books take them in.
@Suite struct FoundRefundTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A payment that succeeded and gave back an amount under the key `refund-1`, of which the standby knows nothing.
    private func afterLoss(givenBack amount: Int64) throws -> (stage: Stage, given: RefundPosition) {
        var stage = try fixture.stage([.reference])
        stage.run()
        stage.replicate()
        stage.run()
        try stage.refund([0: amount], key: "refund-1")
        stage.run()
        let part = try #require(stage.durable.refunds.first?.parts.first)
        try stage.failOver(fixture.request([.reference]), repetition: .awaited)
        #expect(stage.durable.refunds.isEmpty && stage.durable.refunded.isZero)
        return (stage, RefundPosition(key: part.effect.key, amount: part.effect.amount))
    }

    /// Tells the payment what the comparison over the loss found.
    private func tell(_ stage: inout Stage, _ refund: RefundPosition) throws {
        let run = try Compared.run().id
        if stage.holder == nil { _ = stage.restarted() }
        stage.handle(
            .compared(
                ComparedDifference(
                    leg: 0, run: run, finding: .lateReversal, row: "both.refunded-by-others", action: .settle,
                    refunds: [refund])))
    }

    /// Until nothing is due.
    private func rest(_ stage: inout Stage) {
        stage.run(while: { $0.durable.dueAt != nil || !$0.wire.isEmpty || !($0.holder?.busy.isEmpty ?? true) })
    }

    private func found(_ amount: Int64) throws -> Stage {
        var (stage, given) = try afterLoss(givenBack: amount)
        try tell(&stage, given)
        rest(&stage)
        return stage
    }

    @Test func `it counts once it is read, and nothing is sent`() throws {
        var (stage, given) = try afterLoss(givenBack: 300)
        let sent = stage.sent.count
        try tell(&stage, given)
        rest(&stage)
        #expect(stage.durable.refunded == (try fixture.amount(300)))
        #expect(stage.durable.refundableAmount(ofLeg: 0) == (try fixture.amount(700)))
        #expect(stage.durable.bookedPositions[0].refunds == [given])
        #expect(stage.durable.bookedPositions[0].work == .none && stage.durable.dueAt == nil)
        #expect(stage.sent.count == sent)
        #expect(stage.trail.contains { $0.fields.contains(AuditField("operation", "refund found")) })
        try tell(&stage, given)
        rest(&stage)
        #expect(stage.durable.refunded == (try fixture.amount(300)), "it is the same, however often it is found")
    }

    @Test func `what the provider does not show when it is asked is not counted`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        try tell(&stage, RefundPosition(key: EffectKey(reported: "nobody's"), amount: try fixture.amount(300)))
        rest(&stage)
        #expect(stage.durable.refunded.isZero && stage.durable.foundRefunds == nil)
        #expect(stage.durable.dueAt == nil)
    }

    /// Seed 3061549018: the comparison over the loss met the payment before it had ended, and found no refund to read.
    @Test func `the read that ends a payment whose end was lost shows what was given back too`() throws {
        var stage = try fixture.stage([.reference])
        stage.run(while: { $0.durable.latch == .none })
        stage.replicate()
        stage.run()
        try stage.refund([0: 300], key: "refund-1")
        stage.run()
        try #require(stage.durable.refunds.map(\.state) == [.succeeded])
        try stage.failOver(fixture.request([.reference]), repetition: .awaited)
        try #require(stage.durable.conclusion == nil && stage.durable.latch == .forward)
        rest(&stage)
        #expect(stage.durable.conclusion?.state == .succeeded)
        #expect(stage.durable.refunded == (try fixture.amount(300)))
        #expect(stage.durable.recovery == nil && stage.durable.dueAt == nil)
        #expect(stage.net(0) == 700)
    }

    /// Seed 300279143: a leg that was captured at the provider's console, and of which its caller captures nothing.
    @Test func `what we gave back ourselves is no refund of a lost row`() throws {
        let after = try RecoveredPaymentTests()
        let contracts = [ProviderContract.reference, .reference]
        var machine = try after.recovering(contracts, .manual, .heard)
        let now = try after.context(contracts, after: .minutes(5))
        _ = machine.handle(after.read(.authorized, machine, leg: 0, now), now)
        _ = machine.handle(after.read(.captured, machine, leg: 1, now), now)
        _ = try machine.capture(key: IdempotencyKey("capture-1"), amounts: [0: fixture.amount(700)], now)
        _ = machine.handle(.latchAcknowledged(.forward), now)
        let compensation = try #require(machine.payment.legs[1].compensation)
        let given = Observation.Movement(key: compensation.key, amount: compensation.amount, state: .succeeded)
        let done = AttemptReport(.accepted, code: "ok", observation: nil)
        _ = machine.handle(.attempted(leg: 1, effect: .compensation, number: 1, done), now)
        let later = try after.context(contracts, after: .minutes(6))
        _ = machine.handle(after.read(.captured, machine, leg: 1, later, refunds: [given]), later)
        let capture = try #require(machine.payment.legs[0].capture)
        _ = machine.handle(.attempted(leg: 0, effect: .capture, number: 1, done), later)
        let taken = Observation(
            .captured, began: later.now, source: .inquiry, key: machine.payment.legs[0].primary.key,
            amount: machine.payment.legs[0].amount,
            captures: [.init(key: capture.key, amount: capture.amount, state: .succeeded)])
        _ = machine.handle(.inquired(leg: 0, taken), later)
        #expect(machine.payment.state == .succeeded)
        #expect(machine.payment.foundRefunds == nil)
        #expect(machine.payment.refunded == machine.payment.legs[1].amount)
    }

    @Test func `its caller asks again and has it as its own`() throws {
        var stage = try found(300)
        let sent = stage.sent.count
        try stage.refund([0: 300], key: "refund-1")
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.durable.foundRefunds == nil)
        #expect(
            stage.trail.contains { $0.type == .refund && $0.fields.contains(AuditField("state", "succeeded")) },
            "the events tell its end")
        rest(&stage)
        #expect(stage.durable.refunded == (try fixture.amount(300)))
        #expect(stage.sent.count == sent && stage.net(0) == 700)
        try stage.refund([0: 700], key: "refund-2")
        rest(&stage)
        #expect(stage.net(0) == 0)
        #expect(stage.durable.refunds.map(\.state) == [.succeeded, .succeeded])
    }

    @Test func `all that remained is asked for again without amounts`() throws {
        var stage = try found(1_000)
        try stage.refund(key: "refund-1")
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.durable.refunded == (try fixture.amount(1_000)))
    }

    @Test func `under its key another amount is refused, and under another key no more than is left`() throws {
        var stage = try found(300)
        let other = OperationRefusal.invalid(
            field: "legs[].amount", detail: "under this key 300 JPY of leg 0 was given back; the same is allowed")
        #expect(throws: other) { try stage.refund([0: 200], key: "refund-1") }
        let tooMuch = OperationRefusal.invalid(
            field: "legs[].amount", detail: "leg 0 can give back at most 700 JPY; 800 JPY is not allowed")
        #expect(throws: tooMuch) { try stage.refund([0: 800], key: "refund-2") }
        #expect(stage.durable.refunds.isEmpty)
        #expect(stage.durable.refunded == (try fixture.amount(300)))
    }

    @Test func `a caller that comes before it is read is answered once it is`() throws {
        var (stage, given) = try afterLoss(givenBack: 300)
        let sent = stage.sent.count
        stage.readScript = [.unavailable]
        try tell(&stage, given)
        try stage.refund([0: 300], key: "refund-1")
        #expect(stage.durable.refunds.map(\.state) == [.processing])
        rest(&stage)
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.sent.count == sent && stage.net(0) == 700)
        #expect(stage.durable.refunded == (try fixture.amount(300)))
    }

    /// Each leg is listed by a run of its own, and what the first changed is too young for the second.
    @Test func `what was given back of other legs is found with it`() throws {
        var stage = try fixture.stage([.reference, .reference])
        stage.run()
        stage.replicate()
        stage.run()
        try stage.refund([0: 300, 1: 200], key: "refund-1")
        stage.run()
        let part = try #require(stage.durable.refunds.first?.parts.first)
        try stage.failOver(fixture.request([.reference, .reference]), repetition: .awaited)
        try tell(&stage, RefundPosition(key: part.effect.key, amount: part.effect.amount))
        rest(&stage)
        #expect(stage.durable.refunded == (try fixture.amount(500)))
        try stage.refund([0: 300, 1: 200], key: "refund-1")
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.durable.refunded == (try fixture.amount(500)))
    }

    @Test func `a refund that is asked for after lost rows finds the one before it`() throws {
        var (stage, _) = try afterLoss(givenBack: 300)
        try stage.refund([0: 100], key: "refund-2")
        rest(&stage)
        #expect(stage.net(0) == 600)
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.durable.refunded == (try fixture.amount(400)))
    }

    @Test func `refunds are taken in only where acknowledged rows may be lost, and only if nothing else differs`()
        throws
    {
        let ours = try Compared.ours("k", .taken)
        let theirs = try Compared.theirs("k", .captured, refunds: ["lost": 300])
        func finding(_ ours: BookedPosition, _ theirs: ListedPosition) -> ComparisonFinding {
            let facts = ComparisonFacts(
                ours: ours, named: nil, theirs: theirs, in: .init(horizon: Compared.start + .hours(1)))
            return ComparisonFinding(
                provider: ours.provider, key: ours.key, ComparisonTable.shipped.classify(facts), ours: ours,
                named: nil,
                theirs: theirs)
        }
        let policy = ComparisonPolicy.standard
        #expect(policy.rule(for: finding(ours, theirs)).action == .tell)
        #expect(policy.rule(for: finding(ours, theirs), findsRefunds: true).action == .settle)
        let voided = try Compared.theirs("k", .voided)
        #expect(policy.rule(for: finding(ours, voided), findsRefunds: true).action == .tell)
    }
}
