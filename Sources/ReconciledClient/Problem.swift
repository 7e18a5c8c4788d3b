public import Foundation

/// What the daemon says when it does not do what it was asked (RFC 9457).
public struct Problem: Sendable, Hashable, Decodable {
    /// The site that is active.
    public struct ActiveSite: Sendable, Hashable, Decodable {
        /// Its name.
        public let name: String
        /// Where callers reach it, if the daemon's configuration says so.
        public let url: URL?
    }

    /// What happened, such as `/problems/too-late`. Decide by it.
    public let type: String
    /// The same for people.
    public let title: String
    /// The status of the answer.
    public let status: Int
    /// More for people.
    public let detail: String?
    /// The member, parameter or header that is at fault.
    public let field: String?
    /// Whether the same request with the same key may succeed after a short while.
    public let retryable: Bool?
    /// The payment that it is about.
    public let paymentID: String?
    /// Which site is active, where this one is not.
    public let activeSite: ActiveSite?

    private enum CodingKeys: String, CodingKey {
        case type, title, status, detail, field, retryable
        case paymentID = "payment_id"
        case activeSite = "active_site"
    }

    /// Whether the token is at fault, and not the request.
    var isOfToken: Bool { status == 401 || status == 403 }

    /// Whether nothing is recorded of the request, although it may be repeated.
    var isOfNothing: Bool { status == 429 || status == 503 }

    /// Whether the daemon keeps something under the key: another request, an answer, or that it is spent.
    var isKept: Bool {
        ["/problems/idempotency-key-reused", "/problems/idempotency-key-spent", "/problems/too-late"].contains(type)
    }
}

extension Problem: CustomStringConvertible {
    public var description: String {
        let place = field.map { " (\($0))" } ?? ""
        return "\(status) \(type): \(detail ?? title)\(place)"
    }
}
