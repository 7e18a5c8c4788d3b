/// An answer in PayPay's shapes: a `resultInfo`, and `data` where there is any.
struct PayPayAnswer: Sendable, Equatable {
    let status: Int
    private let value: JSONTree

    init(_ status: Int, _ code: String, _ message: String, data: JSONTree = .null) {
        self.status = status
        let info: JSONTree = .object([
            ("code", .text(code)), ("message", .text(message)), ("codeId", .text("99\(status)0000")),
        ])
        value = .object([("resultInfo", info), ("data", data)])
    }

    init(_ refusal: PayPayRefusal) { self.init(refusal.status, refusal.code, refusal.message) }

    /// What the simulator's own problems are in PayPay's words.
    init(_ problem: Problem) {
        switch problem.status {
        case 401: self.init(PayPayRefusal.unauthorized)
        case 404: self.init(404, "RESOURCE_NOT_FOUND", "There is nothing here.")
        case 413: self.init(400, "INVALID_REQUEST_PARAMS", "The body is too large.")
        case 429: self.init(429, "RATE_LIMIT", "Too many requests.")
        case 503: self.init(503, "MAINTENANCE_MODE", "Not available now.")
        default: self.init(500, "INTERNAL_SERVER_ERROR", "Something is wrong at the provider.")
        }
    }

    /// As JSON, without every member that has this name.
    func text(without name: String?) -> String { value.text(without: name) }
}

/// Why a call of PayPay's wire is refused.
struct PayPayRefusal: Codable, Sendable, Equatable, Error {
    let status: Int
    let code: String
    let message: String

    init(_ status: Int, _ code: String, _ message: String) {
        self.status = status
        self.code = code
        self.message = message
    }

    static let unauthorized = PayPayRefusal(401, "UNAUTHORIZED", "The signature is not good.")
    static let otherMerchant = PayPayRefusal(401, "OP_OUT_OF_SCOPE", "The merchant is another one.")
    static let unknownPayer = PayPayRefusal(
        401, "INVALID_USER_AUTHORIZATION_ID", "No payer has this authorization.")
    static let notFound = PayPayRefusal(404, "RESOURCE_NOT_FOUND", "There is no such payment.")
    static let noSuchRefund = PayPayRefusal(404, "NO_SUCH_REFUND_ORDER", "There is no such refund.")
    static let noFunds = PayPayRefusal(400, "NO_SUFFICIENT_FUND", "The payer's balance is too small.")
    static let payerGone = PayPayRefusal(400, "CANCELED_USER", "The payer has left.")
    static let notReversible = PayPayRefusal(400, "ORDER_NOT_REVERSIBLE", "It cannot be cancelled.")
    static let alreadyCaptured = PayPayRefusal(400, "ALREADY_CAPTURED", "It is captured.")
    static let expired = PayPayRefusal(400, "ORDER_EXPIRED", "The hold ran out.")
    static let notCapturable = PayPayRefusal(400, "ORDER_NOT_CAPTURABLE", "It cannot be captured.")
    static let higherCapture = PayPayRefusal(400, "HIGHER_CAPTURE_NOT_PERMITTED", "More than the hold.")
    static let notRefundable = PayPayRefusal(400, "UNACCEPTABLE_OP", "It cannot be refunded.")
    static let tooMuch = PayPayRefusal(400, "INVALID_PARAMS", "More than can be refunded.")
    static func invalid(_ message: String) -> PayPayRefusal {
        PayPayRefusal(400, "INVALID_REQUEST_PARAMS", message)
    }
}
