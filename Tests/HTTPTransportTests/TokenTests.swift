import Testing

@testable import HTTPTransport

@Suite struct `The token` {
    private let request = HTTPRequest(method: .get, url: "https://api.example/", label: "inquire")

    /// Counts its fetches and numbers its tokens.
    private final class Issuer: Sendable {
        private let count = Guarded(0)
        var fetches: Int { count.withLock { $0 } }

        func next() -> BearerToken {
            count.withLock { count in
                count += 1
                return BearerToken("token-\(count)")
            }
        }
    }

    @Test func `a 401 is passed on, not repeated, and the next attempt has a new token`() async throws {
        let issuer = Issuer()
        let source = RefreshingTokenSource { () throws(TransportFailure) in issuer.next() }
        let wire = ScriptedSender(
            [ScriptedSender.answer(200), ScriptedSender.answer(401)], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([TokenHeader(source: source)], sender: wire)
        var statuses: [Int] = []
        for _ in 0..<4 { statuses.append(try await stack.send(request).status) }
        #expect(statuses == [200, 401, 200, 200])
        #expect(
            wire.requests.compactMap { $0.fields["authorization"] } == [
                "Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2",
            ])
        #expect(issuer.fetches == 2)
    }

    @Test func `a late 401 of an old token does not throw away the new one`() async throws {
        let issuer = Issuer()
        let source = RefreshingTokenSource { () throws(TransportFailure) in issuer.next() }
        let old = try await source.token()
        await source.markStale(old)
        let new = try await source.token()
        await source.markStale(old)
        let kept = try await source.token()
        #expect(kept == new)
        #expect(issuer.fetches == 2)
    }

    @Test func `a failed fetch proves that the request was not sent, however far the fetch got`() async throws {
        let source = RefreshingTokenSource { () throws(TransportFailure) in
            throw TransportFailure(code: .connectionReset, phase: .receiving, bytesWritten: 400)
        }
        let wire = ScriptedSender()
        let failed = try await failure(MiddlewareStack([TokenHeader(source: source)], sender: wire), request)
        #expect(failed.code == .connectionReset)
        #expect(failed.provablyNotSent)
        #expect(wire.requests.isEmpty)
    }

    @Test func `many callers wait for one fetch`() async throws {
        let issuer = Issuer()
        let gate = Gate()
        let source = RefreshingTokenSource { () throws(TransportFailure) in
            await gate.pass()
            return issuer.next()
        }
        let tokens = try await withThrowingTaskGroup(of: BearerToken.self) { group in
            for _ in 0..<50 { group.addTask { try await source.token() } }
            gate.open()
            return try await group.reduce(into: Set<BearerToken>()) { $0.insert($1) }
        }
        #expect(tokens.count == 1)
        #expect(issuer.fetches == 1)
    }

    @Test func `a waiter does not fail because the fetching task was cancelled`() async throws {
        let gate = Gate()
        let issuer = Issuer()
        let source = RefreshingTokenSource { () throws(TransportFailure) in
            let token = issuer.next()
            guard issuer.fetches == 1 else { return token }
            await gate.pass()
            throw TransportFailure(code: .cancelled, phase: .sent, bytesWritten: 1)
        }
        async let first = Result { () async throws -> BearerToken in try await source.token() }
        #expect(try await eventually { issuer.fetches == 1 })
        async let second = source.token()
        let deadline = ContinuousClock.now + .seconds(10)
        while await source.waitingForFetch < 1, .now < deadline { await Task.yield() }
        gate.open()
        guard case .failure(let failed as TransportFailure) = await first else {
            Issue.record("the fetching task has a token")
            return
        }
        #expect(failed.code == .cancelled)
        let token = try await second
        #expect(token == BearerToken("token-2"))
    }

    @Test func `a token never describes itself`() {
        let token = BearerToken("top-secret")
        var dumped = ""
        dump(token, to: &dumped)
        for text in ["\(token)", String(reflecting: token), "\([token])", dumped] {
            #expect(!text.contains("secret"))
        }
    }
}

extension Result where Failure == any Error, Success: Sendable {
    /// The outcome of an asynchronous body.
    init(_ body: () async throws -> Success) async {
        do {
            self = .success(try await body())
        } catch {
            self = .failure(error)
        }
    }
}
