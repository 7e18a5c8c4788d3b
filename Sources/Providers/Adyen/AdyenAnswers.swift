internal import HTTPTransport
internal import PaymentCore

/// A complete answer of Adyen's, read as far as it can be read.
struct AdyenReply: Sendable {
    /// What the body is.
    enum Content: Sendable {
        /// An object, with a status of 200 to 299.
        case object(AnswerObject)
        /// An error code, with any other status (docs.adyen.com/development-resources/error-codes).
        case error(code: String)
        /// Anything else, with a short code that says what.
        case unreadable(String)
    }

    let status: Int
    let content: Content
    /// The key that the answer names: Adyen returns the header with what it processed under one.
    let key: String?
    /// Whether Adyen says that the same request may be sent again.
    let isTransient: Bool
    let retryAfter: RetryAfter?
    let bytesWritten: Int

    /// Reads an answer.
    init(_ response: HTTPResponse) {
        status = response.status
        bytesWritten = response.bytesWritten
        retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        let keys = response.fields.values(of: "Idempotency-Key")
        key = keys.count == 1 ? keys[0] : nil
        isTransient = response.fields.values(of: "transient-error") == ["true"]
        guard MediaType(response.fields) == .json else {
            content = .unreadable(response.body.isEmpty ? "empty_body" : "wrong_content_type")
            return
        }
        do {
            let object = try AnswerObject(body: response.body)
            if (200...299).contains(response.status) {
                content = .object(object)
            } else {
                content = .error(code: try object.text("errorCode"))
            }
        } catch {
            content = .unreadable("malformed_body")
        }
    }
}

// The table of answers that are errors: which class of outcome each belongs to. The first row that fits decides.
//
// A class that says "no effect" needs proof: Adyen itself said so, with a code that its documentation knows. A payment
// that was refused is no error: it is a result
// (docs.adyen.com/online-payments/build-your-integration/payment-result-codes).
enum AdyenAnswers {
    /// A row of the table.
    struct Row: Sendable {
        /// Its name, for tests and pages.
        let name: String
        /// Where Adyen says so.
        let source: String
        let statuses: Set<Int>
        /// The error codes; `nil` for any.
        let codes: Set<String>?
        let outcome: OutcomeClass
        var credentialsRefused = false
    }

    private static let idempotency = "docs.adyen.com/development-resources/api-idempotency"
    private static let errors = "docs.adyen.com/development-resources/error-codes"
    private static let statuses = "docs.adyen.com/development-resources/response-handling"

    static let rows: [Row] = [
        // A request under the key is being processed: this one did nothing.
        Row(name: "in-progress", source: idempotency, statuses: [409, 422], codes: ["704"], outcome: .throttled),
        // The store of keys is away. Adyen's advice to send without a key is not followed: it would charge twice.
        Row(name: "keys-unavailable", source: idempotency, statuses: [422, 503], codes: ["703"], outcome: .throttled),
        Row(name: "rate-limited", source: statuses, statuses: [429], codes: nil, outcome: .throttled),
        Row(
            name: "credentials", source: statuses, statuses: [401, 403], codes: nil, outcome: .refused,
            credentialsRefused: true),
        Row(name: "invalid", source: errors, statuses: [400, 404, 422], codes: nil, outcome: .refused),
        // 500, 502, 503, 504, and whatever is not known: nothing says that nothing was executed. The same request under
        // the same key tells.
    ]

    /// The outcome of a reply that is an error.
    ///
    /// - Parameter key: what was sent as the idempotency key. Only an answer that names it is about this request.
    static func report(of reply: AdyenReply, key: EffectKey, at now: Timestamp) -> AttemptReport {
        guard case .error(let code) = reply.content else {
            let word = if case .unreadable(let word) = reply.content { word } else { "malformed_body" }
            let isSuccess = (200...299).contains(reply.status)
            return AttemptReport(
                .indeterminate, code: isSuccess ? word : "http_\(reply.status)", bytesWritten: reply.bytesWritten)
        }
        let row = rows.first { $0.statuses.contains(reply.status) && ($0.codes?.contains(code) ?? true) }
        let short = "adyen_\(ShortCode.of(code) ?? String(reply.status))"
        guard let row else {
            return AttemptReport(.indeterminate, code: "http_\(reply.status)", bytesWritten: reply.bytesWritten)
        }
        // What may be sent again as it is was not refused for good.
        let outcome = row.outcome == .refused && reply.isTransient ? .indeterminate : row.outcome
        return AttemptReport(
            outcome, code: short, retryAfter: reply.retryAfter?.moment(from: now),
            credentialsRefused: row.credentialsRefused, namesKey: reply.key == key.text,
            bytesWritten: reply.bytesWritten)
    }
}
