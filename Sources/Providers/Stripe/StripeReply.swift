internal import HTTPTransport
internal import PaymentCore

/// A complete answer of Stripe's, read as far as it can be read.
struct StripeReply: Sendable {
    /// What the body is.
    enum Content: Sendable {
        /// An object or a list, with a status of 200 to 299.
        case object(AnswerObject)
        /// An error object, with any other status.
        case error(StripeError)
        /// Anything else, with a short code that says what.
        case unreadable(String)
    }

    let status: Int
    let content: Content
    /// Whether it names the key of the request that it answers.
    let namesKey: Bool
    /// Whether it is the stored answer to an earlier request under the key, which may be a day old.
    let isReplay: Bool
    let retryAfter: RetryAfter?
    let bytesWritten: Int

    /// Reads an answer to a request with a key, or to one without.
    init(_ response: HTTPResponse, to key: String?) {
        status = response.status
        bytesWritten = response.bytesWritten
        retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        namesKey = key != nil && response.fields.values(of: "Idempotency-Key") == [key ?? ""]
        isReplay = Self.isReplay(response.fields)
        guard MediaType(response.fields) == .json else {
            content = .unreadable(response.body.isEmpty ? "empty_body" : "wrong_content_type")
            return
        }
        do {
            let object = try AnswerObject(body: response.body)
            content =
                (200...299).contains(response.status) ? .object(object) : .error(try StripeError(object))
        } catch {
            content = .unreadable("malformed_body")
        }
    }

    static func isReplay(_ fields: HTTPFields) -> Bool { fields["Idempotent-Replayed"]?.lowercased() == "true" }

    /// The object, read as what it should be; `nil` if it is none.
    func read<Value>(_ value: (AnswerObject) throws(MalformedAnswer) -> Value) -> Value? {
        guard case .object(let object) = content else { return nil }
        do { return try value(object) } catch { return nil }
    }

    /// Why it is no object that can be read, for the audit trail.
    var code: String {
        switch content {
        case .object: "malformed_body"
        case .error(let error): ShortCode.of(error.code ?? error.type) ?? "http_\(status)"
        case .unreadable(let code): (200...299).contains(status) ? code : "http_\(status)"
        }
    }
}
