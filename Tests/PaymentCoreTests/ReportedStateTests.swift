import PaymentCore
import Testing

/// What a webhook reports: it changes with what a caller should hear of, and with nothing else.
@Suite struct ReportedStateTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// The reports of a stage's payment so far, each once where it follows itself.
    private static func reports(of stage: inout Stage) -> [Digest] {
        var found: [Digest] = []
        func note(_ stage: Stage) {
            if let reported = stage.durable.reportedState, found.last != reported { found.append(reported) }
        }
        stage.run(while: { stage in
            note(stage)
            return true
        })
        note(stage)
        return found
    }

    @Test func `a payment under way is not reported, and one that succeeds is reported once`() throws {
        var stage = try fixture.stage([.reference, .reference])
        #expect(stage.durable.reportedState == nil)
        let reports = Self.reports(of: &stage)
        #expect(stage.durable.state == .succeeded)
        #expect(reports.count == 1 && reports.last == stage.durable.reportedState)
    }

    @Test func `a hold, its capture and a refund are three reports, and the beginning of a refund is none`() throws {
        var stage = try fixture.stage([.reference], .manual)
        stage.run(while: { $0.durable.state != .authorized })
        let held = try #require(stage.durable.reportedState)
        #expect(stage.durable.state == .authorized)
        try stage.capture()
        #expect(stage.durable.reportedState == nil)
        stage.run()
        let taken = try #require(stage.durable.reportedState)
        try stage.refund([0: 300])
        #expect(stage.durable.refunds.map(\.state) == [.processing])
        #expect(stage.durable.reportedState == taken)
        stage.run()
        let given = try #require(stage.durable.reportedState)
        #expect(Set([held, taken, given]).count == 3)
    }

    @Test func `a declined payment is reported with its reason`() throws {
        var declined = try fixture.stage([.reference]) { $0.declines[.authorize] = 1 }
        declined.run()
        var canceled = try fixture.stage([.reference], .manual)
        canceled.run(while: { $0.durable.state != .authorized })
        try canceled.cancel()
        canceled.run()
        #expect(declined.durable.state == .failed && canceled.durable.state == .canceled)
        let reports = [declined, canceled].map(\.durable.reportedState)
        #expect(reports.allSatisfy { $0 != nil } && Set(reports).count == 2)
    }

    @Test func `a refund that waits for people is reported, and so is its end`() throws {
        var contract = ProviderContract.reference
        contract.declinesBound = false
        var stage = try fixture.stage([contract]) { $0.declines[.refund] = 1 }
        stage.run()
        let taken = try #require(stage.durable.reportedState)
        try stage.refund([0: 300])
        stage.run(while: { $0.trail.last?.type != .outcome })
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .notFound) }
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        let waiting = try #require(stage.durable.reportedState)
        #expect(stage.durable.refunds.map(\.state) == [.quarantined] && waiting != taken)
        let shown = Observation.Movement(
            key: stage.durable.refunds[0].parts[0].effect.key, amount: try fixture.amount(300), state: .succeeded)
        stage.atProvider(0) { ledger, key in
            ledger.changeOutside(key, to: .captured)
            ledger.show(shown, of: key)
        }
        let later = stage.now + .days(3)
        stage.run(while: { $0.now < later && $0.durable.refunds[0].state == .quarantined })
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(![taken, waiting].contains(try #require(stage.durable.reportedState)))
    }

    @Test func `each state of a dispute is a report`() throws {
        var stage = try fixture.stage([.reference])
        stage.run()
        var reports = [stage.durable.reportedState]
        for state in [Dispute.State.open, .won] {
            stage.atProvider(0) { ledger, key in ledger.dispute(key, state) }
            if stage.holder == nil { _ = stage.restarted() }
            let dispute = Dispute(id: "dp_1", amount: stage.durable.legs[0].amount, state: state)
            stage.handle(.disputed(leg: 0, [dispute]))
            #expect(stage.durable.state == .succeeded)
            reports.append(stage.durable.reportedState)
        }
        #expect(Set(reports).count == 3 && !reports.contains(nil))
    }
}
