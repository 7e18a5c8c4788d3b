internal import HTTPTransport
internal import PaymentCore

/// A complete answer, read as far as it can be read.
struct TemplateReply: Sendable {
    /// What the body is.
    enum Content: Sendable {
        /// A debit, with a status of 200 to 299.
        case debit(TemplateDebit)
        /// The code of `{"error": "CODE"}`, with any other status.
        case error(String)
        /// Anything else, with a short code that says what.
        case unreadable(String)
    }

    let status: Int
    let content: Content
    let retryAfter: RetryAfter?
    let bytesWritten: Int

    init(_ response: HTTPResponse) {
        status = response.status
        bytesWritten = response.bytesWritten
        retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        let isSuccess = (200...299).contains(response.status)
        // A gateway speaks HTML. Whatever it says, it has not asked the service.
        guard MediaType(response.fields) == .json else {
            content = .unreadable(isSuccess ? "wrong_content_type" : "http_\(response.status)")
            return
        }
        do {
            let object = try AnswerObject(body: response.body)
            content = isSuccess ? .debit(try TemplateDebit(object)) : .error(try object.text("error"))
        } catch {
            content = .unreadable(isSuccess ? "malformed_body" : "http_\(response.status)")
        }
    }
}

/// A row of the table of answers: which class of outcome an error belongs to.
struct TemplateAnswerRow: Sendable {
    /// Where the service's owners say so.
    let source: String
    let status: Int
    let codes: Set<String>
    let outcome: OutcomeClass
    /// The code in the audit trail; `nil`: the service's own.
    var short: String?
    var credentialsRefused = false
}

/// The table of answers.
///
/// A class that says "no effect" needs proof: the service itself said so, with a status and a code that its owners
/// documented together. Everything else is in doubt, and an inquiry follows.
enum TemplateAnswers {
    static let missing = "DEBIT_NOT_FOUND"

    static let rows: [TemplateAnswerRow] = [
        TemplateAnswerRow(
            source: "API, credentials", status: 401, codes: ["UNAUTHORIZED"], outcome: .refused,
            credentialsRefused: true),
        TemplateAnswerRow(source: "API, limits", status: 429, codes: ["RATE_LIMITED"], outcome: .throttled),
        // Its owners say that nothing is executed during maintenance. Of any other 503 nobody says so.
        TemplateAnswerRow(source: "API, maintenance", status: 503, codes: ["MAINTENANCE"], outcome: .throttled),
        TemplateAnswerRow(
            source: "API, debits", status: 422, codes: ["INSUFFICIENT_BALANCE", "ACCOUNT_CLOSED"], outcome: .declined),
        TemplateAnswerRow(
            source: "API, refunds", status: 422, codes: ["REFUND_DECLINED"], outcome: .declined),
        TemplateAnswerRow(
            source: "API, refunds", status: 422, codes: ["AMOUNT_TOO_LARGE"], outcome: .refused),
        TemplateAnswerRow(
            source: "API, debits", status: 404, codes: ["ACCOUNT_NOT_FOUND"], outcome: .refused),
        TemplateAnswerRow(
            source: "API, debits", status: 404, codes: [missing], outcome: .refused, short: "not_found"),
        // By what a read shows: the debit says which of them it is.
        TemplateAnswerRow(
            source: "API, states", status: 409, codes: ["NOT_DECIDED", "REVERSED", "REFUNDED", "DECLINED"],
            outcome: .refused),
        TemplateAnswerRow(
            source: "API, debits", status: 409, codes: ["REFERENCE_IN_USE"], outcome: .indeterminate,
            short: "key_conflict"),
        TemplateAnswerRow(source: "API, requests", status: 400, codes: ["INVALID_REQUEST"], outcome: .refused),
    ]

    /// The report of an error. It names no key: the service's errors do not say what they are about.
    static func report(of reply: TemplateReply, _ code: String, at now: Timestamp) -> AttemptReport {
        guard let row = rows.first(where: { $0.status == reply.status && $0.codes.contains(code) }) else {
            return AttemptReport(.indeterminate, code: "http_\(reply.status)")
        }
        return AttemptReport(
            row.outcome, code: row.short ?? ShortCode.of(code) ?? "http_\(reply.status)",
            retryAfter: reply.retryAfter?.moment(from: now), credentialsRefused: row.credentialsRefused,
            namesKey: false)
    }
}
