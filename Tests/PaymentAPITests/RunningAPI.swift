import Foundation
import Hummingbird
import Logging
import PaymentAPI
import PaymentCore
import Reconciler

/// A clock that stands still.
struct StillClock: WallClock {
    var moment = SamplePayment.now

    func now() -> Timestamp { moment }
    func sleep(until moment: Timestamp) async throws {}
}

/// The API on a free port of this machine, over scripted operations.
struct RunningAPI: Sendable {
    static let description = Array("openapi: 3.1.0\n".utf8)
    static let token = "shop-token-0001"
    static let otherToken = "kiosk-token-0001"

    let client: RawClient
    let operations: ScriptedOperations

    /// Runs `body` against a listener of its own.
    static func run(
        limits: APILimits = APILimits(), rates: [String: CallerRate] = [:], logger: Logger? = nil,
        notifications: (@Sendable (ScriptedOperations) -> ProviderNotifications)? = nil,
        _ body: @Sendable (RunningAPI) async throws -> Void
    ) async throws {
        let operations = ScriptedOperations()
        let api = try api(
            operations, limits: limits, rates: rates, notifications: notifications?(operations),
            logger: logger ?? quiet)
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announcement.finish() }
                do {
                    try await api.application(host: "127.0.0.1", port: 0) { announcement.yield($0) }.run()
                } catch {
                    guard Task.isCancelled else { throw error }
                }
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await group.next()
                throw RawClient.Failure(description: "the listener did not start")
            }
            try await body(RunningAPI(client: RawClient(port: port), operations: operations))
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    static let quiet: Logger = {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }()

    /// What the site says of itself.
    private static let word: SiteWord = {
        do {
            return SiteWord(
                site: try SiteName("east"), store: StoreID(text: "sto_" + String(repeating: "a", count: 32)),
                activeSite: try SiteName("west"), epoch: 7)
        } catch {
            fatalError("a name is none: \(error)")
        }
    }()

    /// An API whose points must be multiples of ten.
    static func api(
        _ operations: ScriptedOperations, limits: APILimits = APILimits(), rates: [String: CallerRate] = [:],
        notifications: ProviderNotifications? = nil, logger: Logger = quiet
    ) throws -> CallerAPI {
        CallerAPI(
            operations: operations, webhook: operations.webhook, callers: try callers(rates),
            contracts: Sample.contracts,
            amountCheck: { provider, amount in
                provider.name == "points" && amount.value % 10 != 0 ? "Must be a multiple of 10." : nil
            },
            limits: limits, notifications: notifications, description: description, site: { word }, clock: StillClock(),
            elapsed: { start }, logger: logger)
    }

    /// Rates are judged by a clock that stands still: no test depends on how busy the machine is.
    private static let start = ContinuousClock.now

    private static func callers(_ rates: [String: CallerRate]) throws -> CallerDirectory {
        var tokens = [(CallerAccess(try CallerID("shop")), token), (CallerAccess(try CallerID("kiosk")), otherToken)]
        for scope in CallerScope.allCases {
            let access = CallerAccess(try CallerID("shop"), token: scope.rawValue, scopes: [scope])
            tokens.append((access, RunningAPI.token(for: scope)))
        }
        let entries = tokens.compactMap { access, token in
            CallerDirectory.digest(ofToken: token).map { (access: access, tokenDigest: $0) }
        }
        let named = try rates.map { (try CallerID($0), $1) }
        return try CallerDirectory(entries, rates: Dictionary(uniqueKeysWithValues: named))
    }

    /// A token of the shop that permits one thing.
    static func token(for scope: CallerScope) -> String { "shop-token-\(scope.rawValue)" }

    /// Sends one request with a token, and a key and a content type where there is a body or the method is
    /// POST.
    func send(
        _ method: String, _ target: String, body: String? = nil, key: String? = "key-1",
        headers: [(String, String)] = [], token: String? = RunningAPI.token,
        contentType: String? = "application/json"
    ) async throws -> RawAnswer {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost", "Connection: close"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if method == "POST", let key { lines.append("Idempotency-Key: \(key)") }
        if let body {
            if let contentType { lines.append("Content-Type: \(contentType)") }
            lines.append("Content-Length: \(body.utf8.count)")
        }
        lines += headers.map { "\($0.0): \($0.1)" }
        let text = lines.joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        return try RawAnswer(await client.exchange(Array(text.utf8)))
    }

    func get(_ target: String, token: String? = RunningAPI.token) async throws -> RawAnswer {
        try await send("GET", target, token: token)
    }

    /// Creates a payment with a body that may be changed.
    func create(
        _ body: String = RunningAPI.twoLegs, key: String? = "key-1", headers: [(String, String)] = []
    ) async throws -> RawAnswer {
        try await send("POST", "/v1/payments", body: body, key: key, headers: headers)
    }

    static let twoLegs = """
        {"amount":{"value":1500,"currency":"JPY"},"legs":[
        {"provider":"cards","instrument":"tok_9f3c2a7b1234","amount":{"value":1200,"currency":"JPY"}},
        {"provider":"points","instrument":"member-88417706","amount":{"value":300,"currency":"JPY"}}],
        "capture":"automatic","reference":"order-2026-000731","metadata":{"cart":"c-5512"},
        "deadline":"2026-03-02T09:25:00Z"}
        """
}
