import Testing

@testable import HTTPTransport

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
