/// An answer in Adyen's shapes.
struct AdyenAnswer: Sendable, Equatable {
    let status: Int
    /// As JSON.
    private let body: String
    /// The key that it was asked under, which Adyen returns.
    var idempotencyKey: String?
    /// Whether the same request may be sent again.
    var isTransient = false
    /// Whether it was given before, and is repeated.
    var isReplay = false

    init(_ status: Int, _ value: JSONTree) {
        self.status = status
        body = value.text()
    }

    /// One that was kept under a key.
    init(status: Int, stored: String) {
        self.status = status
        body = stored
        isReplay = true
    }

    init(_ refusal: AdyenRefusal) {
        self.init(
            refusal.status,
            .object([
                ("status", .int(Int64(refusal.status))), ("errorCode", .text(refusal.code)),
                ("message", .text(refusal.message)), ("errorType", .text(refusal.type)),
            ]))
        isTransient = refusal.isTransient
    }

    /// What the simulator's own problems are in Adyen's words.
    init(_ problem: Problem) {
        switch problem.status {
        case 401: self.init(AdyenRefusal.unauthorized)
        case 404: self.init(AdyenRefusal(404, "000", "There is nothing here.", "validation"))
        case 413: self.init(AdyenRefusal(400, "702", "The body is too large.", "validation"))
        case 429: self.init(AdyenRefusal(429, "0", "Too many requests.", "internal", isTransient: true))
        case 503: self.init(AdyenRefusal(503, "905", "Not available now.", "internal", isTransient: true))
        default: self.init(AdyenRefusal(500, "905", "Something is wrong at the provider.", "internal"))
        }
    }

    /// As JSON. The fault that leaves a member out takes the one that says what came of it.
    func text(withoutResult: Bool) -> String {
        guard withoutResult else { return body }
        return body.replacing("\"resultCode\"", with: "\"otherCode\"").replacing("\"status\"", with: "\"otherStatus\"")
    }

    /// What is kept under a key.
    var stored: String { body }
}

/// Why a call of Adyen's wire is refused.
struct AdyenRefusal: Codable, Sendable, Equatable, Error {
    let status: Int
    let code: String
    let message: String
    let type: String
    var isTransient: Bool

    init(_ status: Int, _ code: String, _ message: String, _ type: String, isTransient: Bool = false) {
        (self.status, self.code, self.message, self.type, self.isTransient) = (status, code, message, type, isTransient)
    }

    static let unauthorized = AdyenRefusal(401, "000", "HTTP Status Response - Unauthorized", "security")
    static let otherMerchant = AdyenRefusal(403, "901", "Invalid Merchant Account", "security")
    static let unknownCard = AdyenRefusal(422, "800", "Contract not found", "validation")
    static let unknownPayment = AdyenRefusal(
        422, "167", "Original pspReference required for this operation", "validation")
    static func invalid(_ message: String) -> AdyenRefusal { AdyenRefusal(422, "702", message, "validation") }
}
