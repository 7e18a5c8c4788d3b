internal import HTTPTransport
internal import PaymentCore

/// One kind of request to a provider, as a type: what goes over the wire and what the answer to it means.
///
/// A request is a value. It is sent once for each time that it is handed to a ``ProviderClient``, never more
/// often.
protocol ProviderRequest: Sendable {
    /// What the answer is read into.
    associatedtype Response: Sendable
    /// The JSON body.
    associatedtype Body: Encodable & Sendable = NoBody
    /// Why an answer cannot be read; `Never` where every answer is a response, as it is for changes of money:
    /// there, an answer that cannot be read is itself a finding.
    associatedtype ReadingFailure: Error = AnswerFailure

    /// The constant name of the operation in logs and metrics.
    static var label: String { get }
    /// The constant name of the endpoint, at which the provider may count requests: the label, where no other operation
    /// goes to the same one.
    static var endpoint: String { get }
    /// The method.
    var method: HTTPMethod { get }
    /// The path below the provider's base address, in segments that are not yet percent-encoded.
    var path: [String] { get }
    /// Names and values of the query, not yet percent-encoded.
    var query: [(name: String, value: String)] { get }
    /// The body; `nil` for none.
    var body: Body? { get }
    /// Header fields beside those that every request has.
    var fields: [(name: String, value: String)] { get }
    /// Names and values of a form, which is sent in place of ``body``; `nil` for none.
    var form: [(name: String, value: String)]? { get }
    /// The moment after which the provider must not execute it.
    var notAfter: Timestamp? { get }
    /// Requests with the same key are never on the wire together.
    var flightKey: String? { get }
    /// The largest answer that is read, in bytes.
    var maximumResponseBytes: Int { get }
    /// Reads a complete answer.
    func decode(_ response: HTTPResponse) throws(ReadingFailure) -> Response
}

/// The body of a request that has none.
struct NoBody: Encodable, Sendable {}

extension ProviderRequest {
    static var endpoint: String { label }
    var query: [(name: String, value: String)] { [] }
    var fields: [(name: String, value: String)] { [] }
    var form: [(name: String, value: String)]? { nil }
    var notAfter: Timestamp? { nil }
    var flightKey: String? { nil }
    /// A transaction with its captures and refunds has room in it.
    var maximumResponseBytes: Int { 256 * 1024 }
}

extension ProviderRequest where Body == NoBody {
    var body: NoBody? { nil }
}

/// A request whose answer is one page of many.
protocol PaginatedRequest: ProviderRequest where Response: ResultPage, ReadingFailure == AnswerFailure {
    /// The same question, from where a page ended. Its answers must get somewhere: a page that leads back to one that
    /// was read is a failure to read it.
    func continued(from cursor: Response.Cursor) -> Self
}

/// One page of a list.
protocol ResultPage: Sendable {
    /// What says where a page begins.
    associatedtype Cursor: Sendable
    /// Where the next page begins; `nil` on the last one.
    var next: Cursor? { get }
}

/// Why an answer is not what was asked for.
struct AnswerFailure: Error, Sendable, Hashable {
    /// A short constant code.
    let code: String
    /// The status of the answer.
    let status: Int
    /// How long the provider wants to be left alone, where it said so.
    let retryAfter: RetryAfter?
}
