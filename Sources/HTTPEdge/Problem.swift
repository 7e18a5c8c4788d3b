package import PaymentCore
package import StrictJSON

/// An error as whoever asked sees it: RFC 9457, `application/problem+json`. Of what was sent it
/// repeats names of members and providers at most, never a value.
package struct Problem: Error, Sendable, Hashable {
    /// The stable types.
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case invalidRequest = "/problems/invalid-request"
        case keyMissing = "/problems/idempotency-key-missing"
        case unauthorized = "/problems/unauthorized"
        case forbidden = "/problems/forbidden"
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
        case beingConfirmed = "/problems/being-confirmed"
        case rateLimited = "/problems/rate-limited"
        case disputed = "/problems/disputed"
    }

    /// Which of the stable types it is.
    package var kind: Kind
    /// The HTTP status.
    package var status: Int
    /// The type in a few words.
    package var title: String
    /// What happened this time.
    package var detail: String?
    /// The header, parameter or member that is at fault.
    package var field: String?
    /// The same request may succeed after a short while.
    package var isRetryable = false
    /// When to come again, in whole seconds.
    package var retryAfter: Int?
    /// The payment that the problem is about.
    package var payment: PaymentID?
    /// What is there instead of what was meant, so that nobody has to ask for it.
    package var current: JSONValue?
    /// What stands against a promotion, each with `name`, `detail` and whether it passes by itself.
    package var obstacles: JSONValue?
    /// The site that is active instead of this one, as far as is known, with `name` and, if it is configured, `url`.
    package var activeSite: JSONValue?
    /// The methods that the route takes, with 405.
    package var allow: String?
    /// The connection ends after the answer, because the rest of the request is not read.
    package var closesConnection = false

    /// A problem that says no more than this.
    package init(_ kind: Kind, _ status: Int, _ title: String, detail: String? = nil, field: String? = nil) {
        self.kind = kind
        self.status = status
        self.title = title
        self.detail = detail
        self.field = field
    }

    /// The document.
    package var json: JSONValue {
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
    /// A header or parameter that is malformed.
    package static func malformed(field: String, _ detail: String) -> Problem {
        Problem(.invalidRequest, 400, "Invalid request", detail: detail, field: field)
    }

    /// A cursor that is none, or of another listing.
    package static let badCursor = Problem.malformed(
        field: "cursor", "Must be the next_cursor of the page before, with the same filters.")
    /// A payment without a webhook.
    package static let neverReported = Problem(
        .notFound, 404, "Not found",
        detail: "Nothing of this payment was ever reported: it has not come to rest, or its caller had no webhook then."
    )
    /// The request bears no token that is known.
    package static let unauthorized = Problem(.unauthorized, 401, "Unauthorized")
    /// Nothing is there, or nothing that may be seen.
    package static let notFound = Problem(.notFound, 404, "Not found")
    /// The body is no JSON by its media type.
    package static let unsupportedMediaType = Problem(
        .unsupportedMediaType, 415, "Unsupported media type", detail: "Must be application/json in UTF-8.")

    /// The route takes other methods only.
    package static func methodNotAllowed(_ allowed: [String]) -> Problem {
        var problem = Problem(.invalidRequest, 405, "Method not allowed")
        problem.allow = allowed.joined(separator: ", ")
        problem.detail = "Allowed: \(problem.allow ?? "")."
        return problem
    }

    /// The body has more bytes than are read.
    package static func bodyTooLarge(limit: Int) -> Problem {
        var problem = Problem(.bodyTooLarge, 413, "Body too large", detail: "At most \(limit) bytes.")
        problem.closesConnection = true
        return problem
    }

    /// The body did not come to its end.
    package static func incompleteBody(_ detail: String) -> Problem {
        var problem = Problem(.invalidRequest, 400, "Invalid request", detail: detail)
        problem.isRetryable = true
        problem.closesConnection = true
        return problem
    }

    /// The fault is on this side.
    package static func internalError(_ detail: String? = nil) -> Problem {
        var problem = Problem(.internalError, 500, "Internal error", detail: detail)
        problem.isRetryable = true
        return problem
    }
}
