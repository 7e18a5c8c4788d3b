import PaymentCore
import Providers
import Testing

/// What is known of a provider's sandbox before anybody has a key of it.
struct SandboxKind: Sendable, CustomTestStringConvertible {
    let wire: SuiteWire
    /// What of the suite is asked of it.
    let traits: Set<SuiteTrait>
    /// Where it is; `nil` where only its owner knows.
    var url: String?
    /// An instrument that approves, as the provider's documentation names it; `nil` where only its owner knows.
    var instrument: String?
    /// One that is declined.
    var declined: String?
    /// One that does not exist.
    var unknown = "unknown-0001"
    /// Which kind of change a request is, by its label.
    let operations: [String: SuiteOperation]
    /// The provider's own body of a refusal for a while, such as 429.
    let words: @Sendable (_ status: Int) -> String
    /// What a token or an address of the sandbox looks like, if this one may be for real money; `nil` if it is not.
    let danger: @Sendable (_ token: String, _ url: String) -> (variable: String, allowed: String)?
    /// How its books are read.
    let books: SandboxBooks.Reading

    /// As `adapter` in a configuration.
    var name: String { wire.adapter.name }
    var testDescription: String { name }

    /// The cases that are asked of it.
    func cases(hasDeclined: Bool) -> [ContractCase] {
        let asked = hasDeclined ? traits.union([.declines]) : traits
        return canBeAsked ? ContractCase.all(with: asked) : ContractCase.withoutInquiry(with: asked)
    }

    /// Whether a request reads what became of a payment.
    var canBeAsked: Bool { wire.twoPhase.inquiry != .byResend }

    static let all = [stripe, payPay, adyen, reference]

    /// docs.stripe.com/testing
    static let stripe = SandboxKind(
        wire: .stripe, traits: SuiteWire.stripe.traits.subtracting(SuiteTrait.ofFakes),
        url: "https://api.stripe.com", instrument: "pm_card_visa", declined: "pm_card_visa_chargeDeclined",
        operations: [
            "confirm_intent": .authorize, "capture_intent": .capture, "cancel_intent": .void, "create_refund": .refund,
            "list_charges": .inquire,
        ],
        words: { _ in
            #"{"error":{"type":"invalid_request_error","code":"rate_limit","message":"Too many requests."}}"#
        },
        danger: { token, _ in
            let isTest = ["sk_test_", "rk_test_"].contains { token.hasPrefix($0) }
            return isTest ? nil : ("TOKEN", "a key that begins with sk_test_ or rk_test_")
        },
        books: SandboxBooks.stripe)

    /// www.paypay.ne.jp/opa/doc/v1.0/direct_debit
    static let payPay = SandboxKind(
        wire: .payPay, traits: SuiteWire.payPay.traits.subtracting(SuiteTrait.ofFakes),
        url: "https://stg-api.sandbox.paypay.ne.jp",
        operations: [
            "create_payment": .authorize, "capture_payment": .capture, "cancel_payment": .void,
            "create_refund": .refund, "get_payment": .inquire,
        ],
        words: { status in
            let code = status == 429 ? "RATE_LIMIT" : "MAINTENANCE_MODE"
            return #"{"resultInfo":{"code":"\#(code)","message":"Later.","codeId":"08100001"},"data":null}"#
        },
        danger: { _, url in url.contains("sandbox") ? nil : ("URL", "an address with sandbox in it") },
        books: SandboxBooks.payPay)

    /// docs.adyen.com/development-resources/testing
    static let adyen = SandboxKind(
        wire: .adyen, traits: [], url: "https://checkout-test.adyen.com/v71", unknown: "nobody:8000000000000000",
        operations: ["create_payment": .authorize, "modify_payment": .capture, "cancel_payment": .void],
        words: { #"{"status":\#($0),"errorCode":"0","message":"Later.","errorType":"internal"}"# },
        danger: { _, url in url.contains("-test.adyen.com") ? nil : ("URL", "an address at -test.adyen.com") },
        books: SandboxBooks.none)

    /// A service that implements `openapi/provider.yaml`. Whoever names its address says that no real money moves.
    static let reference = SandboxKind(
        wire: .reference,
        traits: SuiteWire.reference.traits.subtracting(SuiteTrait.ofFakes).subtracting([.voidOfNothing]),
        operations: [
            "put_transaction": .authorize, "put_capture": .capture, "post_void": .void, "put_refund": .refund,
            "get_transaction": .inquire,
        ],
        words: { status in
            let name = status == 429 ? "rate-limited" : "unavailable"
            return #"{"type":"/problems/\#(name)","title":"Later","status":\#(status)}"#
        },
        danger: { _, _ in nil }, books: SandboxBooks.reference)
}
