public import PaymentCore

/// A provider that lists its transactions by when they changed last.
///
/// A listing is no evidence in a decision about one payment, because it may lag behind; that is what inquiries are for.
public protocol ListingProvider: Sendable {
    /// Reads one page, with one request at the most, within the provider's rate and time limits.
    ///
    /// A page is complete or it is a failure: what cannot be read, is out of order or lies outside of the window is
    /// never left out.
    ///
    /// - Throws: Why there is no page. The same page can be asked for again.
    func list(_ order: ListingOrder) async throws(ListingFailure) -> ListedPage

    /// Asks for one key: what the provider shows of it to whoever names it, and whether its listing shows that too. The
    /// listing is read only where the change that is shown is not ``KeyQuestion/listedAt``.
    ///
    /// Returns within the provider's time limits. A failure is an answer too: ``KeyAnswer/unavailable``.
    func find(_ question: KeyQuestion) async -> KeyAnswer
}

extension PaymentProvider {
    /// None, for a provider that cannot list.
    public var listing: (any ListingProvider)? { nil }
}

/// Which page of a listing is wanted.
public struct ListingOrder: Sendable, Hashable {
    /// The largest page that may be asked for.
    public static let largestPage = 1_000

    /// When the transactions changed last, by the provider's clock.
    public var window: ComparedWindow
    /// ``ListedPage/next`` of the page before, which must be of the same window; `nil` for the first page.
    public var cursor: String?
    /// How many transactions are wanted at the most, 1 to ``largestPage``.
    public var limit: Int

    /// A page; the limit is brought within its bounds.
    public init(window: ComparedWindow, cursor: String? = nil, limit: Int = 200) {
        self.window = window
        self.cursor = cursor
        self.limit = min(max(limit, 1), ListingOrder.largestPage)
    }
}

/// Why a page of a listing could not be had.
public struct ListingFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// What may help.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Time: there was no answer, or the provider or our own budget had no room.
        case passing
        /// To begin the window again: the provider does not take the cursor any more.
        case cursorRefused = "cursor_refused"
        /// A person: the provider refuses the question itself, such as its credentials.
        case refused
        /// A person: the answer is no page of this listing. It cannot be read, is out of order, goes round in a circle,
        /// or holds what was not asked for.
        case malformed
    }

    /// What may help.
    public let kind: Kind
    /// A short constant code, such as `http_429`, `malformed_body` or `out_of_order`.
    public let code: String
    /// Before when the provider does not want to be asked again, where it said so.
    public let retryAt: Timestamp?

    /// A failure.
    public init(_ kind: Kind, code: String, retryAt: Timestamp? = nil) {
        self.kind = kind
        self.code = code
        self.retryAt = retryAt
    }

    /// Kind and code.
    public var description: String { "listing \(kind.rawValue): \(code)" }
}
