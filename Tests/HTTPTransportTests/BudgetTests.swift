import Testing

@testable import HTTPTransport

@Suite struct `The request budget` {
    private let start = ContinuousClock.now
    private let never = ContinuousClock.now + .seconds(86_400)

    @Test func `places are given first come first served`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 2))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: never) == .wait)
        #expect(budget.ask(3, now: start, until: never) == .wait)
        #expect(budget.ask(4, now: start, until: never) == .refused)
        #expect(budget.release(0, now: start) == [.init(id: 2, answer: .start(at: start))])
        #expect(budget.release(0, now: start) == [.init(id: 3, answer: .start(at: start))])
        #expect(budget.release(0, now: start) == [])
        #expect(budget.placesTaken == 0)
    }

    /// Asks, and drives the budget as those who wait would: each tells when it started.
    private func starts(
        _ budget: inout RequestBudget, asking: [(id: UInt64, lane: String)], at now: ContinuousClock.Instant
    ) -> [(id: UInt64, at: ContinuousClock.Instant)] {
        var started: [(id: UInt64, at: ContinuousClock.Instant)] = []
        for (id, lane) in asking {
            if case .start(let at) = budget.ask(id, lane: lane, now: now, until: never) { started.append((id, at)) }
        }
        var told = 0
        while told < started.count {
            let (id, at) = started[told]
            told += 1
            for grant in budget.started(id, now: max(now, at)) {
                if case .start(let at) = grant.answer { started.append((grant.id, at)) }
            }
        }
        return started
    }

    @Test func `the rate spreads starts after a burst, and a pause fills it again`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 3, concurrent: 100))
        let first = starts(&budget, asking: (1...5).map { ($0, "") }, at: start)
        #expect(first.map(\.at) == [0, 0, 0, 100, 200].map { start + .milliseconds($0) })
        let later = start + .seconds(10)
        let again = starts(&budget, asking: (6...9).map { ($0, "") }, at: later)
        #expect(again.map(\.at) == [0, 0, 0, 100].map { later + .milliseconds($0) })
    }

    @Test func `no more start in any second than rate and burst allow`() {
        var budget = RequestBudget(.init(perSecond: 5, burst: 2, concurrent: 1_000))
        let starts = starts(&budget, asking: (0..<100).map { ($0, "\($0 % 7)") }, at: start).map(\.at)
        #expect(starts.count == 100)
        for first in starts {
            let within = starts.count { $0 >= first && $0 < first + .seconds(1) }
            #expect(within <= 5 + 2)
        }
    }

    @Test func `lanes take turns, whoever has how many`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 1, concurrent: 100))
        let greedy = (1...60).map { (UInt64($0), "greedy") }
        let started = starts(&budget, asking: greedy + [(101, "shop"), (102, "shop"), (103, "kiosk")], at: start)
        // The first two of the greedy one found nobody; then each of the three has a turn.
        #expect(started.map(\.id).prefix(7) == [1, 2, 3, 101, 103, 4, 102])
        #expect(started.count == 63)
    }

    @Test func `places are given in turns as well`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...9 as ClosedRange<UInt64> {
            #expect(budget.ask(id, lane: "greedy", now: start, until: never) == .wait)
        }
        #expect(budget.ask(10, lane: "shop", now: start, until: never) == .wait)
        #expect((0..<3).flatMap { _ in budget.release(0, now: start).map(\.id) } == [2, 10, 3])
    }

    @Test func `a full queue takes one of a shorter lane, and refuses the latest of the longest`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 4))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...5 as ClosedRange<UInt64> {
            #expect(budget.ask(id, lane: "greedy", now: start, until: never) == .wait)
        }
        let isPromised = ["greedy", "shop"].map { budget.promise(lane: $0, now: start) }
        #expect(isPromised == [false, true])
        #expect(budget.ask(6, lane: "greedy", now: start, until: never) == .refused)
        #expect(budget.ask(7, lane: "shop", now: start, until: never) == .wait)
        #expect(budget.advance(now: start) == [.init(id: 5, answer: .refused)])
        #expect(budget.ask(8, lane: "shop", now: start, until: never) == .wait)
        // Two each: nobody is longer by more than one.
        #expect(budget.ask(9, lane: "shop", now: start, until: never) == .refused)
        #expect(budget.queueLength == 4)
    }

    @Test func `who could only start too late is refused and takes no token`() {
        var budget = RequestBudget(.init(perSecond: 1, burst: 1, concurrent: 10))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .milliseconds(500)) == .refused)
        #expect(budget.ask(3, now: start, until: never) == .start(at: start + .seconds(1)))
        #expect(budget.ask(4, now: start, until: start + .milliseconds(1_900)) == .refused)
        #expect(budget.ask(5, lane: "shop", now: start, until: start + .milliseconds(2_100)) == .wait)
        // After one of its own lane, and after one of another.
        #expect(budget.ask(6, lane: "shop", now: start, until: start + .milliseconds(2_900)) == .refused)
        #expect(budget.ask(7, lane: "kiosk", now: start, until: start + .milliseconds(2_900)) == .refused)
        #expect(budget.ask(8, now: start, until: start) == .refused)
        let second = start + .seconds(1)
        #expect(budget.started(3, now: second) == [.init(id: 5, answer: .start(at: start + .seconds(2)))])
        #expect(budget.placesTaken == 3)
    }

    @Test func `what was begun is finished before more is begun`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, lane: "shop", begins: true, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, lane: "shop", begins: true, now: start, until: never) == .wait)
        #expect(budget.ask(3, lane: "shop", begins: false, now: start, until: never) == .wait)
        #expect((0..<2).flatMap { _ in budget.release(0, now: start).map(\.id) } == [3, 2])
    }

    @Test func `no more is promised than can begin in time, and promises run out`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 1, concurrent: 10, longestWait: .seconds(5)))
        let kept = (0..<200).count { _ in budget.promise(lane: "greedy", now: start) }
        #expect(kept == 50, "ten in a second, for five seconds")
        let isOtherPromised = budget.promise(lane: "shop", now: start)
        #expect(isOtherPromised)
        // Each that begins keeps one.
        #expect(budget.ask(1, lane: "greedy", begins: true, now: start, until: never) == .start(at: start))
        let again = budget.promise(lane: "greedy", now: start)
        #expect(!again)
        let later = start + .seconds(5)
        let keptLater = (0..<200).count { _ in budget.promise(lane: "greedy", now: later) }
        #expect(keptLater == 50)
    }

    @Test func `a queue that is promised to one caller has room for another`() {
        var budget = RequestBudget(.init(concurrent: 1, queue: 8))
        #expect(budget.ask(1, lane: "greedy", now: start, until: never) == .start(at: start))
        for id in 2...9 as ClosedRange<UInt64> { _ = budget.ask(id, lane: "greedy", now: start, until: never) }
        let isPromised = budget.promise(lane: "greedy", now: start)
        #expect(!isPromised)
        let shops = (0..<10).count { _ in budget.promise(lane: "shop", now: start) }
        #expect((1..<8).contains(shops))
        #expect(budget.ask(10, lane: "shop", begins: true, now: start, until: never) == .wait)
    }

    @Test func `one that waited too long is refused when its turn comes, and the next one goes`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .seconds(1)) == .wait)
        #expect(budget.ask(3, now: start, until: never) == .wait)
        let later = start + .seconds(2)
        #expect(
            budget.release(0, now: later) == [
                .init(id: 2, answer: .refused), .init(id: 3, answer: .start(at: later)),
            ])
    }

    @Test func `one that gives up leaves the queue, once`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: never) == .wait)
        #expect(budget.abandon(2) == true)
        #expect(budget.abandon(2) == false)
        #expect(budget.queueLength == 0)
        #expect(budget.release(0, now: start) == [])
    }
}

