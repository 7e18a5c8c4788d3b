import PaymentCore
import Testing

/// What becomes of a refund that people are asked about.
@Suite struct QuarantinedRefundTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    @Test(arguments: zip([Int64(300), 299], [RefundState.succeeded, .quarantined]))
    func `a refund that people are asked about is read daily, and is done where it is shown as asked`(
        _ amount: Int64, _ end: RefundState
    ) throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract]) { $0.declines[.refund] = 1 }
        stage.run()
        try #require(stage.durable.state == .succeeded)
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.refunds.map(\.state) == [.quarantined])
        let shown = Observation.Movement(
            key: stage.durable.refunds[0].parts[0].effect.key, amount: try fixture.amount(amount), state: .succeeded)
        stage.atProvider(0) { ledger, key in
            ledger.changeOutside(key, to: .captured)
            ledger.show(shown, of: key)
        }
        let reads = stage.trail.count { $0.type == .inquiry }
        let later = stage.now + .days(3)
        stage.run(while: { $0.now < later && $0.durable.refunds[0].state == .quarantined })
        #expect(stage.durable.refunds.map(\.state) == [end])
        #expect((1...30).contains(stage.trail.count { $0.type == .inquiry } - reads))
        #expect(stage.sent(.refund).count == 1)
        let isLifted = stage.trail.contains {
            $0.value("decision") == "quarantine lifted" && $0.value("row") == "own.done"
        }
        #expect(isLifted == (end == .succeeded))
    }

    /// A leg has one moment for its next look, and what waits for people is looked at once a day.
    @Test func `a refund that is asked for beside one that waits for people is sent at once`() throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract]) { $0.declines[.refund] = 1 }
        stage.run()
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        try #require(stage.durable.refunds.map(\.state) == [.quarantined])
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .captured) }
        let asked = stage.now
        try stage.refund([0: 200], key: "second")
        stage.run(while: { $0.now < asked + .minutes(1) && $0.durable.refunds[1].state == .processing })
        #expect(stage.durable.refunds.map(\.state) == [.quarantined, .succeeded])
        #expect(stage.now < asked + .seconds(10))
        #expect(stage.sent(.refund).count == 2)
    }

    @Test(arguments: [(Observation.Movement.State.pending, Int64(300)), (.declined, 300), (.succeeded, 299)])
    func `what its provider shows of a refund is what a proposal is held against`(
        _ state: Observation.Movement.State, _ amount: Int64
    ) throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract]) { $0.declines[.refund] = 1 }
        stage.run()
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        let leg = stage.durable.legs[0]
        let capture = leg.capture?.key ?? leg.primary.key
        var known = Observation(
            .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [Observation.Movement(key: capture, amount: leg.capturedAmount, state: .succeeded)])
        known.refunds = [
            Observation.Movement(
                key: stage.durable.refunds[0].parts[0].effect.key, amount: try fixture.amount(amount), state: state)
        ]
        stage.handle(.inquired(leg: 0, known))
        try #require(stage.durable.refunds.map(\.state) == [.quarantined])
        #expect(throws: RepairRefusal.againstProvider) {
            try stage.propose(stage.request(.charged, .refund(0, leg: 0)))
        }
        _ = try stage.propose(stage.request(.charged, .refund(0, leg: 0), against: true))
    }
}
