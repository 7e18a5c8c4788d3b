import Foundation
import LogCapture
import Logging
import PaymentCore
import Reconciler
import ServiceLifecycle
import Synchronization
import Testing

@testable import PaymentAPI

struct ConnectionTests {
    @Test func `unknown routes are 404, wrong methods 405 with what is allowed`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            for target in [
                "/", "/v1", "/v1/payments/", "/v1/payments//capture", "/v1/payments/\(id)/void",
                "/v2/payments", "/v1/payments/\(id)/events/1", "//v1/payments", "/livez", "/metrics", "*",
            ] {
                let answer = try await api.get(target)
                #expect(answer.status == 404, "\(target)")
                #expect(try answer.string("type") == "/problems/not-found")
            }
            for (method, target, allowed) in [
                ("PUT", "/v1/payments", "GET, HEAD, POST"), ("DELETE", "/v1/payments/\(id)", "GET, HEAD"),
                ("GET", "/v1/payments/\(id)/capture", "POST"), ("POST", "/openapi.yaml", "GET, HEAD"),
                ("PATCH", "/v1/payments/\(id)/events", "GET, HEAD"),
            ] {
                let answer = try await api.send(method, target)
                #expect(answer.status == 405, "\(method) \(target)")
                #expect(answer.headers["allow"] == allowed)
                #expect(answer.headers["content-type"] == "application/problem+json")
            }
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a site says which term it knows to everybody, and nothing else`() async throws {
        try await RunningAPI.run { api in
            let answer = try await api.get("/v1/site", token: nil)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/json")
            let store = "sto_" + String(repeating: "a", count: 32)
            let word = #"{"site":"east","store":"\#(store)","active_site":"west","epoch":7}"#
            #expect(String(decoding: answer.body, as: UTF8.self) == word)
        }
    }

    @Test func `the description is served to everybody`() async throws {
        try await RunningAPI.run { api in
            let answer = try await api.get("/openapi.yaml", token: nil)
            #expect(answer.status == 200)
            #expect(answer.headers["content-type"] == "application/yaml")
            #expect(answer.body == RunningAPI.description)
        }
    }

    @Test func `a body above the limit is 413, announced or not, and the connection ends`() async throws {
        try await RunningAPI.run { api in
            let large = #"{"reference":""# + String(repeating: "x", count: 70_000) + #""}"#
            let announced = try await api.create(large)
            #expect(announced.status == 413)
            #expect(try announced.string("type") == "/problems/body-too-large")
            let chunk = String(repeating: "y", count: 40_000)
            let part = "\(String(chunk.count, radix: 16))\r\n\(chunk)\r\n"
            let head = """
                POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningAPI.token)\r\n\
                Idempotency-Key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n
                """
            let chunked = try RawAnswer(await api.client.exchange(Array((head + part + part).utf8)))
            #expect(chunked.status == 413)
            #expect(chunked.headers["connection"] == "close")
            let exact = #"{"reference":""# + String(repeating: "x", count: 65_536 - 16) + #""}"#
            #expect(try await api.create(exact).status == 400)
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a body that never arrives does not hold the server`() async throws {
        var limits = APILimits()
        limits.bodyDeadline = .milliseconds(200)
        limits.linger = .milliseconds(100)
        try await RunningAPI.run(limits: limits) { api in
            let head = """
                POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningAPI.token)\r\n\
                Idempotency-Key: k\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"amount
                """
            async let slow = api.client.exchange(Array(head.utf8))
            #expect(try await api.get("/v1/payments").status == 200)
            let answer = try RawAnswer(await slow)
            #expect(answer.status == 400)
            #expect(answer.headers["connection"] == "close")
            #expect(try answer.json["retryable"] as? Bool == true)
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `whoever has no token is refused before the body, and the connection ends`() async throws {
        var limits = APILimits()
        limits.linger = .milliseconds(100)
        try await RunningAPI.run(limits: limits) { api in
            let head = "POST /v1/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"amount"
            let answer = try RawAnswer(await api.client.exchange(Array(head.utf8)))
            #expect(answer.status == 401 && answer.headers["connection"] == "close")
            let chunked = "GET /v1/payments HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n"
            let get = try RawAnswer(await api.client.exchange(Array(chunked.utf8)))
            #expect(get.status == 401 && get.headers["connection"] == "close")
            // The same where there is nothing at all.
            let nowhere = "GET /v1/nowhere HTTP/1.1\r\nHost: x\r\n\r\n"
            let nothing = try RawAnswer(await api.client.exchange(Array(nowhere.utf8)))
            #expect(nothing.status == 404 && nothing.headers["connection"] == "close")
        }
    }

    @Test func `a head request gets no body`() async throws {
        try await RunningAPI.run { api in
            let bytes = try await api.client.exchange(
                Array("HEAD /v1/payments HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8))
            #expect(String(decoding: bytes, as: UTF8.self).hasSuffix("\r\n\r\n"))
            #expect(try RawAnswer(bytes).status == 401)
        }
    }

    @Test func `a listener that is shut down answers what it began`() async throws {
        let operations = ScriptedOperations()
        let gate = TurnStile()
        operations.set { $0.delay = { await gate.pass() } }
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        let api = try RunningAPI.api(operations)
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [api.application(host: "127.0.0.1", port: 0) { announcement.yield($0) }],
                logger: RunningAPI.quiet))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            let running = RunningAPI(
                client: RawClient(port: try #require(await iterator.next())), operations: operations)
            let id = try SamplePayment().payment.id.text
            async let waiting = running.send("POST", "/v1/payments/\(id)/cancel")
            try await poll { !operations.calls.isEmpty }
            await services.triggerGracefulShutdown()
            gate.open()
            #expect(try await waiting.status == 404)
            try await group.waitForAll()
        }
    }

    @Test func `headers that never end are cut off`() async throws {
        var limits = APILimits()
        limits.idleTimeout = .milliseconds(300)
        try await RunningAPI.run(limits: limits) { api in
            let open = try await api.client.exchange(Array("GET /v1/payments HTTP/1.1\r\nHost: x\r\nX".utf8))
            #expect(open.isEmpty)
        }
    }

    @Test func `headers that are too large or too many, and garbage, are refused`() async throws {
        try await RunningAPI.run { api in
            let wide = try await api.send(
                "GET", "/v1/payments", headers: [("X-Wide", String(repeating: "w", count: 20_000))])
            #expect(wide.status == 431)
            let many = try await api.send(
                "GET", "/v1/payments", headers: (0..<100).map { ("X-\($0)", "1") })
            #expect(many.status == 431)
            let hello = Array("hello\r\n\r\n".utf8)
            let garbage = try RawAnswer(await api.client.exchange(hello, endsWriting: true))
            #expect(garbage.status == 400)
            #expect(api.operations.queries.isEmpty)
        }
    }

    @Test func `above the limit of requests at once the answer is 503, and places come back`() async throws {
        var limits = APILimits()
        limits.maximumConcurrentRequests = 1
        try await RunningAPI.run(limits: limits) { api in
            let gate = TurnStile()
            api.operations.set { $0.delay = { await gate.pass() } }
            let id = try SamplePayment().payment.id.text
            async let waiting = api.send("POST", "/v1/payments/\(id)/cancel")
            try await poll { !api.operations.calls.isEmpty }
            let refused = try await api.get("/v1/payments")
            #expect(refused.status == 503)
            #expect(refused.headers["retry-after"] == "1")
            #expect(try refused.string("type") == "/problems/not-accepting")
            gate.open()
            #expect(try await waiting.status == 404)
            #expect(try await api.get("/v1/payments").status == 200)
        }
    }

    @Test func `one caller's waits leave room for another`() async throws {
        var limits = APILimits()
        limits.maximumConcurrentRequests = 4
        try await RunningAPI.run(limits: limits) { api in
            let gate = TurnStile()
            api.operations.set { $0.delay = { await gate.pass() } }
            let id = try SamplePayment().payment.id.text
            async let first = api.send("POST", "/v1/payments/\(id)/cancel", key: "key-1")
            async let second = api.send("POST", "/v1/payments/\(id)/cancel", key: "key-2")
            try await poll { api.operations.calls.count == 2 }
            let refused = try await api.get("/v1/payments")
            #expect(refused.status == 503 && refused.headers["retry-after"] == "1")
            #expect(try refused.string("detail")?.contains("of this caller") == true)
            #expect(try await api.get("/v1/payments", token: RunningAPI.otherToken).status == 200)
            gate.open()
            #expect(try await [first.status, second.status] == [404, 404])
            #expect(try await api.get("/v1/payments").status == 200)
        }
    }

    @Test func `who guesses tokens gets one line of the log, and then sums`() async throws {
        let lines = LogLines()
        var logger = Logger(label: "test", factory: { _ in lines.handler })
        logger.logLevel = .trace
        try await RunningAPI.run(logger: logger) { api in
            for number in 0..<30 {
                let refused = try await api.get("/v1/payments", token: "guess-\(number)")
                #expect(refused.status == 401)
            }
        }
        #expect(lines.all.count { $0.contains("without a valid token") } == 1, "\(lines.all)")
        // The status is not looked for by its digits: the number of a port may hold them.
        #expect(!lines.all.contains { $0.contains("request answered") || $0.contains("guess") }, "\(lines.all)")
    }

    @Test func `one connection serves one request after another, refusals included`() async throws {
        try await RunningAPI.run { api in
            let bad = """
                POST /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningAPI.token)\r\n\
                Content-Length: 2\r\n\r\n{}
                """
            let good = """
                GET /v1/payments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(RunningAPI.token)\r\n\
                Connection: close\r\n\r\n
                """
            let bytes = try await api.client.exchange(Array((bad + good).utf8))
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 400"))
            #expect(text.contains("HTTP/1.1 200"))
        }
    }

    @Test func `a request has a name of chance, and the caller's own is logged beside it`() async throws {
        let lines = LogLines()
        let names = Names()
        try await RunningAPI.run(logger: Logger(label: "test", factory: { _ in lines.handler })) { api in
            for own in ["trace-7.a_B", "two words", String(repeating: "x", count: 65), "4111111111111111"] {
                let answer = try await api.send("GET", "/v1/payments", headers: [("X-Request-Id", own)])
                names.add(try #require(answer.headers["x-request-id"]))
            }
            let open = try await api.send("GET", "/openapi.yaml", headers: [("X-Request-Id", "stranger")], token: nil)
            #expect(open.status == 200)
        }
        #expect(names.all.count == 4)
        #expect(names.all.count { $0.count == 32 && $0.utf8.allSatisfy(isHexadecimal) } == 4, "\(names.all)")
        let answered = lines.all.filter { $0.hasPrefix("request answered") }
        #expect(answered.count == 5)
        #expect(names.all.count { name in answered.contains { $0.contains(name) } } == 4)
        #expect(answered.count { $0.contains("caller_request_id") } == 1)
        #expect(answered.first?.contains("trace-7.a_B") == true)
        #expect(!lines.all.contains { $0.contains("411111") || $0.contains("stranger") })
    }

    /// Names, each once.
    private final class Names: Sendable {
        private let kept = Mutex<Set<String>>([])
        var all: Set<String> { kept.withLock { $0 } }
        func add(_ name: String) { kept.withLock { _ = $0.insert(name) } }
    }

    private func isHexadecimal(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
    }

    @Test func `the log says what was answered, and no token, key, query or body`() async throws {
        let lines = LogLines()
        var logger = Logger(label: "test", factory: { _ in lines.handler })
        logger.logLevel = .trace
        try await RunningAPI.run(logger: logger) { api in
            _ = try await api.create(RunningAPI.twoLegs, key: "secret-key-1")
            _ = try await api.get("/v1/payments?reference=secret-reference")
            _ = try await api.get("/nowhere/secret-path")
        }
        let all = lines.all
        let answered = all.filter { $0.hasPrefix("request answered") }
        #expect(answered.count == 3)
        #expect(
            answered.contains { $0.contains("/v1/payments") && $0.contains("shop") && $0.contains("404") })
        for secret in ["secret", RunningAPI.token, "tok_9f3c", "order-2026", "c-5512"] {
            #expect(!all.contains { $0.contains(secret) }, "\(secret)")
        }
    }
}
