internal import HTTPTransport
internal import PaymentCore

/// A complete answer of PayPay's, read as far as it can be read.
///
/// Every answer has a `resultInfo` with a code, and a `data` that may be empty
/// (www.paypay.ne.jp/opa/doc/v1.0/direct_debit).
struct PayPayReply: Sendable {
    /// What the body is.
    enum Content: Sendable {
        /// `data`, with a status of 200 to 299; `nil` where there is none.
        case data(AnswerObject?)
        /// A code, with any other status.
        case error(String)
        /// Anything else, with a short code that says what.
        case unreadable(String)
    }

    let status: Int
    let content: Content
    let retryAfter: RetryAfter?
    let bytesWritten: Int

    /// Reads an answer.
    init(_ response: HTTPResponse) {
        status = response.status
        bytesWritten = response.bytesWritten
        retryAfter = response.fields["Retry-After"].flatMap(RetryAfter.init)
        guard MediaType(response.fields) == .json else {
            content = .unreadable(response.body.isEmpty ? "empty_body" : "wrong_content_type")
            return
        }
        do {
            let object = try AnswerObject(body: response.body)
            let code = try object.object("resultInfo").text("code")
            content =
                (200...299).contains(response.status) ? .data(try object.optionalObject("data")) : .error(code)
        } catch {
            content = .unreadable("malformed_body")
        }
    }

    /// The data, read as what it should be; `nil` if it is none.
    func read<Value>(_ value: (AnswerObject) throws(MalformedAnswer) -> Value) -> Value? {
        guard case .data(let object?) = content else { return nil }
        do { return try value(object) } catch { return nil }
    }

    /// Whether it says that there is nothing under what was asked for.
    var isMissing: Bool {
        guard case .error("RESOURCE_NOT_FOUND") = content else { return false }
        return status == 404
    }

    /// Whether it is a success that PayPay itself wrote, whatever its data.
    var isSuccess: Bool {
        if case .data = content { return true }
        return false
    }

    /// Why its data cannot be read, for the audit trail.
    var code: String {
        switch content {
        case .data(nil): "no_transaction"
        case .data: "malformed_body"
        case .error(let code): ShortCode.of(code) ?? "http_\(status)"
        case .unreadable(let code): (200...299).contains(status) ? code : "http_\(status)"
        }
    }
}