@Suite struct `The budget around a sender` {
    private let request = HTTPRequest(method: .get, url: "https://api.example/", label: "inquire")

    @Test func `never more requests at once than allowed, and all are sent`() async throws {
        let gauge = Guarded((now: 0, most: 0))
        let wire = ScriptedSender(
            [],
            otherwise: { _ throws(TransportFailure) in
                gauge.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                await Task.yield()
                gauge.withLock { $0.now -= 1 }
                return HTTPResponse(status: 200)
            })
        let stack = MiddlewareStack([BudgetLimit(.init(concurrent: 3, queue: 200))], sender: wire)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try await stack.send(request) } }
            try await group.waitForAll()
        }
        #expect(wire.requests.count == 200)
        #expect(gauge.withLock { $0.most } <= 3)
    }

    @Test func `no room by the start time means refused without sending`() async throws {
        let gate = Gate()
        let wire = ScriptedSender(
            [],
            otherwise: { _ throws(TransportFailure) in
                await gate.pass()
                return HTTPResponse(status: 200)
            })
        let stack = MiddlewareStack([BudgetLimit(.init(concurrent: 1))], sender: wire)
        async let first = stack.send(request)
        #expect(try await eventually { wire.requests.count == 1 })
        var hurried = request
        hurried.startBefore = .now + .milliseconds(50)
        let failed = try await failure(stack, hurried)
        #expect(failed.code == .budgetExhausted)
        #expect(failed.provablyNotSent)
        #expect(wire.requests.count == 1)
        gate.open()
        #expect(try await first.status == 200)
    }

    @Test func `a cancelled wait leaves the queue at once`() async throws {
        let gate = Gate()
        let wire = ScriptedSender(
            [],
            otherwise: { _ throws(TransportFailure) in
                await gate.pass()
                return HTTPResponse(status: 200)
            })
        let limit = BudgetLimit(.init(concurrent: 1, longestWait: .seconds(600)))
        let stack = MiddlewareStack([limit], sender: wire)
        async let first = stack.send(request)
        #expect(try await eventually { wire.requests.count == 1 })
        let failed = try await withThrowingTaskGroup(of: TransportFailure.self) { group in
            group.addTask { try await failure(stack, request) }
            #expect(try await eventually { limit.queueLength == 1 })
            group.cancelAll()
            return try #require(try await group.next())
        }
        #expect(failed.code == .cancelled)
        #expect(limit.queueLength == 0)
        gate.open()
        #expect(try await first.status == 200)
    }

    @Test func `a rate delays the start`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([BudgetLimit(.init(perSecond: 20, burst: 1))], sender: wire)
        let began = ContinuousClock.now
        for _ in 0..<3 { _ = try await stack.send(request) }
        #expect(ContinuousClock.now - began >= .milliseconds(100))
    }

    /// Fifty requests of one caller are there before the first of another, at twenty in a second.
    @Test func `a caller with many requests delays its own`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let limit = BudgetLimit(.init(perSecond: 20, burst: 1, longestWait: .seconds(60)))
        let stack = MiddlewareStack([limit], sender: wire)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    var greedy = request
                    greedy.lane = "greedy"
                    _ = try await stack.send(greedy)
                }
            }
            #expect(try await eventually { limit.queueLength >= 45 })
            let began = ContinuousClock.now
            for _ in 0..<3 {
                var shop = request
                shop.lane = "shop"
                _ = try await stack.send(shop)
            }
            // Each of the three waits for its token and at most one of the other caller's.
            #expect(ContinuousClock.now - began < .seconds(1))
            group.cancelAll()
            while let result = await group.nextResult() { _ = result }
        }
        #expect(limit.queueLength == 0)
    }

    @Test func `each endpoint has its own rate, and what waits for one keeps no other waiting`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack(
            [EndpointLimit(perSecond: 1, burst: 1, longestWait: .seconds(60)), BudgetLimit(.init(concurrent: 1))],
            sender: wire)
        var other = request
        other.endpoint = "other"
        let began = ContinuousClock.now
        async let first = stack.send(request)
        async let second = stack.send(request)
        async let third = stack.send(request)
        #expect(try await eventually { wire.requests.count == 1 })
        #expect(try await stack.send(other).status == 200)
        #expect(wire.requests.map(\.endpoint) == ["inquire", "other"])
        #expect(try await [first, second, third].map(\.status) == [200, 200, 200])
        #expect(ContinuousClock.now - began >= .milliseconds(1_990), "the third starts two seconds later")
    }

    @Test func `what an endpoint does not allow in time is refused without sending`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack(
            [EndpointLimit(perSecond: 0.01, burst: 1, longestWait: .seconds(60))], sender: wire)
        #expect(try await stack.send(request).status == 200)
        let failed = try await failure(stack, request)
        #expect(failed.code == .budgetExhausted && failed.provablyNotSent)
        #expect(wire.requests.count == 1)
    }
}
