import PaymentCore
import Testing

/// When the comparison over the time of a loss is finished, and what is done until then.
@Suite struct LossReviewTests {
    private static let lost = Compared.start
    private static let kept = lost + Span.minutes(-3)
    /// By then every run over the loss can be planned.
    private static let later = lost + Span.hours(2)

    private let settings = ComparisonSettings()
    private let contract = ProviderContract.listed  // It lags by a minute; a request lives two.
    private let cards: ProviderName
    init() throws { cards = try ProviderName("cards") }

    private func recovery(keptUntil: Timestamp? = kept, isCompared: Bool = false) -> SiteRecovery {
        SiteRecovery(
            epoch: 2, loss: .asynchronousPromotion, at: Self.lost, keptUntil: keptUntil, listingCompared: isCompared)
    }

    private func evidence(
        _ name: String = "cards", _ runs: [ComparisonRun] = [], _ settlement: LossReview.Settlement = .done
    ) throws -> LossReview.Evidence {
        LossReview.Evidence(
            provider: try ProviderName(name), contract: contract, runs: runs, settlement: settlement)
    }

    private func review(
        _ evidence: [LossReview.Evidence], recovery: SiteRecovery? = nil, repeatFor: Span? = nil,
        at now: Timestamp = later
    ) -> LossReview {
        LossReview.decide(
            recovery ?? self.recovery(), evidence, settings, callersRepeatFor: repeatFor, now: now)
    }

    private func plan(_ review: LossReview) -> [ComparisonRun] {
        guard case .unfinished(_, let plan) = review else { return [] }
        return plan
    }

    private func obstacles(_ review: LossReview) -> [String] {
        guard case .unfinished(let obstacles, _) = review else { return [] }
        return obstacles.map { "\($0)" }
    }

    /// The run that is planned over the loss at a provider, executed in a world.
    private func executed(
        _ name: String = "cards", at now: Timestamp = later, _ change: (ComparisonWorld) throws -> Void = { _ in }
    ) throws -> ComparisonRun {
        let run = try #require(plan(review([try evidence(name)], at: now)).first)
        let world = try ComparisonWorld(run: run)
        try change(world)
        try world.finish()
        return world.run
    }

    @Test func `a run over the whole loss is planned at each provider, as soon as nothing is in flight`() throws {
        let both = [try evidence("cards"), try evidence("points")]
        let end = Self.lost + contract.maxRequestLife + contract.clockSkew + contract.visibilityLag + .milliseconds(1)
        let delay = contract.clockSkew + contract.visibilityLag + contract.maxRequestLife + settings.settleDelay
        #expect(plan(review(both, at: end + delay + .milliseconds(-1))).isEmpty)
        let runs = plan(review(both, at: end + delay))
        #expect(runs.map(\.provider.name) == ["cards", "points"])
        for run in runs {
            #expect(run.window.from == Self.kept + (Span.zero - (contract.clockSkew + contract.visibilityLag)))
            #expect(run.window.to == end)
            #expect(run.kind == .asked && !run.isDry && run.attempt == 0)
            #expect(run.isOverLostRows == true, "refunds that it finds are taken in")
        }
        let kept = SiteRecovery(epoch: 2, loss: .promotion, at: Self.lost, keptUntil: Self.kept)
        #expect(plan(review(both, recovery: kept)).map(\.isOverLostRows) == [nil, nil])
        let others = plan(review(both, at: end + delay + .hours(1)))
        #expect(others.map(\.id) == runs.map(\.id), "whoever looks at whatever time plans the same runs")
    }

