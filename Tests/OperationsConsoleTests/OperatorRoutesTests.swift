import HTTPEdge
import Reconciler
import Synchronization
import Testing

@testable import OperationsConsole

/// The routes on comparisons as the listener sees them: who may, what is taken, and what reaches the operation.
struct OperatorRoutesTests {
    private static let routes: [(method: String, target: String, operation: OperatorComparisons.Operation)] = [
        ("GET", "/v1/reconciliations", .listRuns), ("POST", "/v1/reconciliations", .planRun),
        ("GET", "/v1/reconciliations/r", .readRun), ("GET", "/v1/reconciliations/r/findings", .listFindings),
        ("POST", "/v1/reconciliations/r/abandon", .abandonRun), ("GET", "/v1/discrepancies", .listDiscrepancies),
        ("GET", "/v1/discrepancies/r", .readDiscrepancy), ("POST", "/v1/discrepancies/r/assignment", .assign),
        ("POST", "/v1/discrepancies/r/comments", .comment), ("POST", "/v1/discrepancies/r/close", .close),
    ]

    /// What was asked, answered with 202 and a place.
    private final class Echo: Sendable {
        let asked = Mutex<[(operation: OperatorComparisons.Operation, request: OperatorRequest)]>([])

        var comparisons: OperatorComparisons {
            OperatorComparisons { operation, request in
                self.asked.withLock { $0.append((operation, request)) }
                return OperatorAnswer(
                    status: 202, contentType: "application/json", location: "/there", body: Array("{}".utf8))
            }
        }
    }

    @Test func `each operation is reached under its route, with the person, the query and the body`() async throws {
        #expect(Self.routes.count == OperatorComparisons.Operation.allCases.count)
        let echo = Echo()
        try await RunningAdmin.run(comparisons: echo.comparisons) { admin in
            for (method, target, operation) in Self.routes {
                let body = operation.takesBody ? #"{"a":1}"# : nil
                let answer = try await admin.send(method, "\(target)?q=1", token: RunningAdmin.token, body: body)
                #expect(answer.status == 202 && answer.headers["location"] == "/there", "\(target)")
                let asked = echo.asked.withLock { $0.removeLast() }
                #expect(asked.operation == operation)
                let id = target.contains("/r") && target != "/v1/reconciliations" ? "r" : ""
                #expect(
                    asked.request
                        == OperatorRequest(person: "hana", id: id, query: "q=1", body: Array((body ?? "").utf8)))
            }
        }
    }

    @Test func `an answer that says when to come again says so in its header`() async throws {
        let comparisons = OperatorComparisons { _, request in
            OperatorAnswer(
                status: 503, contentType: "application/problem+json", retryAfter: request.query.flatMap { Int($0) },
                body: Array("{}".utf8))
        }
        try await RunningAdmin.run(comparisons: comparisons) { admin in
            for (query, wanted) in [("?7", "7"), ("", nil)] {
                let answer = try await admin.send("GET", "/v1/discrepancies\(query)", token: RunningAdmin.token)
                #expect(answer.status == 503 && answer.headers["retry-after"] == wanted)
            }
        }
    }

    @Test func `without an operator's token nothing is read, asked or told`() async throws {
        let echo = Echo()
        var limits = AdminLimits()
        limits.maximumBodyBytes = 10
        try await RunningAdmin.run(comparisons: echo.comparisons, limits: limits) { admin in
            for (method, target, operation) in Self.routes {
                for token in [nil, "wrong"] {
                    // Were the body looked at first, it would be 413.
                    let body = operation.takesBody ? String(repeating: "x", count: 50) : nil
                    let answer = try await admin.send(method, target, token: token, body: body)
                    #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer", "\(target)")
                }
            }
            #expect(echo.asked.withLock { $0.isEmpty })
        }
    }

    @Test func `bodies are JSON and bounded, and taken only where one is meant`() async throws {
        let echo = Echo()
        var limits = AdminLimits()
        limits.maximumBodyBytes = 10
        try await RunningAdmin.run(comparisons: echo.comparisons, limits: limits) { admin in
            let cases: [(target: String, body: String, type: String?, status: Int)] = [
                ("/v1/reconciliations", "0123456789", "application/json", 202),
                ("/v1/reconciliations", "0123456789", "Application/JSON; charset=UTF-8", 202),
                ("/v1/reconciliations", "0123456789x", "application/json", 413),
                ("/v1/reconciliations", "{}", "text/plain", 415),
                ("/v1/reconciliations", "{}", "application/json; charset=latin1", 415),
                ("/v1/reconciliations/r/abandon", "{}", "application/json", 400),
            ]
            for (target, body, type, status) in cases {
                let answer = try await admin.send(
                    "POST", target, token: RunningAdmin.token, body: body, contentType: type)
                #expect(answer.status == status, "\(target) \(type ?? "-"): \(answer.text)")
                if status >= 400 { #expect(answer.headers["content-type"] == "application/problem+json") }
            }
            #expect(echo.asked.withLock { $0.count } == 2)
        }
    }

    @Test func `a body that does not arrive is not waited for without end`() async throws {
        var limits = AdminLimits()
        limits.bodyDeadline = .milliseconds(200)
        let echo = Echo()
        try await RunningAdmin.run(comparisons: echo.comparisons, limits: limits) { admin in
            let answer = try await RawExchange.send(
                """
                POST /v1/reconciliations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(RunningAdmin.token)\r\n\
                Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":
                """, port: admin.port)
            #expect(answer.hasPrefix("HTTP/1.1 400"), "\(answer)")
            #expect(answer.contains("did not arrive in time"))
            #expect(echo.asked.withLock { $0.isEmpty })
        }
    }

    @Test func `a body that is not read ends the connection, and the answer says so`() async throws {
        try await RunningAdmin.run(comparisons: Echo().comparisons) { admin in
            let answer = try await RawExchange.send(
                """
                POST /v1/reconciliations HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n\
                Content-Type: application/json\r\nContent-Length: 20\r\n\r\n{"a":
                """, port: admin.port)
            #expect(answer.hasPrefix("HTTP/1.1 401"), "\(answer)")
            #expect(answer.lowercased().contains("connection: close"), "\(answer)")
        }
    }

    @Test func `without comparisons their routes are not there`() async throws {
        try await RunningAdmin.run { admin in
            for (method, target, _) in Self.routes {
                let answer = try await admin.send(method, target, token: RunningAdmin.token)
                #expect(answer.status == 404, "\(target)")
            }
        }
    }

    @Test func `other methods are 405 with those that are taken`() async throws {
        try await RunningAdmin.run(comparisons: Echo().comparisons) { admin in
            for (method, target, allowed) in [
                ("PUT", "/v1/reconciliations", "GET, HEAD, POST"), ("GET", "/v1/discrepancies/d/close", "POST"),
                ("POST", "/v1/discrepancies/d", "GET, HEAD"), ("DELETE", "/openapi.yaml", "GET, HEAD"),
            ] {
                let answer = try await admin.send(method, target, token: RunningAdmin.token)
                #expect(answer.status == 405 && answer.headers["allow"] == allowed, "\(method) \(target)")
            }
        }
    }

    @Test func `the descriptions are served to everybody`() async throws {
        try await RunningAdmin.run { admin in
            for (target, text) in [("/openapi.yaml", "ops"), ("/payments.yaml", "pay")] {
                let answer = try await admin.get(target)
                #expect(answer.status == 200 && answer.text == text)
                #expect(answer.headers["content-type"] == "application/yaml")
            }
        }
    }
}
