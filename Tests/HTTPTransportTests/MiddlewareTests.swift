import Logging
import Metrics
import MetricsTestKit
import Testing

@testable import HTTPTransport

private let request = HTTPRequest(
    method: .post, url: "https://api.example:8443/v1/secret-path?key=hidden",
    fields: HTTPFields([("Authorization", "Bearer top-secret")]), body: Array("card".utf8),
    label: "authorize",
    flightKey: "k1")

@Suite struct `The middleware stack` {
    private struct Mark: Middleware {
        let name: String

        func send(_ request: HTTPRequest, next: any HTTPSender) async throws(TransportFailure) -> HTTPResponse {
            var marked = request
            marked.fields.append("Mark", name)
            var response = try await next.send(marked)
            response.fields.append("Mark", name)
            return response
        }
    }

    @Test func `the first middleware is the outermost`() async throws {
        let wire = ScriptedSender([ScriptedSender.answer(200)])
        let stack = MiddlewareStack([Mark(name: "a"), Mark(name: "b")], sender: wire)
        let response = try await stack.send(request)
        #expect(wire.requests.first?.fields.values(of: "mark") == ["a", "b"])
        #expect(response.fields.values(of: "mark") == ["b", "a"])
    }

    @Test func `an ended script fails without having sent`() async throws {
        let failed = try await failure(ScriptedSender(), request)
        #expect(failed.provablyNotSent)
    }
}

@Suite struct `The request log` {
    private final class Lines: Sendable {
        let all = Guarded<[String]>([])
        var text: String { all.withLock { $0.joined(separator: "\n") } }
    }

    private struct Recorder: LogHandler {
        let lines: Lines
        var metadata = Logger.Metadata()
        var logLevel = Logger.Level.trace
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).map { "\($0)=\($1)" }.sorted().joined(separator: " ")
            lines.all.withLock { $0.append("\(event.level) \(event.message) \(fields)") }
        }
    }

    @Test func `it tells the outcome and no secret`() async throws {
        let lines = Lines()
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        let wire = ScriptedSender([
            ScriptedSender.answer(201, body: "confidential"),
            ScriptedSender.fail(.firstByteTimeout, .sent, bytesWritten: 17),
        ])
        let stack = MiddlewareStack([RequestLog(logger: logger)], sender: wire)
        _ = try await stack.send(request)
        _ = try await failure(stack, request)
        let text = lines.text
        for expected in [
            "debug provider request answered", "host=api.example:8443", "label=authorize", "method=POST",
            "status=201", "warning provider request failed", "failure=firstByteTimeout", "phase=sent",
            "bytes_written=17", "duration_ms=",
        ] {
            #expect(text.contains(expected), "\(expected)")
        }
        for secret in ["secret", "hidden", "card", "confidential", "Bearer"] {
            #expect(!text.contains(secret))
        }
    }

    /// What is logged of an answer.
    private func line(_ status: Int, _ fields: [(String, String)]) async throws -> String {
        let lines = Lines()
        let wire = ScriptedSender(
            [], otherwise: { _ throws(TransportFailure) in HTTPResponse(status: status, fields: HTTPFields(fields)) })
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        let stack = MiddlewareStack([RequestLog(logger: logger)], sender: wire)
        _ = try await stack.send(request)
        return lines.text
    }

    @Test func `the provider's name of a request is logged, and an error where nobody asked for details`() async throws
    {
        #expect(try await line(200, [("Request-Id", "req_4x7")]).contains("provider_request_id=req_4x7"))
        #expect(try await line(402, [("pspReference", "M01AB-9")]).contains("provider_request_id=M01AB-9"))
        #expect(try await line(399, []).contains("debug provider request answered"))
        #expect(try await line(400, []).contains("info provider request answered"))
    }

    @Test(arguments: ["", "a b", "4111111111111111", "4111-1111-1111-1111", "x=1", String(repeating: "a", count: 65)])
    func `what may be something else than a name is not logged`(text: String) async throws {
        #expect(try await !line(500, [("Request-Id", text)]).contains("provider_request_id"))
    }
}

@Suite struct `The request metrics` {
    @Test func `each outcome is counted and timed under its own dimensions`() async throws {
        let metrics = TestMetrics()
        let wire = ScriptedSender(
            [ScriptedSender.fail(.connectionRefused, .connecting)], otherwise: ScriptedSender.answer(204))
        let stack = MiddlewareStack([RequestMetrics(provider: "points", factory: metrics)], sender: wire)
        _ = try await failure(stack, request)
        _ = try await stack.send(request)
        _ = try await stack.send(request)
        for (outcome, expected) in [("connectionRefused", Int64(1)), ("2xx", 2)] {
            let dimensions = [("provider", "points"), ("label", "authorize"), ("outcome", outcome)]
            let counter = try metrics.expectCounter("http_client_requests_total", dimensions)
            #expect(counter.totalValue == expected)
            let timer = try metrics.expectTimer("http_client_request_duration_seconds", dimensions)
            #expect(timer.values.count == Int(expected))
        }
    }
}

