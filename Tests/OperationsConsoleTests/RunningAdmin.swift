import Foundation
import FoundationNetworking
import HTTPEdge
import Hummingbird
import Logging
import OperationsConsole
import PaymentCore
import Reconciler

/// The operations API on a free port of this machine.
struct RunningAdmin: Sendable {
    struct Failure: Error {
        let description: String
    }

    static let token = "hana-token-0001"
    let port: Int

    static func run(
        progress: ProgressMonitor = ProgressMonitor(), readiness: [HealthCheck] = [],
        startup: [HealthCheck] = [], activity: [HealthCheck] = [],
        metrics: MetricsRegistry = MetricsRegistry(), comparisons: OperatorComparisons? = nil,
        webhooks: OperatorWebhooks? = nil, limits: AdminLimits = AdminLimits(),
        _ body: @Sendable (RunningAdmin) async throws -> Void
    ) async throws {
        let admin = try admin(
            progress: progress, readiness: readiness, startup: startup, activity: activity, metrics: metrics,
            comparisons: comparisons, webhooks: webhooks, limits: limits)
        try await serve(admin) { try await body(RunningAdmin(port: $0)) }
    }

    /// Serves on a free port while a body runs, and stops afterwards.
    static func serve(_ admin: AdminAPI, _ body: @Sendable (Int) async throws -> Void) async throws {
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announcement.finish() }
                do {
                    try await admin.application(host: "127.0.0.1", port: 0) { announcement.yield($0) }.run()
                } catch {
                    guard Task.isCancelled else { throw error }
                }
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await group.next()
                throw Failure(description: "the listener did not start")
            }
            try await body(port)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    static let quiet: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    static func admin(
        progress: ProgressMonitor = ProgressMonitor(), readiness: [HealthCheck] = [],
        startup: [HealthCheck] = [], activity: [HealthCheck] = [],
        metrics: MetricsRegistry = MetricsRegistry(), comparisons: OperatorComparisons? = nil,
        webhooks: OperatorWebhooks? = nil, limits: AdminLimits = AdminLimits()
    ) throws -> AdminAPI {
        AdminAPI(
            progress: progress,
            checks: ProbeChecks(readiness: readiness, startup: startup, activity: activity), metrics: metrics,
            operators: try operators(), reads: reads, comparisons: comparisons, webhooks: webhooks,
            descriptions: OperationsDescriptions(operations: Array("ops".utf8), payments: Array("pay".utf8)),
            limits: limits, logger: quiet)
    }

    /// The SHA-256 digest of the token, as `sha256sum` prints it.
    private static func operators() throws -> OperatorDirectory {
        guard let digest = Digest(hex: tokenDigest) else { throw Failure(description: "no digest") }
        return try OperatorDirectory([(Operator("hana", .operator), digest)])
    }

    private static let tokenDigest = "12c82e344cb325a983e0665880d7f1dc580c86683821a0b932abd5653b95f96f"

    /// Reads that answer with what they were asked.
    private static let reads = OperatorReads(
        list: { query in answer(200, "list \(query ?? "-")") },
        payment: { id in answer(id == "missing" ? 404 : 200, "payment \(id)") },
        events: { id, query in answer(200, "events \(id) \(query ?? "-")") },
        explanation: { id in answer(200, "explanation \(id)") })

    private static func answer(_ status: Int, _ text: String) -> OperatorAnswer {
        OperatorAnswer(status: status, contentType: "application/json", location: nil, body: Array(text.utf8))
    }

    func send(
        _ method: String, _ target: String, token: String? = nil, body: String? = nil,
        contentType: String? = "application/json"
    ) async throws -> (status: Int, headers: [String: String], text: String) {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else {
            throw Failure(description: "no URL")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = 20
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue(contentType ?? "", forHTTPHeaderField: "Content-Type")
        }
        if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { throw Failure(description: "no HTTP") }
        var headers: [String: String] = [:]
        for (name, value) in http.allHeaderFields {
            headers["\(name)".lowercased()] = "\(value)"
        }
        return (http.statusCode, headers, String(decoding: data, as: UTF8.self))
    }

    func get(
        _ target: String, token: String? = nil
    ) async throws -> (status: Int, headers: [String: String], text: String) {
        try await send("GET", target, token: token)
    }
}
