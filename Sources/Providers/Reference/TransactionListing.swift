public import PaymentCore
internal import Reconciler

/// A window of the provider's clock, by when transactions last changed.
///
/// Adjoining windows neither overlap nor leave a gap.
public struct ListingWindow: Sendable, Hashable {
    /// The beginning, inclusive; `nil` for everything before ``end``.
    public let start: Timestamp?
    /// The end, exclusive; `nil` for everything since ``start``.
    public let end: Timestamp?

    /// A window.
    public init(from start: Timestamp?, to end: Timestamp?) {
        self.start = start
        self.end = end
    }
}

/// A transaction as the provider lists it: for comparing both sides, and for finding what our rows do not
/// know.
///
/// It is no evidence in a decision about one payment, because a listing may lag behind; that is what
/// inquiries are for.
public struct ListedTransaction: Sendable, Hashable {
    /// The key of the authorization or sale.
    public let key: EffectKey
    /// The payment that its metadata names, if it is one of ours.
    public let payment: PaymentID?
    /// When it last changed, by the provider's clock.
    public let updatedAt: Timestamp
    /// Its status, amounts, captures and refunds.
    public let observation: Observation
}

/// One page of a listing.
public struct ListingPage: Sendable, Hashable {
    /// The transactions, by (updated at, key).
    public let transactions: [ListedTransaction]
    /// Where to go on; keep it to resume after a failure.
    ///
    /// `nil` on the last page.
    public let nextCursor: String?
}

extension ReferenceProvider {
    /// Every page of a window, one request for each, in order.
    ///
    /// It ends with a failure where a page cannot be had, and can then be begun again at the last
    /// ``ListingPage/nextCursor``.
    ///
    /// - Parameters:
    ///   - window: when they last changed.
    ///   - cursor: where to begin; `nil` for the beginning. It keeps the window that it came from.
    ///   - pageSize: how many transactions at the most are read, and held in memory, at one time; 1 to 1,000.
    /// - Returns: the pages.
    public func pages(
        of window: ListingWindow, from cursor: String? = nil, pageSize: Int = 200
    ) -> some AsyncSequence<ListingPage, ProviderCallFailure> & Sendable {
        let reading = reading
        let began = clock.now()
        let request = ListTransactions(
            updatedAfter: window.start, updatedBefore: window.end, cursor: cursor, limit: pageSize)
        return Paginator(first: request, client: client)
            .map { page in ListingPage(page, reading: reading, began: began) }
    }
}

extension ListingPage {
    /// `began` is when the listing was begun: no later than any of its reads.
    init(_ page: TransactionPage, reading: ObservationReading, began: Timestamp) {
        transactions = page.data.map { entry in
            ListedTransaction(
                key: EffectKey(reported: entry.transaction.key),
                payment: entry.transaction.payment.flatMap { PaymentID(text: $0) },
                updatedAt: entry.updatedAt,
                observation: reading.observation(
                    of: entry.transaction, for: nil, began: began, source: .inquiry))
        }
        nextCursor = page.nextCursor
    }
}
