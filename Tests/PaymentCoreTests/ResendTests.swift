import PaymentCore
import Testing

/// Providers that cannot be asked: what is in doubt is sent again under its key, and everything else is known from what
/// was answered and told.
@Suite struct ResendTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func news(
        _ effect: Effect?, _ state: Observation.Movement.State, at: Timestamp, amount: Money? = nil
    ) throws -> EffectNews {
        let effect = try #require(effect)
        return EffectNews(
            key: effect.key, kind: effect.kind, amount: amount ?? effect.amount, word: ProviderWord(state, at: at))
    }

    @Test func `what is answered is known, and nothing is asked or sent twice`() throws {
        var stage = try fixture.stage([.unaskable, .unaskable], plug: true)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.sent.map(\.kind) == [.authorize, .authorize, .capture, .capture])
        #expect(stage.alerts.isEmpty)
    }

    @Test(arguments: [Stage.SendFault.lostRequest, .lostAnswer, .late(.seconds(60)), .crashBefore, .crashAfter])
    func `an authorization in doubt is sent again under its key`(_ fault: Stage.SendFault) throws {
        var stage = try fixture.stage([.unaskable], plug: true, send: [fault])
        stage.run()
        stage.expectEnd(.succeeded)
        let sent = stage.sent(.authorize)
        #expect(sent.count == 2 && Set(sent.map(\.key)).count == 1)
        #expect(stage.rows.contains("do.resend-to-ask"))
        #expect(stage.net(0) == 1_000)
    }

    @Test func `a capture in doubt is sent again, and money is taken once`() throws {
        var stage = try fixture.stage([.unaskable], plug: true, send: [.none, .lostAnswer, .lostAnswer])
        stage.run()
        stage.expectEnd(.succeeded)
        let sent = stage.sent(.capture)
        #expect(sent.count == 3 && Set(sent.map(\.key)).count == 1)
        #expect(stage.rows.contains("own.resend-to-ask"))
        #expect(stage.net(0) == 1_000)
    }

    @Test func `a decline whose answer was lost is given again, and ends the payment`() throws {
        var stage = try fixture.stage([.unaskable, .reference], plug: true, send: [.lostAnswer]) { ledger in
            if ledger.contract.inquiry == .byResend { ledger.declines[.authorize] = 1 }
        }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .declined)
        #expect(stage.sent(.authorize).count == 3)
    }

    @Test func `what shall not be is sent again to learn of it, and then released`() throws {
        var stage = try fixture.stage([.unaskable], plug: true, send: [.lostAnswer, .lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.open != nil })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.rows.contains("undo.resend-to-ask"))
        #expect(stage.sent(.void).count == 1 && !stage.isHeld(0))
    }

    @Test func `refusals that name no key do not count as declines of it, however many`() throws {
        let strays = Array(repeating: Stage.SendFault.strayRefusal, count: 12)
        var stage = try fixture.stage([.unaskable], plug: true, send: strays)
        stage.run(while: { $0.durable.legs[0].primary.open != nil })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.sent(.authorize).count > 9, "more than a key is sent after declines")
        #expect(stage.sent(.void).count == 1 && !stage.isHeld(0))
    }

    @Test func `where a cancel leaves a tombstone, what is in doubt is canceled and not sent again`() throws {
        var stage = try fixture.stage([.unaskableTombstoning], plug: true, send: [.lostRequest, .lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.open != nil })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        #expect(stage.rows.contains("undo.resend-cancel-key"))
        #expect(stage.sent(.authorize).count == 1)
        #expect(stage.sent(.void).count == 2, "its answer was lost once")
        #expect(stage.durable.legs[0].gone?.status == .tombstoned)
    }

    /// Seed 15397200633613: nobody was told, and nothing more was sent.
    @Test func `a cancel that is refused although the charge is in doubt goes to people`() throws {
        let refusals = Array(repeating: Stage.SendFault.refused, count: 40)
        var stage = try fixture.stage(
            [.unaskableTombstoning], plug: true, send: [.lostAnswer, .lostRequest] + refusals)
        stage.run(while: { $0.durable.legs[0].primary.open != nil })
        try stage.cancel()
        let cameToPeople = stage.run(steps: 2_000, while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        #expect(stage.durable.legs[0].quarantine?.row == "own.undo-refused-after-doubt")
    }

    @Test func `a capture in doubt of a payment that turns back is learned first, and given back`() throws {
        // The second leg's capture is declined while nobody knows of the first.
        var stage = try fixture.stage(
            [.unaskable, .unaskable], plug: true, send: [.none, .none, .lostAnswer, .none]
        ) { ledger in
            if ledger.name == 1 { ledger.declines[.capture] = 1 }
        }
        stage.run()
        stage.expectEnd(.failed)
        #expect(stage.durable.conclusion?.reason?.code == .captureUnavailable)
        #expect(stage.net(0) == 0 && stage.net(1) == 0)
        #expect(Set(stage.sent(.capture).filter { $0.leg == 0 }.map(\.key)).count == 1)
    }

    @Test func `a key that may be forgotten is sent no more, and its provider's news settle it`() throws {
        var stage = try fixture.stage([.unaskableForAWeek], plug: true, send: Array(repeating: .lostAnswer, count: 400))
        let cameToPeople = stage.run(steps: 2_000, while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        let quarantine = try #require(stage.durable.legs[0].quarantine)
        #expect(quarantine.cause == .keyTooOld && quarantine.row.hasSuffix(".resend-too-old"))
        #expect(stage.sent.allSatisfy { $0.startBefore < fixture.start + .days(7) })
        stage.sendScript = []
        let held = try news(stage.durable.legs[0].primary, .succeeded, at: stage.now)
        stage.handle(.notified(leg: 0, held))
        stage.run()
        stage.expectEnd(.failed)
        #expect(!stage.isHeld(0))
        #expect(stage.rows.contains("notified.settles"))
    }

    @Test func `a capture that is only received succeeds when its provider says so, told late and twice`() throws {
        var stage = try fixture.stage([.unaskable], plug: true) { $0.pendingFor = .minutes(9) }
        stage.run(until: fixture.start + .minutes(14))
        #expect(stage.durable.state == .processing)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.sent.map(\.kind) == [.authorize, .capture])
        let known = stage.durable
        let capture = try news(known.legs[0].capture, .succeeded, at: stage.now)
        stage.handle(.notified(leg: 0, capture))
        stage.handle(.notified(leg: 0, capture))
        #expect(stage.durable.conclusion == known.conclusion && stage.alerts.isEmpty)
        let before = stage.trail.count
        let old = try news(known.legs[0].capture, .declined, at: fixture.start)
        stage.handle(.notified(leg: 0, old))
        #expect(stage.durable.legs[0].capture?.word?.state == .succeeded && stage.trail.count == before)
    }

    @Test func `a capture that fails after it was received turns the payment back`() throws {
        var stage = try fixture.stage([.unaskable, .reference], plug: true) { ledger in
            if ledger.contract.inquiry == .byResend { ledger.pendingFor = .days(2) }
        }
        // The authorization is decided after two days, and the capture would be after four.
        stage.run(steps: 900, until: fixture.start + .days(2) + .hours(1))
        guard stage.durable.legs[0].capture != nil else {
            return #expect(stage.durable.state == .canceled || stage.durable.state == .failed)
        }
        let failed = try news(stage.durable.legs[0].capture, .declined, at: stage.now)
        stage.handle(.notified(leg: 0, failed))
        stage.run()
        stage.expectEnd(.failed)
    }

    @Test func `what was taken back after the end is told to people and changes no final state`() throws {
        var stage = try fixture.stage([.unaskable], plug: true)
        stage.run()
        let conclusion = stage.durable.conclusion
        let failed = try news(stage.durable.legs[0].capture, .declined, at: stage.now + .seconds(1))
        stage.handle(.notified(leg: 0, failed))
        #expect(stage.alerts.map(\.message) == ["the provider took back what it had said was done"])
        #expect(stage.durable.conclusion == conclusion)
    }

    @Test func `news of another amount, or of what was never sent, is not believed`() throws {
        var stage = try fixture.stage([.unaskable], plug: true) { $0.pendingFor = .minutes(5) }
        stage.run(until: fixture.start + .minutes(6))
        let other = try news(stage.durable.legs[0].capture, .succeeded, at: stage.now, amount: try fixture.amount(999))
        stage.handle(.notified(leg: 0, other))
        #expect(stage.durable.legs[0].capture?.word?.state == .pending && stage.durable.state == .processing)
        #expect(stage.alerts.count == 1)
        let unknown = EffectNews(
            key: EffectKey(reported: "other"), kind: .capture, amount: nil,
            word: ProviderWord(.succeeded, at: stage.now))
        let known = stage.durable
        stage.handle(.notified(leg: 0, unknown))
        #expect(stage.durable.legs == known.legs && stage.durable.state == known.state)
        #expect(stage.alerts.last?.message == "the provider tells of a change that was not asked for here")
    }

    @Test func `where the provider can be asked its news are no evidence`() throws {
        var stage = try fixture.stage([.reference], send: [.lostRequest])
        let news = try news(stage.durable.legs[0].primary, .succeeded, at: stage.now)
        stage.handle(.notified(leg: 0, news))
        #expect(stage.durable.legs[0].primary.word == nil)
    }

    @Test func `a refund that is only received, and one that is in doubt`() throws {
        var stage = try fixture.stage([.unaskable], plug: true)
        stage.run()
        stage.atProvider(0) { ledger, _ in ledger.pendingFor = .minutes(3) }
        stage.sendScript = [.lostAnswer]
        try stage.refund([0: 300], key: "refund-1")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.sent(.refund).count == 2 && stage.net(0) == 700)
        try stage.refund([0: 200], key: "refund-2")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded, .succeeded] && stage.net(0) == 500)
        stage.expectEnd(.succeeded)
    }

    @Test func `after lost rows nothing is sent before both sides were compared`() throws {
        let contracts = [ProviderContract.unaskableForAWeek]
        var context = MachineContext(now: fixture.start, contracts: try fixture.byName(contracts))
        context.policy.plugAllowed = true
        let window = RecoveryWindow(readsCountFrom: fixture.start, latestNotAfter: fixture.start + .minutes(2))
        let created = PaymentMachine.create(try fixture.request(contracts), context, recovery: window)
        #expect(created.actions.isEmpty && created.machine.payment.dueAt != nil)
        var machine = created.machine
        context.now = fixture.start + .minutes(5)
        #expect(machine.handle(.woke, context).isEmpty)
        var compared = window
        compared.listingCompared = true
        let actions = machine.handle(.claimedAfterLoss(compared), context)
        let kinds = actions.compactMap { if case .send(let order) = $0 { order.kind } else { nil } }
        #expect(kinds == [.authorize])
    }

    @Test func `what two people say was captured counts as its provider's word`() throws {
        var stage = try fixture.stage(
            [.unaskableForAWeek], plug: true, send: [.none] + Array(repeating: .lostAnswer, count: 400))
        let cameToPeople = stage.run(steps: 2_000, while: { !$0.awaitsPeople })
        #expect(cameToPeople, "\(stage.durable.summary)")
        stage.sendScript = []
        #expect(stage.durable.legs[0].quarantine?.effect == .capture)
        let repair = try stage.repair(.charged)
        #expect(repair.decision != nil)
        stage.run()
        #expect(stage.durable.state == .succeeded)
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded] && stage.net(0) == 700)
    }

    @Test func `a contract that tells too little is refused by name`() {
        let plug = SafetyAssumptions(plugAllowed: true)
        #expect(ProviderContract.unaskable.traps(under: plug).isEmpty)
        for contract in [ProviderContract.unaskable, .unaskableTombstoning] {
            #expect(contract.traps(under: SafetyAssumptions()).map(\.name) == [.undoImpossible])
        }
        let changes: [(String, (inout ProviderContract) -> Void)] = [
            ("declines_bound", { $0.declinesBound = false }), ("listing", { $0.listing = true }),
            ("refund_visibility", { $0.refundVisibility = .sumsOnly }),
            ("visibility_lag", { $0.visibilityLag = .seconds(1) }),
            ("cancel_reverses_sale", { $0.cancelReversesSale = true }),
            ("status_retention", { $0.statusRetention = .days(9) }),
        ]
        for (name, change) in changes {
            var contract = ProviderContract.unaskable
            change(&contract)
            let traps = contract.traps(under: plug)
            #expect(traps.map(\.name) == [.resendTellsTooLittle], "\(name)")
            #expect(traps.first?.explanation.contains(name) == true)
        }
        var enforcing = ProviderContract.unaskable
        enforcing.enforcesNotAfter = true
        #expect(enforcing.traps(under: SafetyAssumptions()).map(\.name) == [.undoImpossible], "no read proves anything")
        let losing = SafetyAssumptions(storeKeepsAcknowledgedRows: false, plugAllowed: true)
        #expect(ProviderContract.unaskable.traps(under: losing).map(\.name) == [.resendOnAsynchronousStore])
    }
}
