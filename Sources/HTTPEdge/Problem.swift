internal import PaymentCore
internal import StrictJSON

/// An error as callers see it: RFC 9457, `application/problem+json`. It never carries what the caller sent.
struct Problem: Error, Sendable, Hashable {
    /// The stable types.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        case invalidRequest = "/problems/invalid-request"
        case keyMissing = "/problems/idempotency-key-missing"
        case unauthorized = "/problems/unauthorized"
        case notFound = "/problems/not-found"
        case inFlight = "/problems/idempotency-in-flight"
        case tooLate = "/problems/too-late"
        case stateConflict = "/problems/state-conflict"
        case versionConflict = "/problems/version-conflict"
        case keySpent = "/problems/idempotency-key-spent"
        case bodyTooLarge = "/problems/body-too-large"
        case unsupportedMediaType = "/problems/unsupported-media-type"
        case keyReused = "/problems/idempotency-key-reused"
        case cardNumberRefused = "/problems/card-number-refused"
        case internalError = "/problems/internal"
        case notAccepting = "/problems/not-accepting"
        case siteNotActive = "/problems/site-not-active"
    }

    var kind: Kind
    var status: Int
    var title: String
    var detail: String?
    var field: String?
    var isRetryable = false
    /// Whole seconds.
    var retryAfter: Int?
    var payment: PaymentID?
    /// What is there instead of what was meant, so that nobody has to ask for it.
    var current: JSONValue?
    /// What stands against a promotion, each with `name`, `detail` and whether it passes by itself.
    var obstacles: JSONValue?
    /// The site that is active instead of this one, as far as is known, with `name` and, if it is configured, `url`.
    var activeSite: JSONValue?
    /// The methods that the route takes, with 405.
    var allow: String?
    /// The connection ends after the answer, because the rest of the request is not read.
    var closesConnection = false

    init(_ kind: Kind, _ status: Int, _ title: String, detail: String? = nil, field: String? = nil) {
        self.kind = kind
        self.status = status
        self.title = title
        self.detail = detail
        self.field = field
    }

    /// The document.
    var json: JSONValue {
        var members = [
            JSONMember("type", .string(kind.rawValue)), JSONMember("title", .string(title)),
            JSONMember("status", .integer(status)),
        ]
        if let detail { members.append(JSONMember("detail", .string(detail))) }
        if let field { members.append(JSONMember("field", .string(field))) }
        members.append(JSONMember("retryable", .bool(isRetryable)))
        if let retryAfter { members.append(JSONMember("retry_after", .integer(retryAfter))) }
        if let payment { members.append(JSONMember("payment_id", .string(payment.text))) }
        if let current { members.append(JSONMember("current", current)) }
        if let obstacles { members.append(JSONMember("obstacles", obstacles)) }
        if let activeSite { members.append(JSONMember("active_site", activeSite)) }
        return .object(members)
    }
}

extension Problem {
    /// What the published schema does not allow.
    static func malformed(_ path: FieldPath, _ detail: String) -> Problem {
        Problem(
            .invalidRequest, 400, "Invalid request", detail: detail,
            field: path.text.isEmpty ? nil : path.text)
    }

    /// A header or parameter that is malformed.
    static func malformed(field: String, _ detail: String) -> Problem {
        Problem(.invalidRequest, 400, "Invalid request", detail: detail, field: field)
    }

    /// Well-formed, and impossible all the same.
    static func impossible(_ path: FieldPath, _ detail: String) -> Problem {
        Problem(.invalidRequest, 422, "Invalid request", detail: detail, field: path.text)
    }

    /// Something looks like a card number.
    static func cardNumber(field: String) -> Problem {
        Problem(
            .cardNumberRefused, 422, "Card numbers are refused", field: field.isEmpty ? nil : field)
    }

    /// A document that cannot be read.
    static func unreadable(_ failure: JSONFailure) -> Problem {
        .malformed(
            FieldPath(failure.path),
            "The body is not acceptable JSON: \(failure.reason), at byte \(failure.offset).")
    }

    static let unauthorized = Problem(.unauthorized, 401, "Unauthorized")
    static let notFound = Problem(.notFound, 404, "Not found")
    static let keyMissing = Problem(
        .keyMissing, 400, "Idempotency-Key is missing", field: "Idempotency-Key")

    static func methodNotAllowed(_ allowed: [String]) -> Problem {
        var problem = Problem(.invalidRequest, 405, "Method not allowed")
        problem.allow = allowed.joined(separator: ", ")
        problem.detail = "Allowed: \(problem.allow ?? "")."
        return problem
    }

    static func bodyTooLarge(limit: Int) -> Problem {
        var problem = Problem(.bodyTooLarge, 413, "Body too large", detail: "At most \(limit) bytes.")
        problem.closesConnection = true
        return problem
    }

    static func internalError(_ detail: String? = nil) -> Problem {
        var problem = Problem(.internalError, 500, "Internal error", detail: detail)
        problem.isRetryable = true
        return problem
    }

    static func notAccepting(_ detail: String, retryAfter: Int) -> Problem {
        var problem = Problem(.notAccepting, 503, "Not accepting payments", detail: detail)
        problem.isRetryable = true
        problem.retryAfter = min(max(retryAfter, 0), 86_400)
        return problem
    }
}
