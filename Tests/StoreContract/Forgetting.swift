public import PaymentCore
public import Reconciler

/// What comparisons remember no longer than the retention, and what they remember for ever.
public struct Forgetting: Sendable {
    private let it: Comparing
    private let retention: Span
    /// Gives the store its upkeep; returns how many rows of comparisons were removed.
    private let upkeep: @Sendable () async throws -> Int

    /// A store with a retention.
    public init(
        store: any PaymentStore & ComparisonStore, clock: ManualClock, retention: Span,
        upkeep: @escaping @Sendable () async throws -> Int
    ) {
        it = Comparing(store: store, clock: clock)
        self.retention = retention
        self.upkeep = upkeep
    }

    /// Rows of which some go and some stay.
    private struct Stock {
        var settled: [ComparedPosition] = []
        var kept: [ComparedPosition] = []
        var closed: Discrepancy
        var open: [Discrepancy]
        var finding: RunFinding
    }

    /// Holds the store to it.
    public func check() async throws {
        var work = try await it.work()
        let stock = try await stock(work.run)
        let moved = NetSums([try Comparing.yen(): .init(ours: 2_400, theirs: 9_000)])
        try await it.record(&work) { step in
            step.positions = stock.settled + stock.kept
            step.discrepancies = [stock.closed] + stock.open
            step.findings = [stock.finding]
            step.moved = moved
            step.run.abandon(at: it.clock.now())
        }
        let dry = try await end(Comparing.run(isDry: true), stock.finding)
        let head = try await end(Comparing.run(hour: 1), stock.finding)
        let unfinished = try await it.work(Comparing.run(at: "points")).run

        it.clock.advance(by: retention - .days(1))
        try require(try await upkeep(), is: 0, "what goes before its time")
        it.clock.advance(by: .days(2))
        // Two positions, a discrepancy, two runs with a finding each, and the lane of the dry run.
        let gone = try await upkeep()
        try require((7...8).contains(gone), "\(gone) rows went")
        try require(try await upkeep(), is: 0, "what goes a second time")

        let questions = (stock.settled + stock.kept).map { PositionQuestion(key: $0.key) }
        let known = try await it.store.positions(at: work.run.provider, questions)
        try require(known.map(\.row), is: stock.settled.map { _ in nil } + stock.kept, "the positions that are left")
        let left = try await it.store.discrepancies([stock.closed.id] + stock.open.map(\.id))
        try require(Set(left.map(\.id)), is: Set(stock.open.map(\.id)), "the discrepancies that are left")
        for run in [work.run, dry] {
            try require(try await it.store.run(run.id), is: nil, "a run that ended")
            try require(try await it.store.findings(of: run.id, after: nil, limit: 9), is: [], "its findings")
        }
        try require(try await it.store.chainHead(of: work.run.provider), is: head, "the head of the chain")
        try require(try await it.store.findings(of: head.id, after: nil, limit: 9).count, is: 1, "its findings")
        try require(try await it.store.run(unfinished.id), is: unfinished, "a run that is not final")
        try require(try await it.store.standing(at: work.run.provider), is: moved, "what stands")
        _ = try await it.claim(Comparing.run(hour: 2))
    }

    private func end(_ run: ComparisonRun, _ finding: RunFinding) async throws -> ComparisonRun {
        var work = try await it.work(run)
        let run = work.run
        try await it.record(&work) { step in
            step.findings = [
                RunFinding(
                    run: run.id, discrepancy: finding.discrepancy, at: finding.at, evidence: finding.evidence,
                    atRisk: nil, outcome: .seen, action: .tell, closeReason: nil)
            ]
            step.run.abandon(at: it.clock.now())
        }
        return work.run
    }

    private func stock(_ run: ComparisonRun) async throws -> Stock {
        let (now, yen) = (it.clock.now(), try Comparing.yen())
        var closed = try Comparing.discrepancy("closed")
        try closed.handle(.healed(.undone, ours: nil, theirs: nil, run: run.id), at: now)
        // A person accepted the difference of money.
        var accepted = try Comparing.discrepancy("accepted")
        try accepted.handle(.closed(reason: "written off", by: "ada"), at: now)
        // A person closed it, and it is there still.
        var standing = try Comparing.discrepancy("standing")
        let nothing = NetAmount(0, yen)
        try standing.handle(.unjudged(ours: nothing, theirs: nothing, run: run.id), at: now)
        try standing.handle(.closed(reason: "known", by: "ada"), at: now)
        let open = try Comparing.discrepancy("open")
        let finding = RunFinding(
            run: run.id, discrepancy: closed.id, at: now, evidence: closed.evidence, atRisk: nil, outcome: .closed,
            action: .tell, closeReason: .undone)
        var stock = Stock(closed: closed, open: [accepted, standing, open], finding: finding)
        for key in ["k1", "k2"] {
            let payment = try await it.payments.settle(Scenario.Order(key)).payment
            let ours = try require(payment.bookedPositions.first, "the position")
            var row = try Comparing.row(ours.key.text, .matched, run: run)
            row.ours = ours
            stock.settled.append(row)
        }
        stock.kept = [
            try Comparing.row("accepted", .foreign, isNamed: true, run: run),
            try Comparing.row("standing", .foreign, amount: 0, isNamed: true, run: run),
            try Comparing.row("flying", .inFlight, run: run),
            try Comparing.row("named", .matched, amount: 0, isNamed: true, run: run),
            // Not what a run writes: one that holds a difference is never forgotten.
            try Comparing.row("unequal", .matched, run: run),
        ]
        var fresh = try Comparing.row("fresh", .matched, amount: 0, run: run)
        fresh.comparedAt = now + .days(30)
        stock.kept.append(fresh)
        return stock
    }
}
