import HTTPTransport
import Reconciler

@testable import PaymentCore
@testable import Providers

/// Bodies in the shapes of PayPay's public reference (www.paypay.ne.jp/opa/doc/v1.0/direct_debit), with what decisions
/// need.
enum PayPayBodies {
    static let id = "04711000000000000001"

    static func answer(_ code: String, _ data: String = "null") -> String {
        """
        {"resultInfo":{"code":"\(code)","message":"What it says to people is not read.","codeId":"08100001"},\
        "data":\(data)}
        """
    }

    static func payment(
        _ status: String, of key: String, amount: Int64 = 1200, currency: String = "JPY", captures: [String]? = nil,
        refunds: [String]? = nil, expiresAt: Int64? = nil, metadata: String = "{}"
    ) -> String {
        func list(_ items: [String]?) -> String { items.map { "{\"data\":[\($0.joined(separator: ","))]}" } ?? "null" }
        return """
            {"paymentId":"\(id)","status":"\(status)","acceptedAt":1772366400,"merchantPaymentId":"\(key)",\
            "amount":{"amount":\(amount),"currency":"\(currency)"},"requestedAt":1772366400,\
            "expiresAt":\(expiresAt.map { String($0) } ?? "null"),"canceledAt":null,"refunds":\(list(refunds)),\
            "captures":\(list(captures)),"metadata":\(metadata)}
            """
    }

    static func capture(_ key: String, _ status: String = "COMPLETED", amount: Int64 = 1200) -> String {
        """
        {"acceptedAt":1772366400,"merchantCaptureId":"\(key)","amount":{"amount":\(amount),"currency":"JPY"},\
        "requestedAt":1772366400,"status":"\(status)"}
        """
    }

    static func refund(
        _ key: String, _ status: String = "REFUNDED", amount: Int64 = 300, currency: String = "JPY",
        of payment: String = id
    ) -> String {
        """
        {"status":"\(status)","acceptedAt":1772366400,"merchantRefundId":"\(key)","paymentId":"\(payment)",\
        "amount":{"amount":\(amount),"currency":"\(currency)"},"requestedAt":1772366400,"reason":null}
        """
    }
}

/// The adapter for PayPay over a script instead of the wire.
struct PayPayScript {
    let book = OrderBook()
    /// What PayPay says where there is nothing.
    static let missing = "RESOURCE_NOT_FOUND"

    func provider(
        _ steps: [ScriptedSender.Step], phases: ProviderContract.Phases = .sale
    ) throws -> (PayPayProvider, ScriptedSender) {
        let sender = ScriptedSender(steps)
        var contract = ProviderContract.payPay
        contract.phases = phases
        let provider = PayPayProvider(
            name: try ProviderName("card"), contract: contract, store: nil,
            client: ProviderClient(
                address: try ProviderAddress("https://paypay.example"), sender: sender, limits: TimeLimits()),
            clock: StandingClock())
        return (provider, sender)
    }

    func json(_ status: Int, _ body: String, retryAfter: String? = nil) -> ScriptedSender.Step {
        ScriptedSender.answer(status, fields: .of("application/json", retryAfter: retryAfter), body: body)
    }

    func error(_ status: Int, _ code: String) -> ScriptedSender.Step { json(status, PayPayBodies.answer(code)) }

    func shown(
        _ status: String, of key: String? = nil, captures: [String]? = nil, refunds: [String]? = nil
    ) throws -> ScriptedSender.Step {
        let payment = try PayPayBodies.payment(
            status, of: key ?? book.key(.sale).text, captures: captures, refunds: refunds)
        return json(200, PayPayBodies.answer("SUCCESS", payment))
    }
}
