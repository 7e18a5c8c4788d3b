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
        #expect(budget.release(now: start) == [.init(id: 2, answer: .start(at: start))])
        #expect(budget.release(now: start) == [.init(id: 3, answer: .start(at: start))])
        #expect(budget.release(now: start) == [])
        #expect(budget.placesTaken == 0)
    }

    @Test func `the rate spreads starts after a burst, and a pause fills it again`() {
        var budget = RequestBudget(.init(perSecond: 10, burst: 3, concurrent: 100))
        let answers = (1...5).map { budget.ask($0, now: start, until: never) }
        #expect(
            answers == [0, 0, 0, 100, 200].map { .start(at: start + .milliseconds($0)) })
        let later = start + .seconds(10)
        let again = (6...9).map { budget.ask($0, now: later, until: never) }
        #expect(again == [0, 0, 0, 100].map { .start(at: later + .milliseconds($0)) })
    }

    @Test func `no more start in any second than rate and burst allow`() {
        var budget = RequestBudget(.init(perSecond: 5, burst: 2, concurrent: 1_000))
        var starts: [ContinuousClock.Instant] = []
        for id in 0..<100 {
            let now = start + .milliseconds(id * 37 % 900)
            if case .start(let at) = budget.ask(UInt64(id), now: now, until: never) { starts.append(at) }
        }
        #expect(starts.count == 100)
        for first in starts {
            let within = starts.count { $0 >= first && $0 < first + .seconds(1) }
            #expect(within <= 5 + 2)
        }
    }

    @Test func `who could only start too late is refused and takes no token`() {
        var budget = RequestBudget(.init(perSecond: 1, burst: 1, concurrent: 10))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .milliseconds(500)) == .refused)
        #expect(budget.ask(3, now: start, until: never) == .start(at: start + .seconds(1)))
        #expect(budget.ask(4, now: start, until: start) == .refused)
        #expect(budget.placesTaken == 2)
    }

    @Test func `one that waited too long is refused when its turn comes, and the next one goes`() {
        var budget = RequestBudget(.init(concurrent: 1))
        #expect(budget.ask(1, now: start, until: never) == .start(at: start))
        #expect(budget.ask(2, now: start, until: start + .seconds(1)) == .wait)
        #expect(budget.ask(3, now: start, until: never) == .wait)
        let later = start + .seconds(2)
        #expect(
            budget.release(now: later) == [
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
        #expect(budget.release(now: start) == [])
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
