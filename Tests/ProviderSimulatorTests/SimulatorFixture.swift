import Foundation
import Logging
import ProviderSimulator
import Synchronization
import Testing

/// A clock that stands still until a test moves it.
final class ManualClock: Sendable {
    private let milliseconds: Mutex<Int64>

    init(_ milliseconds: Int64 = 1_800_000_000_000) {
        self.milliseconds = Mutex(milliseconds)
    }

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(_ by: Int64) {
        milliseconds.withLock { $0 += by }
    }

    var asSimulatorClock: SimulatorClock { SimulatorClock { self.now } }
}

/// A transaction as a caller reads it.
struct ShownTransaction: Decodable, Equatable {
    struct Entry: Decodable, Equatable {
        let key: String
        let amount: Amount
        let status: String
        let createdAt: String
        let reason: String?
    }
    struct Dispute: Decodable, Equatable {
        let id: String
        let amount: Amount
        let status: String
        let createdAt: String
    }
    let key: String
    let kind: String?
    let status: String?
    let amount: Amount?
    let captures: [Entry]
    let refunds: [Entry]
    let disputes: [Dispute]
    let createdAt: String
    let updatedAt: String
    let authorizedUntil: String?
    let metadata: [String: String]
    let reason: String?
}

struct ShownPage: Decodable {
    let data: [ShownTransaction]
    let nextCursor: String?
}

struct ShownProblem: Decodable {
    let type: String
    let status: Int
    let field: String?
}

/// One provider of a running simulator, and a caller of it.
struct SimulatorFixture {
    let port: Int
    let control: SimulatorControl
    let clock: ManualClock
    var provider = "card"
    var token = "good-token"
    var timeoutMs = 5000

    static let key = "transaction-key-1"
    static let captureKey = "capture-key-0001"
    static let refundKey = "refund-key-00001"

    func request(_ method: String, _ path: String, _ body: String? = nil, headers: [String: String] = [:])
        async throws -> Reply
    {
        var all = ["Host": "localhost", "Authorization": "Bearer \(token)"]
        if let body {
            all["Content-Type"] = "application/json"
            all["Content-Length"] = String(body.utf8.count)
        }
        all.merge(headers) { $1 }
        let head = all.map { "\($0.key): \($0.value)\r\n" }.joined()
        let connection = RawConnection(port: port, timeoutMs: timeoutMs)
        return try await connection.send("\(method) \(path) HTTP/1.1\r\n\(head)\r\n\(body ?? "")")
    }

    func pay(
        _ key: String = Self.key, kind: String = "authorize", value: Int64 = 1200,
        instrument: String = "tok_1",
        metadata: String = #"{"payment":"pay_1"}"#, notAfter: String? = nil
    ) async throws -> Reply {
        let body = """
            {"kind":"\(kind)","amount":{"value":\(value),"currency":"JPY"},"instrument":"\(instrument)",\
            "metadata":\(metadata)}
            """
        return try await request(
            "PUT", "/\(provider)/transactions/\(key)", body,
            headers: notAfter.map { ["Not-After": $0] } ?? [:])
    }

    func capture(_ key: String = Self.key, _ captureKey: String = Self.captureKey, value: Int64 = 1200)
        async throws
        -> Reply
    {
        try await request(
            "PUT", "/\(provider)/transactions/\(key)/captures/\(captureKey)",
            #"{"amount":{"value":\#(value),"currency":"JPY"}}"#)
    }

    func refund(_ key: String = Self.key, _ refundKey: String = Self.refundKey, value: Int64 = 1200)
        async throws
        -> Reply
    {
        try await request(
            "PUT", "/\(provider)/transactions/\(key)/refunds/\(refundKey)",
            #"{"amount":{"value":\#(value),"currency":"JPY"}}"#)
    }

    func void(_ key: String = Self.key) async throws -> Reply {
        try await request("POST", "/\(provider)/transactions/\(key)/void")
    }

    func inquire(_ key: String = Self.key) async throws -> Reply {
        try await request("GET", "/\(provider)/transactions/\(key)")
    }

    func order(_ fault: Fault, _ operation: ProviderSimulator.Operation? = nil, times: Int = 1) throws {
        try control.order(FaultOrder(fault, operation: operation, times: times), at: provider)
    }

    func ledger(_ key: String = Self.key) async throws -> LogicalTransaction {
        try #require(try await control.ledger(provider, key: key).transaction(key))
    }

    /// Waits until something that happens by itself has happened.
    func eventually(_ condition: () async throws -> Bool) async throws {
        if try await !becomesTrue(condition) { Issue.record("did not happen in time") }
    }
}

extension Reply {
    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    func transaction(_ location: SourceLocation = #_sourceLocation) throws -> ShownTransaction {
        guard case .answer(_, let headers, let body) = self, headers["content-type"] == "application/json"
        else {
            Issue.record("no transaction in \(self)", sourceLocation: location)
            throw SocketFailure(step: "answer", code: 0)
        }
        return try Self.decoder.decode(ShownTransaction.self, from: body)
    }

    func problem(_ location: SourceLocation = #_sourceLocation) throws -> ShownProblem {
        guard case .answer(_, let headers, let body) = self,
            headers["content-type"] == "application/problem+json"
        else {
            Issue.record("no problem in \(self)", sourceLocation: location)
            throw SocketFailure(step: "answer", code: 0)
        }
        return try Self.decoder.decode(ShownProblem.self, from: body)
    }

    func page() throws -> ShownPage {
        guard case .answer(_, _, let body) = self else { throw SocketFailure(step: "answer", code: 0) }
        return try Self.decoder.decode(ShownPage.self, from: body)
    }
}

/// Runs a simulator with the providers `card` and `points` for one test.
func withSimulator(
    _ contract: ContractOptions = ContractOptions(), rates: [FaultRate] = [], seed: UInt64 = 1,
    database: String? = nil, clock: ManualClock = ManualClock(),
    _ test: (SimulatorFixture) async throws -> Void
) async throws {
    var configuration = SimulatorConfiguration(providers: [
        ProviderConfiguration("card", token: "good-token", contract: contract, rates: rates),
        ProviderConfiguration("points", token: "good-token"),
    ])
    configuration.database = database
    configuration.seed = seed
    var logger = Logger(label: "provider-simulator")
    logger.logLevel = .critical
    let server = try ProviderSimulatorServer(configuration, clock: clock.asSimulatorClock, logger: logger)
    try await server.whileRunning { port in
        try await test(SimulatorFixture(port: port, control: server.control, clock: clock))
    }
}
