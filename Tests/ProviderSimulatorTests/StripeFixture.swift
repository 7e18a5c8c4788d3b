import Foundation
import Logging
import ProviderSimulator
import Testing

/// A value of JSON, as a caller reads it.
enum ShownValue: Decodable, Equatable {
    case null
    case bool(Bool)
    case number(Int64)
    case text(String)
    case list([ShownValue])
    case object([String: ShownValue])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let flag = try? container.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? container.decode(Int64.self) {
            self = .number(number)
        } else if let text = try? container.decode(String.self) {
            self = .text(text)
        } else if let list = try? container.decode([ShownValue].self) {
            self = .list(list)
        } else {
            self = .object(try container.decode([String: ShownValue].self))
        }
    }

    /// A member; nil where there is none, or it is null.
    subscript(_ name: String) -> ShownValue? {
        guard case .object(let members) = self, let member = members[name], member != .null else { return nil }
        return member
    }

    func has(_ name: String) -> Bool {
        guard case .object(let members) = self else { return false }
        return members[name] != nil
    }

    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }
    var number: Int64? {
        guard case .number(let number) = self else { return nil }
        return number
    }
    var flag: Bool? {
        guard case .bool(let flag) = self else { return nil }
        return flag
    }
    /// What a page holds.
    var data: [ShownValue] {
        guard case .list(let values)? = self["data"] else { return [] }
        return values
    }
}

/// An answer of Stripe's wire.
struct StripeReply {
    let status: Int
    let headers: [String: String]
    let body: ShownValue

    var error: ShownValue? { body["error"] }
    var code: String? { error?["code"]?.text }
    var state: String? { body["status"]?.text }
    var isReplay: Bool { headers["idempotent-replayed"] == "true" }
}

/// A caller of a provider on Stripe's wire.
struct StripeFixture {
    var card: SimulatorFixture
    var control: SimulatorControl { card.control }
    var clock: ManualClock { card.clock }

    static let group = "transfer-group-0001"

    /// The answer, which may be none.
    func raw(
        _ method: String, _ path: String, _ parameters: [(String, String)] = [], key: String? = nil
    ) async throws -> Reply {
        let form = parameters.map { "\(Self.encoded($0.0))=\(Self.encoded($0.1))" }.joined(separator: "&")
        let isRead = method == "GET"
        var headers = isRead ? [:] : ["Content-Type": "application/x-www-form-urlencoded"]
        headers["Idempotency-Key"] = key
        let query = isRead && !form.isEmpty ? "?" + form : ""
        return try await card.request(
            method, "/\(card.provider)/v1/\(path)\(query)", isRead ? nil : form, headers: headers)
    }

    func send(
        _ method: String, _ path: String, _ parameters: [(String, String)] = [], key: String? = nil,
        _ location: SourceLocation = #_sourceLocation
    ) async throws -> StripeReply {
        let reply = try await raw(method, path, parameters, key: key)
        guard case .answer(let status, let headers, let body) = reply, headers["content-type"] == "application/json"
        else {
            Issue.record("no answer of Stripe's in \(reply)", sourceLocation: location)
            throw SocketFailure(step: "answer", code: 0)
        }
        return StripeReply(
            status: status, headers: headers, body: try JSONDecoder().decode(ShownValue.self, from: body))
    }

    // MARK: Calls

    func register(
        _ group: String = Self.group, method: String = "manual", card: String = "pm_card_visa", value: Int64 = 1200,
        key: String? = nil, _ more: [(String, String)] = []
    ) async throws -> StripeReply {
        let parameters = [
            ("amount", String(value)), ("currency", "jpy"), ("capture_method", method), ("payment_method", card),
            ("payment_method_types[0]", "card"), ("transfer_group", group), ("metadata[reconciled_key]", group),
        ]
        return try await send("POST", "payment_intents", parameters + more, key: key)
    }

    /// The identifier of an intent that is registered.
    func intent(_ group: String = Self.group, method: String = "manual", card: String = "pm_card_visa") async throws
        -> String
    {
        try #require(try await register(group, method: method, card: card).body["id"]?.text)
    }

    /// The identifier of an intent that is confirmed.
    func charged(_ group: String = Self.group, method: String = "automatic", card: String = "pm_card_visa")
        async throws -> String
    {
        let id = try await intent(group, method: method, card: card)
        #expect(try await act("confirm", id).status == 200)
        return id
    }

    func act(_ action: String, _ intent: String, _ parameters: [(String, String)] = [], key: String? = nil)
        async throws -> StripeReply
    {
        try await send("POST", "payment_intents/\(intent)/\(action)", parameters, key: key)
    }

    func refund(_ intent: String, _ value: Int64? = nil, name: String? = nil, key: String? = nil) async throws
        -> StripeReply
    {
        var parameters = [("payment_intent", intent)]
        if let value { parameters.append(("amount", String(value))) }
        if let name { parameters.append(("metadata[reconciled_key]", name)) }
        return try await send("POST", "refunds", parameters, key: key)
    }

    func shown(_ intent: String) async throws -> ShownValue {
        try await send("GET", "payment_intents/\(intent)").body
    }

    /// The charges of a group with their intents and refunds, newest first.
    func charges(_ group: String = Self.group) async throws -> [ShownValue] {
        let parameters = [("transfer_group", group), ("expand[]", "data.payment_intent"), ("expand[]", "data.refunds")]
        return try await send("GET", "charges", parameters).body.data
    }

    // MARK: Books, faults

    func ledger(_ group: String = Self.group) async throws -> LogicalTransaction { try await card.ledger(group) }

    /// What callers said of each transaction, by the control API.
    func metadata() async throws -> [String: [String: String]] {
        let reply = try await card.request("GET", "/_control/\(card.provider)/metadata", nil)
        guard case .answer(200, _, let body) = reply else { throw SocketFailure(step: "metadata", code: 0) }
        return try JSONDecoder().decode([String: [String: [String: String]]].self, from: body)["data"] ?? [:]
    }

    func order(_ fault: Fault, _ operation: ProviderSimulator.Operation) throws { try card.order(fault, operation) }

    /// A fault of a kind, with its measure where it has one.
    static func fault(_ kind: FaultKind, _ change: (inout Fault) -> Void = { _ in }) -> Fault {
        var fault = Fault(kind)
        change(&fault)
        return fault
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}

/// Runs a simulator for one test: `card` and `spare` on Stripe's wire, `points` on that of the reference contract.
func withStripe(
    _ contract: ContractOptions = ContractOptions(), database: String? = nil, clock: ManualClock = ManualClock(),
    _ test: (StripeFixture) async throws -> Void
) async throws {
    var configuration = SimulatorConfiguration(providers: [
        ProviderConfiguration("card", wire: .stripe, token: "good-token", contract: contract),
        ProviderConfiguration("spare", wire: .stripe, token: "good-token"),
        ProviderConfiguration("points", token: "good-token"),
    ])
    configuration.database = database
    var logger = Logger(label: "provider-simulator")
    logger.logLevel = .critical
    let server = try ProviderSimulatorServer(configuration, clock: clock.asSimulatorClock, logger: logger)
    try await server.whileRunning { port in
        try await test(
            StripeFixture(card: SimulatorFixture(port: port, control: server.control, clock: clock)))
    }
}
