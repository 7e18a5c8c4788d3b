package import StrictJSON

/// What is said of what was sent, by the place where it stands.
extension Problem {
    /// What the published schema does not allow.
    package static func malformed(_ path: FieldPath, _ detail: String) -> Problem {
        Problem(
            .invalidRequest, 400, "Invalid request", detail: detail,
            field: path.text.isEmpty ? nil : path.text)
    }

    /// Well-formed, and impossible all the same.
    package static func impossible(_ path: FieldPath, _ detail: String) -> Problem {
        Problem(.invalidRequest, 422, "Invalid request", detail: detail, field: path.text)
    }

    /// Something looks like a card number.
    package static func cardNumber(field: String) -> Problem {
        Problem(
            .cardNumberRefused, 422, "Card numbers are refused", field: field.isEmpty ? nil : field)
    }

    /// A document that cannot be read.
    package static func unreadable(_ failure: JSONFailure) -> Problem {
        .malformed(
            FieldPath(failure.path),
            "The body is not acceptable JSON: \(failure.reason), at byte \(failure.offset).")
    }

    /// The operation needs a key and has none.
    package static let keyMissing = Problem(
        .keyMissing, 400, "Idempotency-Key is missing", field: "Idempotency-Key")

    /// Nothing was done, and more requests came than are answered.
    package static func rateLimited(_ detail: String, retryAfter: Duration) -> Problem {
        var problem = Problem(.rateLimited, 429, "Too many requests", detail: detail)
        problem.isRetryable = true
        // Whole seconds, never too early.
        problem.retryAfter = Int(retryAfter.components.seconds) + (retryAfter.components.attoseconds > 0 ? 1 : 0)
        return problem
    }

    /// Nothing was done, and it may be tried again.
    package static func notAccepting(_ detail: String, retryAfter: Int) -> Problem {
        var problem = Problem(.notAccepting, 503, "Not accepting payments", detail: detail)
        problem.isRetryable = true
        problem.retryAfter = min(max(retryAfter, 0), 86_400)
        return problem
    }
}
