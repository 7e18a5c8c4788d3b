internal import PaymentCore

// The table of answers: which class of outcome a reply belongs to. The first row that fits decides.
//
// A class that says "no effect" needs proof: not a byte was written, or Stripe itself said so in an error that its
// documentation knows (docs.stripe.com/api/errors, docs.stripe.com/error-low-level). Everything else is in doubt.

/// A row of the table.
struct StripeAnswerRow: Sendable {
    /// Its name, for tests and pages.
    let name: String
    /// Where Stripe says so.
    let source: String
    let matches: @Sendable (Int, StripeError) -> Bool
    let report: @Sendable (StripeReply, StripeError, Timestamp) -> AttemptReport
}

enum StripeAnswers {
    /// The outcome of a reply that is an error.
    static func report(of reply: StripeReply, at now: Timestamp) -> AttemptReport {
        guard case .error(let error) = reply.content else {
            return AttemptReport(.indeterminate, code: reply.code, bytesWritten: reply.bytesWritten)
        }
        let row = rows.first { $0.matches(reply.status, error) }
        var report = row?.report(reply, error, now) ?? AttemptReport(.indeterminate, code: "http_\(reply.status)")
        report.bytesWritten = reply.bytesWritten
        return report
    }

    /// Whether a registration is refused for what is in it: an unknown payment method, or an amount above the largest.
    /// That is the same for every copy of the request, whenever it arrives (docs.stripe.com/error-codes). The smallest
    /// amount is not: it follows an exchange rate.
    static func refusesContents(_ reply: StripeReply) -> Bool {
        guard case .error(let error) = reply.content, error.type == "invalid_request_error" else { return false }
        switch error.code {
        case "resource_missing": return error.parameter == "payment_method"
        case "amount_too_large": return true
        default: return false
        }
    }

    static let rows: [StripeAnswerRow] = [
        StripeAnswerRow(
            name: "credentials", source: "docs.stripe.com/error-low-level",
            matches: { status, _ in status == 401 || status == 403 },
            report: { reply, _, _ in
                AttemptReport(.refused, code: "http_\(reply.status)", credentialsRefused: true)
            }),
        // Limits are checked before a key is looked at, and a lock that is not had in time executes nothing.
        StripeAnswerRow(
            name: "rate-limited", source: "docs.stripe.com/rate-limits",
            matches: { status, _ in status == 429 },
            report: { reply, error, now in
                AttemptReport(
                    .throttled, code: ShortCode.of(error.code) ?? "rate_limited",
                    retryAfter: reply.retryAfter?.moment(from: now))
            }),
        StripeAnswerRow(
            name: "key-reused", source: "docs.stripe.com/api/idempotent_requests",
            matches: { status, error in status == 400 && error.type == "idempotency_error" },
            report: { reply, _, _ in
                AttemptReport(.indeterminate, code: "key_conflict", keyConflicts: reply.namesKey)
            }),
        StripeAnswerRow(
            name: "key-in-use", source: "docs.stripe.com/error-low-level",
            matches: { status, _ in status == 409 },
            report: { _, _, _ in AttemptReport(.indeterminate, code: "key_in_use") }),
        StripeAnswerRow(
            name: "amount-too-large", source: "docs.stripe.com/error-codes",
            matches: { status, error in
                status == 400 && error.type == "invalid_request_error"
                    && (error.code == "amount_too_large" || error.code == "charge_already_refunded"
                        || error.code == nil && error.parameter == "amount")
            },
            report: { reply, _, _ in
                AttemptReport(.refused, code: "amount_too_large", namesKey: reply.namesKey)
            }),
        StripeAnswerRow(
            name: "invalid-request", source: "docs.stripe.com/api/errors",
            matches: { status, error in
                [400, 402, 404].contains(status) && error.type == "invalid_request_error"
            },
            report: { reply, error, _ in
                AttemptReport(
                    .refused, code: ShortCode.of(error.code) ?? "invalid_request", namesKey: reply.namesKey)
            }),
        StripeAnswerRow(
            name: "declined", source: "docs.stripe.com/declines/codes",
            matches: { status, error in status == 402 && error.type == "card_error" },
            report: { reply, error, _ in
                AttemptReport(
                    .declined, code: ShortCode.of(error.declineCode ?? error.code) ?? "declined",
                    namesKey: reply.namesKey)
            }),
        // 500 and the others: stored under the key, and replayed for as long as it lives. Only reads tell.
    ]
}
