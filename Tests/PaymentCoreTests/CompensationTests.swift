import PaymentCore
import Testing

/// When a capture can no longer be had, everything is given back.
@Suite struct CompensationTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    private func expectFailedWhole(_ stage: Stage, _ row: SourceLocation = #_sourceLocation) {
        var judge = stage.judge
        judge.atRest(stage)
        #expect(judge.faults.isEmpty, "\(judge.faults)", sourceLocation: row)
        #expect(stage.durable.state == .failed, sourceLocation: row)
        #expect(stage.durable.conclusion?.reason?.code == .captureUnavailable, sourceLocation: row)
    }

    @Test func `a declined capture voids its own hold and refunds the others`() throws {
        var stage = try fixture.stage([.reference, .reference, .referenceSale]) {
            if $0.name == 1 { $0.declines[.capture] = 1 }
        }
        stage.run()
        expectFailedWhole(stage)
        #expect(stage.durable.latch == .compensate)
        #expect(Set(stage.sent(.refund).map(\.leg)) == [0, 2])
        #expect(stage.sent(.void).map(\.leg) == [1])
        #expect(stage.durable.conclusion?.reason?.detail?.contains("leg 0") == true)
    }

    @Test func `a sale is read once more before it is reversed as a whole, and what was given back stays so`() throws {
        var reversing = ProviderContract.referenceSale
        reversing.cancelReversesSale = true
        for isRefundedOutside in [false, true] {
            var stage = try fixture.stage([.reference, reversing]) {
                if $0.name == 0 { $0.declines[.capture] = 1 }
            }
            stage.run(while: { $0.sent(.capture).isEmpty })
            let part = try fixture.amount(300)
            if isRefundedOutside { stage.atProvider(1) { ledger, key in ledger.refundOutside(key, part) } }
            stage.run()
            #expect(stage.net(1) == 0)
            let voids = stage.sent(.void).filter { $0.leg == 1 }.count
            let refunds = stage.sent(.refund).filter { $0.leg == 1 }
            #expect(voids == (isRefundedOutside ? 0 : 1))
            let left = stage.durable.legs[1].amount.value - 300
            #expect(refunds.map(\.amount.value) == (isRefundedOutside ? [left] : []))
        }
    }

    @Test func `a capture that still arrives while its leg is voided is refunded`() throws {
        var stage = try fixture.stage(
            [.reference, .reference], send: [.none, .none, .late(.seconds(30)), .none]
        ) {
            if $0.name == 1 { $0.declines[.capture] = 1 }
        }
        stage.run()
        expectFailedWhole(stage)
    }

    @Test func `a hold that was released elsewhere before its capture turns everything back`() throws {
        var contract = ProviderContract.reference
        contract.authorizationLife = .seconds(30)
        var stage = try fixture.stage([contract, .reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.capture()
        stage.crash()
        stage.wire.removeAll()
        stage.now = stage.now + .minutes(2)
        stage.run()
        expectFailedWhole(stage)
        #expect(stage.net(0) == 0 && stage.net(1) == 0)
    }

    @Test(arguments: [
        Stage.SendFault.lostRequest, .lostAnswer, .late(.seconds(60)), .duplicated(.seconds(60)), .unsent,
        .throttled, .crashBefore, .crashAfter,
    ])
    func `any single fault while compensating leads to the same end`(_ fault: Stage.SendFault) throws {
        for count in 2..<7 {
            let script = Array(repeating: Stage.SendFault.none, count: count) + [fault]
            var stage = try fixture.stage([.reference, .reference], send: script) {
                if $0.name == 1 { $0.declines[.capture] = 1 }
            }
            stage.run()
            expectFailedWhole(stage)
        }
    }

    @Test func `a declined compensation is for people, and they are told`() throws {
        var stage = try fixture.stage([.reference, .reference]) {
            if $0.name == 0 { $0.declines[.refund] = 1 } else { $0.declines[.capture] = 1 }
        }
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.state == .quarantined)
        #expect(stage.durable.legs.first?.quarantine?.cause == .undoRefused)
        #expect(stage.alerts.contains { $0.leg == 0 })
        #expect(stage.durable.conclusion == nil && stage.durable.dueAt != nil)
    }

    @Test func `a declined void is for people, and they are told`() throws {
        var stage = try fixture.stage([.reference], .manual) { $0.declines[.void] = 1 }
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        stage.run(while: { !$0.awaitsPeople })
        #expect(stage.durable.legs.first?.quarantine?.cause == .undoRefused)
        #expect(stage.alerts.count == 1)
    }

    @Test func `more captured than asked is for people`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.capture([0: 500])
        let leg = stage.durable.legs[0]
        let ours = Observation.Movement(
            key: try #require(leg.capture?.key), amount: try fixture.amount(500), state: .succeeded)
        let foreign = Observation.Movement(
            key: EffectKey(reported: "foreign"), amount: try fixture.amount(200), state: .succeeded)
        let shown = Observation(
            .captured, began: stage.now, source: .answer, key: leg.primary.key, amount: leg.amount,
            captures: [ours, foreign])
        let report = AttemptReport(.accepted, code: "ok", observation: shown)
        stage.handle(.attempted(leg: 0, effect: .capture, number: 1, report))
        #expect(stage.durable.legs.first?.quarantine?.cause == .contradiction)
    }
}
