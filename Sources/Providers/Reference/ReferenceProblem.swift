/// The problems that the reference contract documents (`openapi/provider.yaml`), each with its one status.
///
/// Only these are evidence that a request was not executed. A status code alone is not: a gateway that lost
/// the answer may say 503, a misrouted proxy 404, and neither has asked the provider.
enum ReferenceProblem: String, Sendable, Hashable, CaseIterable {
    /// The request is malformed.
    case invalidRequest = "/problems/invalid-request"
    /// The provider does not know the instrument.
    case unknownInstrument = "/problems/unknown-instrument"
    /// No bearer token, or not a good one.
    case unauthorized = "/problems/unauthorized"
    /// Nothing is recorded under the key.
    case notFound = "/problems/not-found"
    /// The request came past its `Not-After`.
    case notAfterPassed = "/problems/not-after-passed"
    /// The body is too large.
    case bodyTooLarge = "/problems/body-too-large"
    /// The body is not JSON.
    case unsupportedMediaType = "/problems/unsupported-media-type"
    /// The key is bound to another body.
    case keyReused = "/problems/key-reused"
    /// More than was held, or than was captured and not yet refunded.
    case amountTooLarge = "/problems/amount-too-large"
    /// Another currency than the transaction's.
    case currencyMismatch = "/problems/currency-mismatch"
    /// Too fast; not executed.
    case rateLimited = "/problems/rate-limited"
    /// Not accepting now; not executed.
    case unavailable = "/problems/unavailable"

    /// The status under which the contract documents it.
    var status: Int {
        switch self {
        case .invalidRequest, .unknownInstrument: 400
        case .unauthorized: 401
        case .notFound: 404
        case .notAfterPassed: 410
        case .bodyTooLarge: 413
        case .unsupportedMediaType: 415
        case .keyReused, .amountTooLarge, .currencyMismatch: 422
        case .rateLimited: 429
        case .unavailable: 503
        }
    }

    /// The short code of the audit trail, such as `amount_too_large`.
    var code: String {
        let word = rawValue.dropFirst("/problems/".count)
        return String(word.map { $0 == "-" ? "_" : $0 })
    }

    /// The documented problem, if the status line, the document's own status and its type agree that it is
    /// one.
    init?(_ document: ProblemDocument, status: Int) {
        guard let problem = ReferenceProblem(rawValue: document.type), problem.status == status,
            document.status == nil || document.status == status
        else { return nil }
        self = problem
    }
}