@Suite struct `The trace header` {
    private let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    @Test func `the task's trace goes on with a new step`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([TraceHeader()], sender: wire)
        let context = try #require(TraceContext(traceparent: parent))
        _ = try await TraceContext.$current.withValue(context) { try await stack.send(request) }
        let header = try #require(wire.requests.first?.fields["traceparent"])
        let sent = try #require(TraceContext(traceparent: header))
        #expect(sent.traceID == context.traceID)
        #expect(sent.spanID != context.spanID)
        #expect(sent.sampled)
    }

    @Test func `without a trace a new one begins, and a header that is there stays`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([TraceHeader()], sender: wire)
        _ = try await stack.send(request)
        _ = try await stack.send(request)
        var traced = request
        traced.fields["Traceparent"] = parent
        _ = try await stack.send(traced)
        let headers = wire.requests.compactMap { $0.fields["traceparent"] }
        #expect(headers.count == 3)
        #expect(headers.allSatisfy { TraceContext(traceparent: $0) != nil })
        #expect(Set(headers).count == 3)
        #expect(headers.last == parent)
    }

    @Test(arguments: [
        "", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x",
    ])
    func `what is not a traceparent is not read`(text: String) {
        #expect(TraceContext(traceparent: text) == nil)
    }

    @Test func `a traceparent is written as it was read`() {
        #expect(TraceContext(traceparent: parent)?.traceparent == parent)
        #expect(TraceContext(traceparent: "01" + parent.dropFirst(2) + "-later")?.sampled == true)
    }
}

@Suite struct `The deadline` {
    @Test func `limits and start time shrink to it`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([DeadlineLimit()], sender: wire)
        let deadline = ContinuousClock.now + .seconds(1)
        _ = try await RequestDeadline.$current.withValue(deadline) { try await stack.send(request) }
        let limited = try #require(wire.requests.first)
        #expect(limited.startBefore == deadline)
        #expect(limited.limits.total <= .seconds(1))
        #expect(limited.limits.firstByte <= .seconds(1))
        #expect(limited.limits.connect <= .seconds(1))
        #expect(limited.limits.isValid)
    }

    @Test func `an earlier start time and shorter limits stay, and without a deadline all do`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        var hurried = request
        hurried.startBefore = .now + .seconds(1)
        _ = try await MiddlewareStack([DeadlineLimit(deadline: .now + .seconds(60))], sender: wire).send(
            hurried)
        _ = try await MiddlewareStack([DeadlineLimit()], sender: wire).send(hurried)
        for sent in wire.requests {
            #expect(sent.startBefore == hurried.startBefore)
            #expect(sent.limits == hurried.limits)
        }
    }

    @Test func `nothing is sent after it`() async throws {
        let wire = ScriptedSender()
        let stack = MiddlewareStack([DeadlineLimit(deadline: .now - .seconds(1))], sender: wire)
        let failed = try await failure(stack, request)
        #expect(failed.code == .expiredBeforeSend)
        #expect(failed.provablyNotSent)
        #expect(wire.requests.isEmpty)
    }
}

@Suite struct `Single flight` {
    @Test func `a second request under a key is refused until the first is done`() async throws {
        let gate = Gate()
        let wire = ScriptedSender(
            [],
            otherwise: { _ throws(TransportFailure) in
                await gate.pass()
                return HTTPResponse(status: 200)
            })
        let stack = MiddlewareStack([SingleFlight()], sender: wire)
        async let first = stack.send(request)
        #expect(try await eventually { wire.requests.count == 1 })
        let failed = try await failure(stack, request)
        #expect(failed.code == .duplicateInFlight)
        #expect(failed.provablyNotSent)
        var other = request
        other.flightKey = "k2"
        async let second = stack.send(other)
        var keyless = request
        keyless.flightKey = nil
        async let third = stack.send(keyless)
        #expect(try await eventually { wire.requests.count == 3 })
        gate.open()
        let statuses = try await [first.status, second.status, third.status]
        #expect(statuses.allSatisfy { $0 == 200 })
        let again = try await stack.send(request)
        #expect(again.status == 200)
    }

    @Test func `a failure frees the key`() async throws {
        let wire = ScriptedSender(
            [ScriptedSender.fail(.connectionReset, .sent, bytesWritten: 1)],
            otherwise: ScriptedSender.answer(200))
        let stack = MiddlewareStack([SingleFlight()], sender: wire)
        _ = try await failure(stack, request)
        let again = try await stack.send(request)
        #expect(again.status == 200)
    }
}
