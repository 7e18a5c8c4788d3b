internal import HTTPTransport
public import PaymentCore
public import Reconciler

/// The listing of a provider of the reference contract, within the provider's budget and behind its breaker like any
/// other request.
struct ReferenceListing: ListingProvider {
    let client: ProviderClient
    let reading: ObservationReading
    let clock: any WallClock

    func list(_ order: ListingOrder) async throws(ListingFailure) -> ListedPage {
        var cursor: ListingCursor?
        if let kept = order.cursor {
            cursor = ListingCursor(kept: kept)
            if cursor == nil { throw ListingFailure(.cursorRefused, code: "cursor_unreadable") }
        }
        let request = ListTransactions(window: order.window, cursor: cursor, limit: order.limit)
        do {
            return ListedPage(try await client.perform(request), reading: reading)
        } catch {
            throw ListingFailure(error, isContinued: cursor != nil, now: clock.now())
        }
    }
}

extension ReferenceProvider {
    /// Its listing; `nil` if its contract says that it has none.
    public var listing: (any ListingProvider)? {
        contract.listing ? ReferenceListing(client: client, reading: reading, clock: clock) : nil
    }

    /// Every page of a window, one request for each, in order.
    ///
    /// It ends with a failure where a page cannot be had, and can then be begun again at the last ``ListedPage/next``
    /// with ``listing``.
    ///
    /// - Parameters:
    ///   - window: when they last changed, by the provider's clock.
    ///   - pageSize: how many transactions at the most are read, and held in memory, at one time.
    public func pages(
        of window: ComparedWindow, pageSize: Int = 200
    ) -> some AsyncSequence<ListedPage, ProviderCallFailure> & Sendable {
        let reading = reading
        let limit = ListingOrder(window: window, limit: pageSize).limit
        return Paginator(first: ListTransactions(window: window, cursor: nil, limit: limit), client: client)
            .map { ListedPage($0, reading: reading) }
    }
}

extension ListedPage {
    init(_ page: TransactionPage, reading: ObservationReading) {
        self.init(positions: page.entries.map { reading.position(of: $0) }, next: page.next?.kept)
    }
}

extension ObservationReading {
    /// A transaction of a listing.
    func position(of entry: TransactionPage.Entry) -> ListedPosition {
        let transaction = entry.transaction
        let observation = observation(of: transaction, for: nil, began: entry.place.instant, source: .inquiry)
        let key = EffectKey(reported: transaction.key)
        let payment = transaction.payment.flatMap { PaymentID(text: $0) }
        return ListedPosition(
            observation, key: key, payment: payment, leg: transaction.leg, updatedAt: entry.place.instant,
            phases: phases)
            // Not reached: a transaction always has a status. All the same it is shown, never left out.
            ?? ListedPosition(
                key: key, payment: payment, leg: transaction.leg, status: .pending, amount: nil, captured: nil,
                refunds: [], updatedAt: entry.place.instant, contradiction: "status_unreadable")
    }
}

extension ListingFailure {
    /// What a failed request means for whoever reads the listing.
    ///
    /// - Parameter isContinued: whether the request named a cursor.
    init(_ failure: ProviderCallFailure, isContinued: Bool, now: Timestamp) {
        let kind: Kind =
            switch failure.status ?? 0 {  // 0: there was no answer.
            case 0, 408, 425, 429, 500...599: .passing
            case 200: .malformed
            case 400, 404, 410, 422: isContinued ? .cursorRefused : .refused
            default: .refused
            }
        self.init(kind, code: failure.code, retryAt: failure.retryAfter?.moment(from: now))
    }
}
