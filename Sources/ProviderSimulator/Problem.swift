/// A refusal without a transaction: RFC 9457.
struct Problem: Codable, Sendable, Equatable, Error {
    let type: String
    let title: String
    let status: Int
    var detail: String?
    var field: String?
    /// The key that the request was about, so that nobody takes the refusal for an answer about another.
    var key: String?

    private init(_ type: String, _ title: String, _ status: Int, detail: String? = nil, field: String? = nil) {
        self.type = "/problems/" + type
        self.title = title
        self.status = status
        self.detail = detail
        self.field = field
    }

    static func invalidRequest(_ detail: String, field: String? = nil) -> Problem {
        Problem("invalid-request", "Invalid request", 400, detail: detail, field: field)
    }
    static let unknownInstrument = Problem(
        "unknown-instrument", "Unknown instrument", 400, detail: "No instrument has this token.",
        field: "instrument")
    static let unauthorized = Problem("unauthorized", "Unauthorized", 401)
    static let notFound = Problem("not-found", "Nothing under this key", 404)
    static let notAfterPassed = Problem("not-after-passed", "Past Not-After", 410, field: "Not-After")
    static let bodyTooLarge = Problem("body-too-large", "Body too large", 413)
    static let unsupportedMediaType = Problem("unsupported-media-type", "Unsupported media type", 415)
    static let keyReused = Problem(
        "key-reused", "Key used with another body", 422,
        detail: "The key is bound to a request that differs from this one.")
    static func amountTooLarge(_ detail: String) -> Problem {
        Problem("amount-too-large", "Amount too large", 422, detail: detail, field: "amount")
    }
    static let currencyMismatch = Problem(
        "currency-mismatch", "Another currency than the transaction's", 422, field: "amount")
    static let rateLimited = Problem("rate-limited", "Too many requests", 429)
    static let unavailable = Problem("unavailable", "Not accepting now", 503)
    static let internalError = Problem("internal", "Internal error", 500)
    static func conflict(_ detail: String) -> Problem {
        Problem("conflict", "Not possible now", 409, detail: detail)
    }
}
