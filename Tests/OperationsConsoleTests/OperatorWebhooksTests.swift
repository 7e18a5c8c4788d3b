import HTTPEdge
import Reconciler
import Synchronization
import Testing

@testable import OperationsConsole

/// The routes on webhooks as the listener sees them.
@Suite struct OperatorWebhooksTests {
    private static let routes: [(method: String, target: String, operation: OperatorWebhooks.Operation)] = [
        ("GET", "/v1/webhooks", .list), ("POST", "/v1/webhooks/redeliver", .redeliverGivenUp),
        ("GET", "/v1/webhooks/p", .read), ("POST", "/v1/webhooks/p/redeliver", .redeliver),
    ]

    /// What was asked, answered with 202.
    private final class Echo: Sendable {
        let asked = Mutex<[(operation: OperatorWebhooks.Operation, request: OperatorRequest)]>([])

        var webhooks: OperatorWebhooks {
            OperatorWebhooks { operation, request in
                self.asked.withLock { $0.append((operation, request)) }
                return OperatorAnswer(status: 202, contentType: "application/json", body: Array("{}".utf8))
            }
        }
    }

    @Test func `each operation is reached under its route, with the person, the query and the body`() async throws {
        #expect(Self.routes.count == OperatorWebhooks.Operation.allCases.count)
        let echo = Echo()
        try await RunningAdmin.run(webhooks: echo.webhooks) { admin in
            for (method, target, operation) in Self.routes {
                let body = operation.takesBody ? #"{"a":1}"# : nil
                let answer = try await admin.send(method, "\(target)?q=1", token: RunningAdmin.token, body: body)
                #expect(answer.status == 202, "\(target)")
                let asked = echo.asked.withLock { $0.removeLast() }
                #expect(asked.operation == operation)
                let id = target.hasPrefix("/v1/webhooks/p") ? "p" : ""
                #expect(
                    asked.request
                        == OperatorRequest(person: "hana", id: id, query: "q=1", body: Array((body ?? "").utf8)))
            }
        }
    }

    @Test func `without an operator's token nothing is read, and nothing is delivered again`() async throws {
        let echo = Echo()
        try await RunningAdmin.run(webhooks: echo.webhooks) { admin in
            for (method, target, operation) in Self.routes {
                for token in [nil, "wrong"] {
                    let answer = try await admin.send(
                        method, target, token: token, body: operation.takesBody ? "{}" : nil)
                    #expect(answer.status == 401 && answer.headers["www-authenticate"] == "Bearer", "\(target)")
                }
            }
            #expect(echo.asked.withLock { $0.isEmpty })
        }
    }

    @Test func `other methods are 405 with those that are taken, and other paths are 404`() async throws {
        try await RunningAdmin.run(webhooks: Echo().webhooks) { admin in
            for (method, target, allowed) in [
                ("POST", "/v1/webhooks", "GET, HEAD"), ("GET", "/v1/webhooks/redeliver", "POST"),
                ("POST", "/v1/webhooks/p", "GET, HEAD"), ("GET", "/v1/webhooks/p/redeliver", "POST"),
            ] {
                let answer = try await admin.send(method, target, token: RunningAdmin.token)
                #expect(answer.status == 405 && answer.headers["allow"] == allowed, "\(method) \(target)")
            }
            for target in ["/v1/webhooks/", "/v1/webhooks/p/deliver", "/v1/webhooks/p/redeliver/x"] {
                #expect(try await admin.get(target, token: RunningAdmin.token).status == 404, "\(target)")
            }
        }
    }

    @Test func `without webhooks their routes are not there`() async throws {
        try await RunningAdmin.run { admin in
            for (method, target, _) in Self.routes {
                let answer = try await admin.send(method, target, token: RunningAdmin.token)
                #expect(answer.status == 404, "\(target)")
            }
        }
    }
}
