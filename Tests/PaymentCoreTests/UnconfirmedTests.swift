import PaymentCore
import Testing

/// A provider that cannot be asked received a request, and does not tell how it ends: people decide in the end.
@Suite struct UnconfirmedTests {
    private let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A payment whose capture was received two days ago, and whose provider has told nothing since.
    private func untold() throws -> Stage {
        var stage = try fixture.stage([.unaskable], plug: true)
        stage.run(while: { $0.durable.legs[0].primary.word == nil })
        stage.atProvider(0) { ledger, _ in ledger.pendingFor = .days(20) }
        let cameToPeople = stage.run(while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        return stage
    }

    @Test func `what is only received goes to people once the schedule is over, and its provider's word still ends it`()
        throws
    {
        var stage = try untold()
        let quarantine = try #require(stage.durable.legs[0].quarantine)
        #expect(quarantine.cause == .unconfirmed && quarantine.effect == .capture)
        #expect(quarantine.since > fixture.start + .hours(31) && quarantine.since < fixture.start + .hours(36))
        #expect(stage.alerts.map(\.message).contains("a leg is still in doubt at the end of the inquiry schedule"))
        stage.run()
        var judge = stage.judge
        judge.atRest(stage)
        #expect(stage.durable.state == .succeeded && judge.faults.isEmpty, "\(judge.faults)")
        #expect(stage.trail.contains { $0.value("row") == "notified.settles" } && stage.sent(.capture).count == 1)
    }

    @Test(arguments: [Repair.Action.charged, .neverCharged, .undoneOutside])
    func `people end what nobody confirms, and a later word of the provider is not lost`(_ action: Repair.Action) throws
    {
        var stage = try untold()
        _ = try stage.repair(action)
        stage.run()
        #expect(stage.durable.state.isFinal && stage.durable.legs[0].quarantine == nil)
        // The capture was done all the same, and the provider says so at last.
        let end = fixture.start + .days(30)
        stage.run(while: { $0.now < end })
        let isKept = action != .neverCharged
        #expect(stage.net(0) == (isKept ? 1_000 : 0), "\(stage.durable.summary)")
        // What people saw given back is not given back once more.
        let isTold = stage.alerts.contains { $0.message.hasPrefix("a charge appeared after the payment ended") }
        #expect(isTold == (action != .charged))
    }

    /// One seed in 11,000 comes to it.
    @Test func `an authorization that is only received goes to people where its deadline is later`() throws {
        var stage = try fixture.stage([.unaskable], plug: true, deadline: fixture.start + .days(10)) {
            $0.pendingFor = .days(20)
        }
        let cameToPeople = stage.run(while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        let quarantine = try #require(stage.durable.legs[0].quarantine)
        #expect(quarantine.cause == .unconfirmed && quarantine.effect == .primary)
        #expect(stage.rows.contains("do.unconfirmed"), "\(stage.rows)")
    }

    @Test func `a release that nobody confirms goes to people too`() throws {
        var stage = try fixture.stage([.unaskable], .manual, plug: true)
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        let order = try #require(stage.run(while: { $0.sent(.void).isEmpty }) ? stage.sent(.void).first : nil)
        stage.wire.removeAll()
        stage.handle(
            .attempted(
                leg: 0, effect: .void, number: order.number,
                AttemptReport(.accepted, code: "received", observation: nil)))
        let cameToPeople = stage.run(while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        #expect(stage.durable.legs[0].quarantine?.effect == .void)
        _ = try stage.repair(.undoneOutside)
        stage.run(steps: 20)
        #expect(stage.durable.state == .canceled)
    }

    @Test func `a refund that nobody confirms goes to people, and its end by them is no word against the provider`()
        throws
    {
        var stage = try fixture.stage([.unaskable], plug: true)
        stage.run()
        stage.atProvider(0) { ledger, _ in ledger.pendingFor = .days(20) }
        try stage.refund([0: 300], key: "refund-1")
        let cameToPeople = stage.run(while: { !$0.awaitsPeople })
        #expect(cameToPeople && stage.durable.refunds[0].parts[0].reason == "unconfirmed", "\(stage.durable.summary)")
        _ = try stage.repair(.charged, .refund(0, leg: 0))
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
    }

    /// Seed 31415926539: the other leg was read for ever, and nothing more was sent.
    @Test func `after lost rows the other legs go on beside one that people decide about and nobody can read`() throws {
        let lost = Array(repeating: Stage.SendFault.lostRequest, count: 400)
        var forgetful = ProviderContract.unaskable
        forgetful.keyRetention = .hours(3)
        var stage = try fixture.stage([.reference, forgetful], plug: true, send: [.none, .none, .throttled] + lost)
        stage.run(while: { $0.sent(.capture).count < 2 })
        var window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start + .minutes(2))
        window.listingCompared = true
        stage.window = window
        stage.handle(.claimedAfterLoss(window))
        let cameToPeople = stage.run(steps: 2_000, while: { $0.durable.legs[1].quarantine == nil })
        #expect(cameToPeople && stage.durable.legs[0].capturedAmount.isZero, "\(stage.durable.summary)")
        stage.sendScript = []
        stage.run(steps: 60, while: { $0.net(0) == 0 })
        #expect(stage.net(0) == 1_000 && stage.durable.state == .quarantined, "\(stage.durable.summary)")
    }

    /// Seed 5307861581193: the leg counted as held, and was neither released nor given back.
    @Test func `what two people say was captured outlives a further loss of rows`() throws {
        var stage = try fixture.stage(
            [.unaskableForAWeek], plug: true, send: Array(repeating: .lostAnswer, count: 400))
        let cameToPeople = stage.run(steps: 2_000, while: { !$0.awaitsPeople })
        #expect(cameToPeople && stage.durable.latch == .back, "\(stage.durable.summary)")
        #expect(stage.durable.legs[0].quarantine?.effect == .primary)
        // Somebody captured it at the provider's console, and people read so in its books.
        stage.atProvider(0) { ledger, key in ledger.captureOutside(key) }
        try stage.repair(.charged)
        stage.sendScript = []
        stage.run(steps: 200, while: { $0.durable.legs[0].compensation == nil })
        stage.wire.removeAll()
        var window = RecoveryWindow(readsCountFrom: stage.now, latestNotAfter: stage.now + .minutes(2))
        window.listingCompared = true
        stage.window = window
        stage.handle(.claimedAfterLoss(window))
        #expect(stage.durable.legs[0].capturedAmount == stage.durable.legs[0].amount)
        stage.run(steps: 400, while: { !$0.durable.state.isFinal })
        #expect(stage.durable.state == .failed && stage.net(0) == 0, "\(stage.durable.summary)")
        #expect(stage.sent(.refund).count >= 1 && stage.sent(.void).isEmpty)
    }

    /// Seed 6370077221692: after lost rows nothing was known of it, and people were told an hour later that it was
    /// missing.
    @Test func `an answer that contradicts is asked for again after lost rows, and heals if it was wrong`() throws {
        var stage = try fixture.stage([.unaskableForAWeek], plug: true)
        stage.atProvider(0) { ledger, _ in ledger.showsAnotherAmount = true }
        let cameToPeople = stage.run(steps: 200, while: { !$0.awaitsPeople })
        #expect(cameToPeople && stage.durable.legs[0].quarantine?.cause == .contradiction, "\(stage.durable.summary)")
        var window = RecoveryWindow(readsCountFrom: stage.now, latestNotAfter: stage.now + .minutes(2))
        window.listingCompared = true
        stage.window = window
        let began = stage.now
        stage.handle(.claimedAfterLoss(window))
        #expect(stage.durable.legs[0].quarantine == nil)
        stage.run(steps: 200, while: { !$0.awaitsPeople })
        #expect(stage.durable.legs[0].quarantine?.cause == .contradiction, "\(stage.durable.summary)")
        #expect(stage.now - began < .minutes(5))
        #expect(Set(stage.sent(.authorize).map(\.key)).count == 1 && stage.sent(.authorize).count == 2)
        // What its provider keeps is right, only the answers were wrong, and people let it go on.
        stage.atProvider(0) { ledger, _ in
            ledger.showsAnotherAmount = false
            ledger.firstAnswers = [:]
        }
        try stage.repair(.resume)
        stage.run()
        #expect(stage.durable.state == .succeeded && stage.net(0) == 1_000, "\(stage.durable.summary)")
    }
}
