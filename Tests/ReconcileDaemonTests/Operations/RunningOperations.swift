import APIDescription
import Foundation
import FoundationNetworking
import Hummingbird
import Logging
import OperationsConsole
import PaymentAPI
import PaymentCore
import Reconciler
import Synchronization

@testable import ReconcileDaemon

/// The operations API as the daemon wires it, on a free port of this machine.
struct RunningOperations: Sendable {
    struct Failure: Error {
        let description: String
    }

    /// What came back.
    struct Reply: Sendable {
        var status: Int
        var headers: [String: String]
        var text: String

        func json() throws -> JSONText { try JSONText(text) }
        var described: DescribedAPI.Reply { DescribedAPI.Reply(status: status, headers: headers, text: text) }
        /// The text of a member of the document.
        subscript(member: String) -> String? {
            get throws { try json()[member]?.string }
        }
    }

    /// The people who may use it, by their tokens.
    static let tokens = ["hana": "hana-token-0001", "ken": "ken-token-0001", "vera": "vera-token-0001"]
    private static let roles = ["ken": OperatorRole.approver, "vera": .viewer]
    private static let digests = [
        "hana": "12c82e344cb325a983e0665880d7f1dc580c86683821a0b932abd5653b95f96f",
        "ken": "77a418be4590033c3f1981c6330418f9497a9141ab7569ba72ec2e948f3963b9",
        "vera": "139413d1dc2e51ade687a9ac8bf8b29b88ec880f8217315856739d2e19a5b194",
    ]

    let port: Int

    /// Serves a book, and stops when the body is done.
    static func run(
        _ book: OperationsBook, isEnabled: Bool = true, check: HealthCheck? = nil, needsSecondPerson: Bool = false,
        _ body: @Sendable (RunningOperations) async throws -> Void
    ) async throws {
        let admin = try api(book, isEnabled: isEnabled, check: check, needsSecondPerson: needsSecondPerson)
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
            try await body(RunningOperations(port: port))
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    private static func api(
        _ book: OperationsBook, isEnabled: Bool, check: HealthCheck?, needsSecondPerson: Bool
    ) throws -> AdminAPI {
        var quiet = Logger(label: "test")
        quiet.logLevel = .critical
        let reader = PaymentReader(store: book.store)
        let checks = check.map { [$0] } ?? []
        // Where a check is given, a loop is silent as well: the clock jumps once it was watched.
        let begin = ContinuousClock.now
        let isWatched = Mutex(false)
        let progress = ProgressMonitor(now: { begin + .seconds(isWatched.withLock { $0 } ? 60 : 0) })
        if check != nil { _ = progress.watch("loop", maximumSilence: .seconds(1)) }
        isWatched.withLock { $0 = true }
        let directory = try digests.map { name, hex in
            guard let digest = Digest(hex: hex) else { throw Failure(description: "no digest") }
            return (person: Operator(name, roles[name] ?? .operator), tokenDigest: digest)
        }
        return AdminAPI(
            progress: progress, checks: ProbeChecks(readiness: checks, startup: checks, activity: checks),
            metrics: MetricsRegistry(), operators: try OperatorDirectory(directory),
            reads: OperatorReads(
                list: { await reader.list(query: $0) }, payment: { await reader.payment($0) },
                events: { await reader.events(of: $0, query: $1) },
                explanation: { await reader.explanation(of: $0) }),
            comparisons: OperatorComparisons(desk: try book.desk(isEnabled: isEnabled)),
            site: OperatorSite(desk: siteDesk(book, needsSecondPerson), drainLimit: .zero),
            repairs: OperatorRepairs(desk: RepairDesk(store: book.store, context: book.context)),
            webhooks: OperatorWebhooks(store: book.store, document: WebhookRendering.forOperators),
            descriptions: .shipped, logger: quiet)
    }

    private static func siteDesk(_ book: OperationsBook, _ needsSecondPerson: Bool) -> SiteDesk {
        SiteDesk(
            store: book.store, witness: nil, clock: SystemClock(),
            settings: SiteDesk.Settings(
                site: .main, lease: .seconds(10), skew: .seconds(1), needsSecondPerson: needsSecondPerson))
    }

    func send(
        _ method: String, _ target: String, _ body: String? = nil, as person: String? = "hana",
        contentType: String = "application/json", approval: String? = nil
    ) async throws -> Reply {
        guard let url = URL(string: "http://127.0.0.1:\(port)\(target)") else {
            throw Failure(description: "no URL: \(target)")
        }
        var request = URLRequest(url: url)
        request.httpMethod = method
        request.timeoutInterval = 20
        if let body {
            request.httpBody = Data(body.utf8)
            request.setValue(contentType, forHTTPHeaderField: "Content-Type")
        }
        if let token = person.flatMap({ RunningOperations.tokens[$0] }) {
            request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization")
        }
        if let approval { request.setValue("Bearer \(approval)", forHTTPHeaderField: "Approval") }
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        let (data, response) = try await session.data(for: request)
        guard let http = response as? HTTPURLResponse else { throw Failure(description: "no HTTP") }
        var headers: [String: String] = [:]
        for (name, value) in http.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
        return Reply(
            status: http.statusCode, headers: headers, text: String(decoding: data, as: UTF8.self))
    }

    func get(_ target: String) async throws -> Reply { try await send("GET", target) }

    func post(_ target: String, _ body: String, as person: String = "hana") async throws -> Reply {
        try await send("POST", target, body, as: person)
    }
}
