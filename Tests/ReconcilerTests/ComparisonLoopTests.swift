import MemoryStore
import PaymentCore
import Reconciler
import Synchronization
import Testing
import VirtualTime

/// Which run is next, and when the loop looks again.
@Suite(.timeLimit(.minutes(5))) struct ComparisonLoopTests {
    private func completed(_ stage: ComparisonStage) async throws -> [ComparisonRun] {
        var query = RunQuery(limit: 200)
        query.state = .completed
        return try await stage.store.runs(query).items.sorted { $0.window.from < $1.window.from }
    }

    /// The windows whose listing was begun, in order.
    private func begun(_ stage: ComparisonStage) async -> [ComparedWindow] {
        await stage.provider.orders.filter { $0.cursor == nil }.map(\.window)
    }

    @Test func `after an outage the windows are caught up with one after the other, without a gap`() async throws {
        let stage = try ComparisonStage(hours: 5)
        try await stage.whileRunning([stage.loop()]) {
            // The clock stands still: nothing between them is waited for.
            try await Polling.until("all are compared") { try await completed(stage).count == 5 }
            try await Polling.until("it waits") { !stage.clock.sleeping.isEmpty }
        }
        let runs = try await completed(stage)
        #expect(zip(runs, runs.dropFirst()).allSatisfy { $0.window.to == $1.window.from })
        #expect(runs.first?.window.from == stage.settings.begin)
        #expect(await begun(stage) == runs.map(\.listingWindow), "not the oldest first, or one twice")
        #expect(try await stage.rows(stage.keys(hours: 5)).count == 30)
        #expect(runs.allSatisfy { $0.isProven == true && $0.kind == .scheduled })
    }

    @Test func `a loop with nothing to compare goes on until it is cancelled`() async throws {
        let stage = try ComparisonStage(hours: 1)
        let loop = stage.loop(providers: [])
        try await stage.whileRunning([loop]) {
            for _ in 0..<3 {
                try await Polling.until("it waits") { !stage.clock.sleeping.isEmpty }
                stage.clock.advance(by: .hours(2))
            }
        }
    }

    @Test func `loops of several processes compare each window once`() async throws {
        let stage = try ComparisonStage(hours: 8)
        try await stage.whileRunning((0..<4).map { stage.loop("worker-\($0)") }) {
            try await Polling.until("all are compared") {
                // Who found a run in another's hands looks again later.
                stage.clock.advance(by: .milliseconds(100))
                return try await completed(stage).count == 8
            }
        }
        let windows = await begun(stage)
        #expect(windows.count == 8 && Set(windows).count == 8, "\(windows.count) listings of 8 windows")
        let pages = await stage.provider.orders
        #expect(Set(pages).count == pages.count, "a page was read twice")
    }

    @Test func `what people ask for goes before the schedule, the oldest wish first`() async throws {
        var stage = try ComparisonStage(hours: 3)
        let last = try #require(stage.settings.begin) + .hours(3)
        var asked: [ComparisonRun] = []
        for back in [Span.minutes(30), .minutes(20)] {
            let window = try #require(ComparedWindow(from: last + (.zero - back), to: last))
            let run = try ComparisonSchedule.asked(
                at: stage.provider.name, window, stage.provider.contract, stage.settings, now: stage.clock.now())
            asked.append(try await stage.store.begin(run))
            stage.clock.advance(by: .milliseconds(1))
        }
        stage.settings.begin = last + .hours(-3)
        let settled = stage
        try await settled.whileRunning([settled.loop()]) {
            try await Polling.until("all are compared") { try await completed(settled).count == 5 }
        }
        let windows = await begun(settled)
        #expect(Array(windows.prefix(2)) == asked.map(\.listingWindow), "\(windows)")
        #expect(windows.count == 5)
    }

    @Test func `a wish is taken up while the schedule waits`() async throws {
        let stage = try ComparisonStage()
        try await stage.whileRunning([stage.loop()]) {
            try await Polling.until("it waits") {
                let isDone = try await completed(stage).count == 1
                return isDone && !stage.clock.sleeping.isEmpty
            }
            let begin = try #require(stage.settings.begin)
            let window = try #require(ComparedWindow(from: begin, to: begin + .minutes(30)))
            let run = try ComparisonSchedule.asked(
                at: stage.provider.name, window, stage.provider.contract, stage.settings, now: stage.clock.now())
            _ = try await stage.store.begin(run)
            stage.clock.advance(by: ComparisonLoop.Pauses().asked)
            try await Polling.until("it is compared") { try await stage.store.run(run.id)?.state == .completed }
        }
    }

    @Test func `a process that may not work does nothing until it may`() async throws {
        let stage = try ComparisonStage(hours: 2)
        let mayWork = Permission()
        try await stage.whileRunning([stage.loop { mayWork.isGiven.withLock { $0 } }]) {
            for _ in 0..<20 {
                try await Polling.until("it waits") { !stage.clock.sleeping.isEmpty }
                stage.clock.advance(by: .minutes(1))
            }
            #expect(await stage.provider.orders.isEmpty)
            #expect(try await stage.store.runs(RunQuery()).items.isEmpty, "a run was planned")
            mayWork.isGiven.withLock { $0 = true }
            try await Polling.until("all are compared") {
                stage.clock.advance(by: .milliseconds(100))
                return try await completed(stage).count == 2
            }
        }
    }

    private final class Permission: Sendable {
        let isGiven = Mutex(false)
    }

    @Test(arguments: ListingFailure.Kind.allCases)
    func `after failures it waits longer and longer, and at once long where a person is needed`(
        kind: ListingFailure.Kind
    ) async throws {
        let stage = try ComparisonStage()
        await stage.provider.beforeEachPage { _ in ListingFailure(kind, code: "no") }
        let isForPeople = kind == .refused || kind == .malformed
        try await stage.whileRunning([stage.loop()]) {
            for pause in isForPeople ? [Span.minutes(5), .minutes(5)] : [.seconds(1), .seconds(2), .seconds(4)] {
                let tries = await stage.provider.orders.count
                let end = stage.clock.now() + pause
                try await Polling.until("it waits \(pause)") { stage.clock.sleeping == [end] }
                stage.clock.advance(by: pause)
                try await Polling.until("it tries again") { await stage.provider.orders.count > tries }
            }
            await stage.provider.beforeEachPage { _ in nil }
            try await Polling.until("it gets through") {
                stage.clock.advance(by: .seconds(10))
                return try await completed(stage).count == 1
            }
        }
    }

    @Test(arguments: [Span.minutes(2), .hours(1)])
    func `a provider that wants to be left alone is, up to the longest pause`(span: Span) async throws {
        let stage = try ComparisonStage()
        let retryAt = stage.clock.now() + span
        await stage.provider.beforeEachPage { _ in ListingFailure(.passing, code: "http_429", retryAt: retryAt) }
        let end = min(retryAt, stage.clock.now() + ComparisonLoop.Pauses().longest)
        try await stage.whileRunning([stage.loop()]) {
            try await Polling.until("it waits") { stage.clock.sleeping == [end] }
        }
    }

    @Test func `a store that fails is looked at again, and stops nobody`() async throws {
        let stage = try ComparisonStage(hours: 2)
        for operation in [StoreOperation.runs, .now, .chainHead, .beginRun, .claimRun] {
            await stage.store.failNext(.unavailable, on: operation)
        }
        try await stage.whileRunning([stage.loop()]) {
            try await Polling.until("all are compared") {
                stage.clock.advance(by: .milliseconds(500))
                // What was scripted is for the loop.
                guard await stage.store.unusedFaults == 0 else { return false }
                return try await completed(stage).count == 2
            }
        }
    }

    @Test(arguments: [ComparisonRun.Kind.scheduled, .asked])
    func `a run that a process left is finished once its lease has run out`(kind: ComparisonRun.Kind) async throws {
        let stage = try ComparisonStage()
        var run = try await stage.planned()
        if kind == .asked {
            _ = try await stage.store.abandonRun(run.id)
            run = try await stage.store.begin(
                try ComparisonSchedule.asked(
                    at: stage.provider.name, run.window, stage.provider.contract, stage.settings,
                    now: stage.clock.now()))
        }
        // It stops at its second page, and cannot even give back the lease.
        await stage.provider.beforeEachPage { order in
            order.cursor == "4" ? ListingFailure(.passing, code: "stopped") : nil
        }
        await stage.store.failNext(.unavailable, on: .releaseRun)
        _ = await stage.runner("gone").execute(run.id)
        await stage.provider.beforeEachPage { _ in nil }
        let id = run.id
        try await stage.whileRunning([stage.loop()]) {
            try await Polling.until("it waits") { !stage.clock.sleeping.isEmpty }
            #expect(try await stage.store.run(id)?.state == .running)
            try await Polling.until("it is finished") {
                stage.clock.advance(by: .seconds(1))
                return try await stage.store.run(id)?.state == .completed
            }
        }
        #expect(try await stage.store.run(id)?.counts.listed == 6)
    }
}