    @Test func `it is finished when every provider was compared without a failure, and not before`() throws {
        let cards = try executed("cards")
        let points = try executed("points")
        #expect(review([try evidence("cards", [cards]), try evidence("points", [points])]) == .compared)
        let half = review([try evidence("cards", [cards]), try evidence("points")])
        #expect(obstacles(half).count == 1 && obstacles(half)[0].contains("points was not compared"))
        #expect(plan(half).map(\.provider.name) == ["points"])
        let running = try #require(plan(review([try evidence("points")])).first)
        let waiting = review([try evidence("cards", [cards]), try evidence("points", [running])])
        #expect(obstacles(waiting) == obstacles(half), "a run that is planned or under way proves nothing")
        #expect(plan(waiting).isEmpty, "and is not planned twice")
        var given = running
        given.abandon(at: Self.later)
        #expect(
            obstacles(review([try evidence("cards", [cards]), try evidence("points", [given])])) == obstacles(half))
    }

    @Test func `nothing is finished without a provider, or without knowing since when rows may be missing`() throws {
        #expect(obstacles(review([])) == ["no provider is configured"])
        let run = try executed()
        let blind = review([try evidence("cards", [run])], recovery: recovery(keptUntil: nil))
        #expect(obstacles(blind).first?.contains("a person has to decide") == true)
        var silent = contract
        silent.listing = false
        let unlisted = LossReview.Evidence(
            provider: try ProviderName("bank"), contract: silent, runs: [], settlement: .done)
        let review = review([try evidence("cards", [run]), unlisted])
        #expect(obstacles(review).contains { $0.contains("bank cannot be compared") }, "\(review)")
        #expect(plan(review).isEmpty)
    }

    @Test func `a run that was left without an answer, only looked, or does not prove the money counts for nothing`()
        throws
    {
        let unanswered = try executed { world in
            let moment = Self.lost
            let ours = try Compared.ours("k", .taken, at: moment)
            world.books[ours.key] = ours
            world.silent = [ours.key]
        }
        #expect(unanswered.state == .completed && unanswered.counts.unanswered > 0)
        #expect(obstacles(review([try evidence("cards", [unanswered])])).count == 1)
        let unproven = try executed { world in
            let moved = try Compared.theirs("k", .captured, at: Self.lost)
            try world.standing.count(ours: moved.net, theirs: nil)
        }
        #expect(unproven.isProven == false)
        #expect(obstacles(review([try evidence("cards", [unproven])])).count == 1)
        let planned = try #require(plan(review([try evidence()])).first)
        let dry = ComparisonRun(
            provider: planned.provider, window: planned.window, kind: .asked, isDry: true, createdAt: Self.later,
            horizon: planned.horizon, coveredFrom: planned.coveredFrom, overlap: planned.overlap,
            clockMargin: planned.clockMargin)
        let world = try ComparisonWorld(run: dry)
        try world.finish()
        #expect(obstacles(review([try evidence("cards", [world.run])])).count == 1)
    }

    @Test func `what the schedule and people compared counts, if it leaves no gap and began after the loss`() throws {
        func run(_ from: Timestamp, _ to: Timestamp, plannedAt: Timestamp = Self.later) throws -> ComparisonRun {
            let run = ComparisonRun(
                provider: try ProviderName("cards"), window: try #require(ComparedWindow(from: from, to: to)),
                kind: .scheduled, createdAt: plannedAt, horizon: plannedAt, coveredFrom: from, overlap: .minutes(1),
                clockMargin: .seconds(5))
            let world = try ComparisonWorld(run: run)
            try world.finish()
            return world.run
        }
        let (begin, middle, end) = (Self.lost + .hours(-1), Self.lost, Self.lost + .hours(1))
        let (first, second) = (try run(begin, middle), try run(middle, end))
        // Of a loss that keeps acknowledged rows.
        func isCompared(_ evidence: LossReview.Evidence) -> Bool {
            let kept = SiteRecovery(epoch: 2, loss: .promotion, at: Self.lost, keptUntil: Self.kept)
            return review([evidence], recovery: kept) == .compared
        }
        #expect(isCompared(try evidence("cards", [second, first])))
        #expect(!isCompared(try evidence("cards", [second])))
        #expect(!isCompared(try evidence("cards", [first, try run(middle + .seconds(1), end)])))
        let before = try run(begin, middle, plannedAt: Self.lost + .milliseconds(-1))
        #expect(!isCompared(try evidence("cards", [before, second])))
        #expect(!isCompared(try evidence("points", [first, second])), "runs of another provider prove nothing")
        // Where acknowledged rows may be lost, only a run over the loss takes refunds in.
        let scheduled = review([try evidence("cards", [second, first])])
        #expect(plan(scheduled).map(\.isOverLostRows) == [true])
        var sums = contract
        sums.refundVisibility = .sumsOnly
        let untold = LossReview.Evidence(
            provider: try ProviderName("cards"), contract: sums, runs: [second, first], settlement: .done)
        #expect(review([untold]) == .compared, "sums tell of no refund that could be taken in")
    }

    @Test func `as long as the policy has something to do the loss is not finished, and is compared again`() throws {
        let run = try executed()
        let ended = try #require(run.finishedAt)
        let busy = try evidence("cards", [run], .leftToPolicy)
        let early = review([busy], at: ended + settings.askAgainAfter + .milliseconds(-1))
        #expect(obstacles(early) == ["what only cards knows is not settled"])
        #expect(plan(early).isEmpty)
        let again = try #require(plan(review([busy], at: ended + settings.askAgainAfter)).first)
        #expect(again.window == run.window && again.attempt == 1)
        #expect(review([try evidence("cards", [run])], at: ended) == .compared)
    }

    /// Seed 5634446488: a provider was away for so long that every attempt was used up, and no other one ever came.
    @Test func `after many attempts there is one a day, for as long as it takes`() throws {
        let window = try #require(plan(review([try evidence()])).first).window
        for attempt in [98, 99, 100, 5_000] {
            let run = try ComparisonSchedule.asked(
                at: cards, window, attempt: attempt, isOverLostRows: true, contract, settings, now: Self.later)
            let world = try ComparisonWorld(run: run)
            try world.finish()
            let busy = try evidence("cards", [world.run], .leftToPolicy)
            let due = try #require(world.run.finishedAt) + (attempt < 99 ? settings.askAgainAfter : .days(1))
            #expect(plan(review([busy], at: due + .milliseconds(-1))).isEmpty)
            #expect(plan(review([busy], at: due)).map(\.attempt) == [attempt + 1])
        }
    }

    @Test func `the window closes by itself only where somebody said how long callers repeat`() throws {
        let compared = recovery(isCompared: true)
        #expect(review([], recovery: compared) == .open(until: nil))
        let end = Self.lost + .days(1)
        #expect(review([], recovery: compared, repeatFor: .days(1), at: end + .milliseconds(-1)) == .open(until: end))
        #expect(review([], recovery: compared, repeatFor: .days(1), at: end) == .over)
        #expect(plan(review([try evidence()], repeatFor: .days(1), at: end)).count == 1, "not before it was compared")
    }

    @Test func `the window of a provider that is not settled is not that of fewer providers`() throws {
        var slow = contract
        slow.maxRequestLife = .minutes(10)
        let other = LossReview.Evidence(
            provider: try ProviderName("points"), contract: slow, runs: [], settlement: .done)
        let planned = try #require(plan(review([try evidence("cards"), other])).first)
        let world = try ComparisonWorld(run: planned)
        try world.finish()
        let undone = try evidence("cards", [world.run], .beingUndone)
        let ended = try #require(world.run.finishedAt)
        let compared = recovery(isCompared: true)
        #expect(plan(review([undone, other], recovery: compared, at: ended)).isEmpty, "it was asked a moment ago")
        let again = plan(review([undone, other], recovery: compared, at: ended + settings.askAgainAfter))
        #expect(again.map(\.window) == [planned.window] && again.map(\.attempt) == [1])
    }

    /// Seed 3061549018: a refund whose row was lost, of a payment that was under way, was only told to people later.
    @Test func `what was under way when it was met is compared again by a run over the loss`() throws {
        let busy = try executed { world in
            let ours = try Compared.ours("k", .taken, work: .underWay, state: .processing, at: Self.lost)
            let theirs = try Compared.theirs("k", .captured, refunds: ["r": 300], names: "k", at: Self.lost)
            world.books[ours.key] = ours
            world.provider[theirs.key] = theirs
        }
        #expect(busy.state == .completed && busy.counts[.inFlight] == 1, "\(busy.counts)")
        let ended = try #require(busy.finishedAt)
        let met = try evidence("cards", [busy])
        #expect(review([met], at: ended) == .compared, "it holds up nobody")
        let compared = recovery(isCompared: true)
        let due = ended + settings.askAgainAfter
        #expect(review([met], recovery: compared, at: due + .milliseconds(-1)) == .open(until: nil, again: [cards]))
        guard case .open(nil, [cards], let plan) = review([met], recovery: compared, at: due) else {
            return #expect(Bool(false), "\(review([met], recovery: compared, at: due))")
        }
        #expect(plan.map(\.attempt) == [1] && plan.map(\.window) == [busy.window])
        #expect(plan.map(\.isOverLostRows) == [true])
        #expect(review([met], recovery: compared, repeatFor: .hours(1), at: Self.lost + .hours(1)) == .over)
        // The second attempt is under way, then it met the same, then nothing.
        let under = review([try evidence("cards", [busy] + plan)], recovery: compared, at: due)
        #expect(under == .open(until: nil, again: [cards]))
        let world = try ComparisonWorld(run: try #require(plan.first))
        try world.finish()
        let quiet = try evidence("cards", [busy, world.run])
        #expect(review([quiet], recovery: compared, at: due + .days(1)) == .open(until: nil))
        // A promotion that kept acknowledged rows lost no refund that anybody was told of.
        let kept = SiteRecovery(epoch: 2, loss: .promotion, at: Self.lost, keptUntil: Self.kept, listingCompared: true)
        #expect(review([met], recovery: kept, at: due) == .open(until: nil))
    }

    @Test func `what is closed, or told to people, is not left to the policy`() throws {
        let theirs = try Compared.theirs("k", .captured, names: "p")
        let finding = try Compared.finding(.orphan, theirs: theirs)
        let run = try Compared.run().id
        func found(_ rule: ComparisonPolicy.Rule) -> Discrepancy {
            Discrepancy(finding, rule: rule, run: run, at: Self.lost)
        }
        #expect(!found(ComparisonPolicy.Rule(.tell, after: .days(1))).isLeftToPolicy)
        var undone = found(ComparisonPolicy.Rule(.undo, after: .days(1)))
        #expect(undone.isLeftToPolicy, "its wait runs")
        try undone.handle(.acted(.undo, run: run), at: Self.lost)
        #expect(undone.isLeftToPolicy, "it is being undone")
        #expect(LossReview.Settlement(undone) == .leftToPolicy, "no payment is known that does it")
        try undone.handle(.healed(.undone, ours: nil, theirs: nil, run: run), at: Self.lost)
        #expect(!undone.isLeftToPolicy)
        #expect(LossReview.Settlement(undone) == .done)
    }

    @Test func `what is being undone holds up nobody, and is compared again until it is undone`() throws {
        let run = try executed()
        let ended = try #require(run.finishedAt)
        let undone = try evidence("cards", [run], .beingUndone)
        #expect(review([undone], at: ended) == .compared)
        let other = try evidence("points")
        #expect(review([undone, other], at: ended) != .compared, "another provider was not compared")
        let compared = recovery(isCompared: true)
        let early = review([undone], recovery: compared, at: ended + settings.askAgainAfter + .milliseconds(-1))
        #expect(obstacles(early) == ["what only cards knows is not settled"])
        #expect(plan(early).isEmpty)
        let again = review([undone], recovery: compared, repeatFor: .zero, at: ended + settings.askAgainAfter)
        #expect(plan(again).map(\.attempt) == [1], "the window is not closed before it is undone")
        let settled = try evidence("cards", [run])
        #expect(review([settled], recovery: compared, repeatFor: .zero, at: ended) == .over)
    }

    /// Seed 3696256185: the refund waited for the comparison over the loss, and that comparison for the refund.
    @Test func `what our books have again is being undone, and no more left to the policy alone`() throws {
        let theirs = try Compared.theirs("k", .captured, names: "p")
        let run = try Compared.run().id
        var undone = Discrepancy(
            try Compared.finding(.orphan, theirs: theirs), rule: ComparisonPolicy.Rule(.undo, after: .zero), run: run,
            at: Self.lost)
        try undone.handle(.acted(.undo, run: run), at: Self.lost)
        let ours = try Compared.ours("k", .undecided)
        try undone.handle(.unjudged(ours: ours.net, theirs: theirs.net, run: run), at: Self.lost)
        #expect(undone.state == .settling && undone.isLeftToPolicy)
        #expect(LossReview.Settlement(undone) == .beingUndone)
    }
}
