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

    @Test(arguments: zip([Observation.Movement.State.pending, .succeeded], [RepairRefusal.againstProvider, nil]))
    func `what its provider shows of a refund is what a proposal is held against`(
        _ state: Observation.Movement.State, _ refusal: RepairRefusal?
    ) throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract]) { $0.declines[.refund] = 1 }
        stage.run()
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        try #require(stage.durable.refunds.map(\.state) == [.quarantined])
        let leg = stage.durable.legs[0]
        let capture = leg.capture?.key ?? leg.primary.key
        var known = Observation(
            .captured, began: stage.now, source: .inquiry, key: leg.primary.key, amount: leg.amount,
            captures: [Observation.Movement(key: capture, amount: leg.capturedAmount, state: .succeeded)])
        known.refunds = [
            Observation.Movement(
                key: stage.durable.refunds[0].parts[0].effect.key, amount: try fixture.amount(299), state: .succeeded)
        ]
        stage.handle(.inquired(leg: 0, known))
        known.refunds[0].state = state
        known.refunds[0].amount = try fixture.amount(state == .pending ? 300 : 299)
        stage.now = stage.now + .minutes(1)
        known.began = stage.now
        stage.handle(.inquired(leg: 0, known))
        try #require(stage.durable.refunds.map(\.state) == [.quarantined])
        let action = state == .pending ? Repair.Action.charged : .resume
        let request = stage.request(action, .refund(0, leg: 0))
        do throws(RepairRefusal) {
            _ = try stage.propose(request)
            #expect(refusal == nil)
        } catch {
            #expect(error == refusal)
        }
    }
}
