import Foundation
import HTTPEdge
import Hummingbird
import Logging
import PaymentCore
import Reconciler
import Synchronization

@testable import OperationsConsole

/// The console on a free port, over answers that a test chooses.
struct ConsoleStage: Sendable {
    /// What came back: a page, or where to go.
    struct Reply: Sendable {
        let status: Int
        let head: String
        let body: String

        func header(_ name: String) -> String? {
            let prefix = "\(name.lowercased()): "
            let line = head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
            return line.map { String($0.dropFirst(prefix.count)) }
        }

        /// The session that a cookie names.
        var session: String? {
            guard let cookie = header("set-cookie")?.split(separator: ";").first else { return nil }
            return cookie.split(separator: "=", maxSplits: 1).last.map(String.init)
        }

        /// What the forms of the page carry.
        var formToken: String? {
            body.firstMatch(of: /name="form_token" value="([^"]+)"/).map { String($0.output.1) }
        }
    }

    /// What reached the operations.
    final class Asked: Sendable {
        private let kept = Mutex<[(route: String, request: OperatorRequest)]>([])

        func add(_ route: String, _ request: OperatorRequest) { kept.withLock { $0.append((route, request)) } }
        var all: [(route: String, request: OperatorRequest)] { kept.withLock { $0 } }
    }

    static let tokens = ["hana": "hana-token-0001", "ken": "ken-token-0001", "vera": "vera-token-0001"]
    private static let roles = ["hana": OperatorRole.operator, "ken": .approver, "vera": .viewer]

    let port: Int
    let asked: Asked
    let operators: OperatorDirectory

    /// People by their tokens.
    static func directory(_ names: [String] = ["hana", "ken", "vera"]) throws -> OperatorDirectory {
        try OperatorDirectory(
            names.map { name in
                let digest = TokenDirectory<Operator>.digest(tokens[name] ?? "")
                let hex = digest.map { String(format: "%02x", $0) }.joined()
                guard let digest = Digest(hex: hex) else { throw RunningAdmin.Failure(description: "no digest") }
                return (person: Operator(name, roles[name] ?? .viewer), tokenDigest: digest)
            })
    }

    /// Serves the console.
    ///
    /// - Parameters:
    ///   - payment: the document of every payment.
    ///   - repair: the answer to everything that is asked of repairs.
    ///   - reading: the answer to whoever reads one repair; `repair` without it.
    ///   - discrepancy: the document of every discrepancy; no comparisons without it.
    ///   - webhook: the answer to whoever reads a webhook; no webhooks without it.
    ///   - list: the answer to every listing of payments; a page with the payment without it.
    static func run(
        payment: String = #"{"id":"pay_1"}"#, explanation: String = "{}",
        repair: OperatorAnswer = answer(201, #"{"id":"rep_1"}"#), reading: OperatorAnswer? = nil,
        discrepancy: String? = nil, webhook: OperatorAnswer? = nil, list: OperatorAnswer? = nil,
        logger: Logger = RunningAdmin.quiet,
        _ body: @Sendable (ConsoleStage) async throws -> Void
    ) async throws {
        let asked = Asked()
        let reads = OperatorReads(
            list: { query in
                asked.add("list", OperatorRequest(person: "-", query: query))
                return list ?? answer(200, #"{"data":[\#(payment)],"next_cursor":null}"#)
            }, payment: { _ in answer(200, payment) }, events: { _, _ in answer(200, #"{"data":[]}"#) },
            explanation: { _ in answer(200, explanation) })
        let repairs = OperatorRepairs { operation, request in
            asked.add("\(operation)", request)
            if let reading, operation == .read { return reading }
            return repair
        }
        let comparisons = discrepancy.map { discrepancy in
            OperatorComparisons { _, _ in answer(200, discrepancy) }
        }
        let webhooks = webhook.map { webhook in OperatorWebhooks { _, _ in webhook } }
        let operators = try directory()
        let history = ConsoleHistory(reads: reads, metrics: MetricsRegistry(), providers: ["card"]) {
            Timestamp(milliseconds: 1_800_000_000_000)
        }
        let admin = AdminAPI(
            progress: ProgressMonitor(), checks: ProbeChecks(readiness: [], startup: [], activity: []),
            metrics: MetricsRegistry(), operators: operators, reads: reads, comparisons: comparisons, repairs: repairs,
            webhooks: webhooks, console: ConsoleContent(history: history, drills: DrillReports(directory: nil)),
            logger: logger)
        try await RunningAdmin.serve(admin) { port in
            try await body(ConsoleStage(port: port, asked: asked, operators: operators))
        }
    }

    static func answer(_ status: Int, _ text: String) -> OperatorAnswer {
        OperatorAnswer(
            status: status, contentType: status < 400 ? "application/json" : "application/problem+json",
            body: Array(text.utf8))
    }

    /// One request on a connection of its own. Redirections are answers, and not followed.
    func send(
        _ method: String, _ target: String, session: String? = nil, form: String? = nil, headers: [String] = []
    ) async throws -> Reply {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + headers
        if let session { lines.append("Cookie: a=b; reconciled_session=\(session)") }
        if let form {
            if !headers.contains(where: { $0.hasPrefix("Content-Type") }) {
                lines.append("Content-Type: application/x-www-form-urlencoded")
            }
            lines.append("Content-Length: \(form.utf8.count)")
        }
        let text = try await RawExchange.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + (form ?? ""), port: port)
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return Reply(
            status: status, head: String(parts.first ?? ""), body: String(parts.dropFirst().first ?? ""))
    }

    /// Signs a person in; the session, and what its forms carry.
    func signIn(_ name: String) async throws -> (session: String, formToken: String) {
        let token = ConsoleStage.tokens[name] ?? ""
        let reply = try await send("POST", "/console/sign-in", form: "token=\(token)&next=")
        guard reply.status == 303, let session = reply.session else {
            throw RunningAdmin.Failure(description: "not signed in: \(reply)")
        }
        guard let formToken = try await send("GET", "/console/drills", session: session).formToken else {
            throw RunningAdmin.Failure(description: "no form")
        }
        return (session, formToken)
    }
}
