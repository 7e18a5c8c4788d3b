import Crypto
import Foundation
import Logging
import ProviderSimulator
import Testing

/// An answer of PayPay's wire.
struct PayPayShown {
    let status: Int
    let body: ShownValue

    var code: String? { body["resultInfo"]?["code"]?.text }
    var data: ShownValue? { body["data"] }
    var state: String? { data?["status"]?.text }
}

/// A caller of a provider on PayPay's wire.
struct PayPayFixture {
    /// What a caller signs with, and how.
    struct Signing {
        var key = "key-1"
        var secret = "secret-1"
        var merchant: String? = "merchant-1"
        var nonce = "acd028aB"
        /// Milliseconds by which its clock is ahead.
        var aheadMs: Int64 = 0
        /// What is signed in the place of the path.
        var path: String?
        /// What is signed in the place of the body.
        var body: String?
        var type = "application/json;charset=UTF-8"
    }

    var card: SimulatorFixture
    var signing = Signing()
    var control: SimulatorControl { card.control }
    var clock: ManualClock { card.clock }

    static let token = "key-1:secret-1:merchant-1"
    static let id = "payment-id_0001"

    func raw(_ method: String, _ path: String, _ body: String? = nil) async throws -> Reply {
        let full = "/\(card.provider)/v2/\(path)"
        var headers = ["Authorization": authorization(method, full, body)]
        headers["X-ASSUME-MERCHANT"] = signing.merchant
        if body != nil { headers["Content-Type"] = signing.type }
        return try await card.request(method, full, body, headers: headers)
    }

    func send(
        _ method: String, _ path: String, _ body: String? = nil, _ location: SourceLocation = #_sourceLocation
    ) async throws -> PayPayShown {
        let reply = try await raw(method, path, body)
        guard case .answer(let status, let headers, let body) = reply, headers["content-type"] == "application/json"
        else {
            Issue.record("no answer of PayPay's in \(reply)", sourceLocation: location)
            throw SocketFailure(step: "answer", code: 0)
        }
        return PayPayShown(status: status, body: try JSONDecoder().decode(ShownValue.self, from: body))
    }

    private func authorization(_ method: String, _ path: String, _ body: String?) -> String {
        let epoch = (clock.now + signing.aheadMs) / 1_000
        var (type, hash) = ("empty", "empty")
        if let body = signing.body ?? body {
            type = signing.type
            hash = Data(Insecure.MD5.hash(data: Data((type + body).utf8))).base64EncodedString()
        }
        let path = signing.path ?? String(path.prefix { $0 != "?" })
        let text = "\(path)\n\(method)\n\(signing.nonce)\n\(epoch)\n\(type)\n\(hash)"
        let key = SymmetricKey(data: Data(signing.secret.utf8))
        let code = Data(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)).base64EncodedString()
        return "hmac OPA-Auth:\(signing.key):\(code):\(signing.nonce):\(epoch):\(hash)"
    }

    // MARK: Calls

    func pay(
        _ path: String = "payments", _ id: String = Self.id, value: Int64 = 1200, payer: String = "user-1",
        metadata: String = #"{"order":"4711"}"#
    ) async throws -> PayPayShown {
        try await send(
            "POST", path,
            """
            {"merchantPaymentId":"\(id)","userAuthorizationId":"\(payer)","amount":\(Self.amount(value)),\
            "requestedAt":1800000000,"metadata":\(metadata)}
            """)
    }

    func hold(_ id: String = Self.id, payer: String = "user-1") async throws -> PayPayShown {
        try await pay("payments/preauthorize", id, payer: payer)
    }

    func capture(_ name: String = "capture-1", _ id: String = Self.id, value: Int64 = 1200) async throws -> PayPayShown
    {
        try await send(
            "POST", "payments/capture",
            """
            {"merchantPaymentId":"\(id)","merchantCaptureId":"\(name)","amount":\(Self.amount(value)),\
            "requestedAt":1800000000,"orderDescription":"An order"}
            """)
    }

    func refund(_ payment: String, _ name: String = "refund-1", value: Int64 = 1200) async throws -> PayPayShown {
        try await send(
            "POST", "refunds",
            """
            {"merchantRefundId":"\(name)","paymentId":"\(payment)","amount":\(Self.amount(value)),\
            "requestedAt":1800000000,"reason":"It is broken"}
            """)
    }

    func cancel(_ id: String = Self.id) async throws -> PayPayShown { try await send("DELETE", "payments/\(id)") }

    func shown(_ id: String = Self.id) async throws -> PayPayShown { try await send("GET", "payments/\(id)") }

    /// PayPay's identifier of a payment that was made.
    func paid(payer: String = "user-1") async throws -> String {
        try #require(try await pay(payer: payer).data?["paymentId"]?.text)
    }

    /// The body of a payment.
    static func body(
        _ id: String, value: Int64 = 1200, currency: String = "JPY", more: String = #","requestedAt":1"#
    ) -> String {
        let amount = #"{"amount":\#(value),"currency":"\#(currency)"}"#
        return #"{"merchantPaymentId":"\#(id)","userAuthorizationId":"user-1","amount":\#(amount)\#(more)}"#
    }

    static func amount(_ value: Int64) -> String { #"{"amount":\#(value),"currency":"JPY"}"# }

    func ledger(_ id: String = Self.id) async throws -> LogicalTransaction { try await card.ledger(id) }
}

/// Runs a simulator for one test: `card` and `spare` on PayPay's wire.
func withPayPay(
    _ contract: ContractOptions = ContractOptions(), clock: ManualClock = ManualClock(),
    _ test: (PayPayFixture) async throws -> Void
) async throws {
    let configuration = SimulatorConfiguration(providers: [
        ProviderConfiguration("card", wire: .paypay, token: PayPayFixture.token, contract: contract),
        ProviderConfiguration("spare", wire: .paypay),
    ])
    var logger = Logger(label: "provider-simulator")
    logger.logLevel = .critical
    let server = try ProviderSimulatorServer(configuration, clock: clock.asSimulatorClock, logger: logger)
    try await server.whileRunning { port in
        try await test(PayPayFixture(card: SimulatorFixture(port: port, control: server.control, clock: clock)))
    }
}
