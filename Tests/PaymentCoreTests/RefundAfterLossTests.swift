import PaymentCore
import Testing

/// A refund may have been executed by a request of a row that is lost. Before it is sent again, it is asked about.
@Suite struct RefundAfterLossTests {
    let fixture: Fixture

    init() throws { fixture = try Fixture() }

    /// A payment that succeeded; a standby has that, and nothing that comes after it.
    private func succeeded(_ contract: ProviderContract = .reference) throws -> Stage {
        var stage = try fixture.stage([contract])
        stage.run()
        #expect(stage.durable.state == .succeeded)
        stage.replicate()
        stage.run()
        return stage
    }

    private func refundsSent(_ stage: Stage) -> Int { stage.sent.count { $0.kind == .refund } }

    @Test func `a refund whose row was lost is found, and not sent again`() throws {
        var stage = try succeeded()
        try stage.refund([0: 300])
        stage.run()
        try stage.failOver(fixture.request([.reference]), repetition: .awaited)
        #expect(stage.durable.refunds.isEmpty)
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(refundsSent(stage) == 1)
        #expect(stage.net(0) == 700)
    }

    @Test func `a key that its provider has forgotten gives nothing back twice`() throws {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(24)
        var stage = try succeeded(contract)
        try stage.refund([0: 300])
        stage.run()
        stage.now = stage.now + .days(3)
        try stage.failOver(fixture.request([contract]), repetition: .awaited)
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.net(0) == 700)
        #expect(refundsSent(stage) == 1)
    }

    @Test func `a refund that its provider does not show is sent, however old the payment is`() throws {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(24)
        var stage = try succeeded(contract)
        stage.now = stage.now + .days(3)
        try stage.failOver(fixture.request([contract]), repetition: .awaited)
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.net(0) == 700)
        #expect(stage.durable.recovery == nil, "the window ends with the refund")
    }

    @Test func `a refund that a row still has is asked about once the row is taken up after the loss`() throws {
        var stage = try succeeded()
        stage.sendScript = [.crashBefore]
        try stage.refund([0: 300])
        stage.standby = Stage.Rows(payment: stage.durable, trail: stage.trail)
        let (before, sent) = (stage.actions, stage.sent.count)
        try stage.failOver(fixture.request([.reference]), repetition: .awaited)
        #expect(stage.durable.recovery != nil)
        #expect(stage.actions == before + 1 && stage.sent.count == sent, "it asks, and sends nothing yet")
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.net(0) == 700)
    }

    @Test func `reads count only from the moment that the window names`() throws {
        var stage = try succeeded()
        try stage.failOver(fixture.request([.reference]), repetition: .awaited)
        let late = stage.now + .minutes(5)
        stage.window = RecoveryWindow(readsCountFrom: late, latestNotAfter: late, repetition: .awaited)
        try stage.refund([0: 300])
        #expect(stage.durable.dueAt == late)
        #expect(refundsSent(stage) == 0)
        stage.run()
        #expect(stage.now >= late)
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
    }

    private func sumsOnly() -> ProviderContract {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(24)
        contract.refundVisibility = .sumsOnly
        return contract
    }

    @Test func `where only sums are shown, and more was given back than is known, people decide`() throws {
        var stage = try succeeded(sumsOnly())
        try stage.refund([0: 300])
        stage.run()
        stage.now = stage.now + .days(3)
        try stage.failOver(fixture.request([sumsOnly()]), repetition: .awaited)
        try stage.refund([0: 300])
        stage.run(while: { !$0.isAtRest && !$0.awaitsPeople })
        #expect(stage.durable.refunds.map(\.state) == [.quarantined])
        #expect(refundsSent(stage) == 1)
        #expect(stage.net(0) == 700)
    }

    /// Seed 1029770866: somebody refunded at the console, and a site was promoted that had every acknowledged row.
    @Test func `where acknowledged rows are kept, nothing that was given back is of a lost row`() throws {
        var stage = try succeeded(sumsOnly())
        let outside = try fixture.amount(100)
        stage.atProvider(0) { ledger, key in ledger.refundOutside(key, outside) }
        stage.now = stage.now + .days(3)
        try stage.failOver(fixture.request([sumsOnly()]))
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.net(0) == 600)
    }

    /// Seed 1454103783: it waited for the comparison of a loss that nobody ever finished.
    @Test func `where only sums are shown, and no more was given back than is known, it is sent`() throws {
        var stage = try succeeded(sumsOnly())
        stage.now = stage.now + .days(3)
        try stage.failOver(fixture.request([sumsOnly()]), repetition: .awaited)
        try stage.refund([0: 300])
        stage.run()
        #expect(stage.durable.refunds.map(\.state) == [.succeeded])
        #expect(stage.net(0) == 700)
    }
}
