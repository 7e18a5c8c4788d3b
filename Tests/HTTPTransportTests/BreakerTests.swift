import Testing

@testable import HTTPTransport

@Suite struct `The breaker` {
    private let start = ContinuousClock.now
    private let settings = Breaker.Settings(
        window: 4, minimumSamples: 4, failurePercent: 50, openFor: .seconds(10), openForAtMost: .seconds(30),
        probes: 2)

    private func permit(_ breaker: inout Breaker, at instant: ContinuousClock.Instant) throws
        -> Breaker.Permit
    {
        guard case .admitted(let permit) = breaker.admit(now: instant) else { throw NotAdmitted() }
        return permit
    }

    private struct NotAdmitted: Error {}

    private func record(
        _ breaker: inout Breaker, _ outcomes: [Breaker.Outcome], at instant: ContinuousClock.Instant
    ) throws {
        for outcome in outcomes {
            breaker.record(outcome, try permit(&breaker, at: instant), now: instant)
        }
    }

    private func opened() throws -> Breaker {
        var breaker = Breaker(settings)
        try record(&breaker, [.failure, .failure, .failure, .failure], at: start)
        return breaker
    }

    @Test func `it opens at the share of failures, and not on too few outcomes`() throws {
        var breaker = Breaker(settings)
        try record(&breaker, [.failure, .failure, .failure], at: start)
        #expect(breaker.state == .closed)
        try record(&breaker, [.nothing, .nothing], at: start)
        #expect(breaker.state == .closed)
        try record(&breaker, [.success], at: start)
        #expect(breaker.state == .open)
        #expect(breaker.admit(now: start + .seconds(9)) == .rejected(until: start + .seconds(10)))
    }

    @Test func `old outcomes leave the window`() throws {
        var breaker = Breaker(settings)
        try record(&breaker, [.failure, .success, .success, .success], at: start)
        try record(&breaker, [.failure, .success, .success, .success, .failure], at: start)
        #expect(breaker.state == .closed)
        try record(&breaker, [.failure], at: start)
        #expect(breaker.state == .open)
    }

    @Test func `it closes when every probe succeeded, and admits no more than those`() throws {
        var breaker = try opened()
        let later = start + .seconds(10)
        let first = try permit(&breaker, at: later)
        let second = try permit(&breaker, at: later)
        #expect(breaker.admit(now: later) == .rejected(until: nil))
        breaker.record(.success, first, now: later)
        #expect(breaker.admit(now: later) == .rejected(until: nil))
        #expect(breaker.state == .halfOpen)
        breaker.record(.success, second, now: later)
        #expect(breaker.state == .closed)
    }

    @Test func `a failed probe opens it for twice as long, up to the bound`() throws {
        var breaker = try opened()
        var now = start + .seconds(10)
        for expected in [20, 30, 30] {
            breaker.record(.failure, try permit(&breaker, at: now), now: now)
            #expect(breaker.admit(now: now) == .rejected(until: now + .seconds(expected)))
            now += .seconds(expected)
        }
    }

    @Test func `a probe that showed nothing gives its place back`() throws {
        var breaker = try opened()
        let later = start + .seconds(10)
        for _ in 0..<5 { breaker.record(.nothing, try permit(&breaker, at: later), now: later) }
        #expect(breaker.state == .halfOpen)
        try record(&breaker, [.success, .success], at: later)
        #expect(breaker.state == .closed)
    }

    @Test func `an outcome from before it opened counts no more`() throws {
        var breaker = Breaker(settings)
        let slow = try permit(&breaker, at: start)
        try record(&breaker, [.failure, .failure, .failure, .failure], at: start)
        let later = start + .seconds(10)
        let probe = try permit(&breaker, at: later)
        breaker.record(.failure, slow, now: later)
        #expect(breaker.state == .halfOpen)
        breaker.record(.success, probe, now: later)
        breaker.record(.success, slow, now: later)
        #expect(breaker.state == .halfOpen)
    }

    @Test func `around a sender it rejects without sending`() async throws {
        let request = HTTPRequest(method: .get, url: "https://api.example/", label: "inquire")
        let wire = ScriptedSender([
            ScriptedSender.answer(503), ScriptedSender.fail(.connectTimeout, .connecting),
            ScriptedSender.fail(.cancelled, .sent, bytesWritten: 1), ScriptedSender.answer(404),
            ScriptedSender.answer(200),
        ])
        let breaking = CircuitBreaking(settings)
        let stack = MiddlewareStack([breaking], sender: wire)
        _ = try await stack.send(request)
        _ = try await failure(stack, request)
        _ = try await failure(stack, request)
        _ = try await stack.send(request)
        #expect(breaking.state == .closed)
        _ = try await stack.send(request)
        #expect(breaking.state == .open)
        let failed = try await failure(stack, request)
        #expect(failed.code == .breakerOpen)
        #expect(failed.phase == .waiting)
        #expect(failed.provablyNotSent)
        #expect(wire.requests.count == 5)
    }
}
