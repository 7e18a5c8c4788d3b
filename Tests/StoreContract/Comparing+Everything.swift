internal import PaymentCore
internal import Reconciler

extension Comparing {
    /// Uses everything that a store does for comparisons, for those who look at how it does that.
    public func useAll() async throws {
        let payment = try await payments.settle(Scenario.Order("compared")).payment
        let ours = try require(payment.bookedPositions.first, "the position")
        var work = try await self.work()
        let run = work.run
        let rows = [
            try Comparing.row(ours.key.text, .statusDiffers, isNamed: true, run: run),
            try Comparing.row("flying", .inFlight, run: run),
        ]
        let discrepancy = try Comparing.discrepancy("k1")
        let finding = RunFinding(
            run: run.id, discrepancy: discrepancy.id, at: clock.now(), evidence: discrepancy.evidence, atRisk: nil,
            outcome: .opened, action: .tell, closeReason: nil)
        let moved = NetSums([try Comparing.yen(): .init(ours: 1, theirs: 2)])
        try await record(&work) { step in
            step.positions = rows
            step.discrepancies = [discrepancy]
            step.findings = [finding]
            step.moved = moved
        }
        _ = try await store.record(ComparisonStep(run: run), token: work.token)
        _ = try await store.renewRun(run.id, token: work.token, leaseFor: .minutes(1))
        _ = try await store.positions(at: run.provider, [PositionQuestion(key: ours.key)])
        let hour = try require(ComparedWindow(from: ManualClock.start, to: clock.now() + .hours(1)), "a window")
        _ = try await store.listedKeys(at: run.provider, in: hour, limit: 5)
        _ = try await changed(in: ManualClock.start, clock.now() + .hours(1), limit: 5)
        _ = try await store.unsettledPositions(at: run.provider, after: nil, limit: 5)
        _ = try await store.unsettledPositions(at: run.provider, after: ours.key, limit: 5)
        _ = try await store.standing(at: run.provider)
        _ = try await store.explainedDifferences(at: run.provider)
        _ = try await store.discrepancies([discrepancy.id])
        _ = try await store.change(discrepancy.stored(version: 1))
        _ = try await store.discrepancyCounts()
        _ = try await store.findings(of: run.id, after: nil, limit: 5)
        _ = try await store.chainHead(of: run.provider)
        _ = try await store.runs(RunQuery())
        for restrict in Comparing.restrictions {
            var query = DiscrepancyQuery()
            try restrict(&query)
            query.after = DiscrepancyCursor(openedAt: clock.now(), id: discrepancy.id)
            _ = try await store.discrepancies(query)
        }
        try await store.releaseRun(run.id, token: work.token)
        _ = try await store.abandonRun(run.id)
    }
}
