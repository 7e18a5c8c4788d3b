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

    func find(_ question: KeyQuestion) async -> KeyAnswer {
        guard !question.isOfListing else { return await findListed(question) }
        let request = GetTransaction(transactionKey: question.key.text)
        let answer: ProviderAnswer
        do {
            answer = request.decode(try await client.exchange(request))
        } catch {
            return .unavailable
        }
        switch answer.content {
        case .transaction(let transaction) where answer.status == 200 && reading.key(transaction.key) == question.key:
            let position = reading.position(of: transaction, updatedAt: transaction.updatedAt)
            let isListed = await isListed(position, question)
            guard isListed != nil, let all = await joined(position, with: question.earlier) else {
                return .shown(position, isListed: nil)
            }
            return .shown(all, isListed: isListed)
        case .problem(let document) where ReferenceProblem(document, status: answer.status) == .notFound:
            return .absent
        default:
            return .unavailable
        }
    }

    /// What the listing shows of a key at the moments of a question.
    private func findListed(_ question: KeyQuestion) async -> KeyAnswer {
        var moments = question.earlier.sorted()
        guard let latest = moments.popLast(),
            let position = await lines(under: question.key, changedAt: latest)?.reduce(nil, ReferenceListing.beside),
            let all = await joined(position, with: moments)
        else { return .unavailable }
        return .shown(all, isListed: true)
    }

    private static func beside(_ all: ListedPosition?, _ line: ListedPosition) -> ListedPosition? {
        all?.beside(line) ?? line
    }

    /// So many pages of one millisecond are read; what changes as much at once is not looked for any further.
    private static let mostPages = 10

    /// Whether the listing shows a change; `nil` where that cannot be known.
    private func isListed(_ position: ListedPosition, _ question: KeyQuestion) async -> Bool? {
        guard let changed = position.updatedAt else { return nil }
        if let listedAt = question.listedAt, listedAt >= changed { return true }
        return await lines(under: position.key, changedAt: changed).map { !$0.isEmpty }
    }

    /// The position with each transaction that the listing still shows under its key at earlier moments; `nil` where
    /// that cannot be known.
    private func joined(_ position: ListedPosition, with earlier: [Timestamp]) async -> ListedPosition? {
        var all = position
        for moment in earlier where moment != position.updatedAt {
            guard let lines = await lines(under: position.key, changedAt: moment) else { return nil }
            for line in lines { all = all.beside(line) }
        }
        return all
    }

    /// What the listing shows under a key that changed last at a moment; `nil` where that cannot be known.
    private func lines(under key: EffectKey, changedAt moment: Timestamp) async -> [ListedPosition]? {
        guard let window = ComparedWindow(from: moment, to: moment + .milliseconds(1)) else { return nil }
        var order = ListingOrder(window: window, limit: ListingOrder.largestPage)
        var found: [ListedPosition] = []
        for _ in 0..<ReferenceListing.mostPages {
            do {
                let page = try await list(order)
                found += page.positions.filter { $0.key == key }
                guard let next = page.next else { return found }
                order.cursor = next
            } catch {
                return nil
            }
        }
        return nil
    }
}

extension ReferenceProvider {
    /// Its listing; `nil` if its contract says that it has none.
    public var listing: (any ListingProvider)? {
        contract.listing ? ReferenceListing(client: client, reading: reading(of: nil), clock: clock) : nil
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
        let reading = reading(of: nil)
        let limit = ListingOrder(window: window, limit: pageSize).limit
        return Paginator(first: ListTransactions(window: window, cursor: nil, limit: limit), client: client)
            .map { ListedPage($0, reading: reading) }
    }
}

extension ListedPage {
    init(_ page: TransactionPage, reading: ObservationReading) {
        let disputed = page.entries.filter { !$0.transaction.disputes.isEmpty }
            .map { (reading.key($0.transaction.key), reading.disputes(of: $0.transaction)) }
        self.init(
            positions: page.entries.map { reading.position(of: $0) }, next: page.next?.kept,
            disputes: Dictionary(disputed, uniquingKeysWith: +))
    }
}

extension ObservationReading {
    /// A transaction of a listing.
    func position(of entry: TransactionPage.Entry) -> ListedPosition {
        position(of: entry.transaction, updatedAt: entry.position.instant)
    }

    /// A transaction, as it is compared.
    func position(of transaction: WireTransaction, updatedAt: Timestamp?) -> ListedPosition {
        let began = updatedAt ?? Timestamp(milliseconds: 0)
        let observation = observation(of: transaction, for: nil, began: began, source: .inquiry)
        let key = key(transaction.key)
        let payment = transaction.payment.flatMap { PaymentID(text: $0) }
        return ListedPosition(
            observation, key: key, payment: payment, leg: transaction.leg, createdAt: transaction.createdAt,
            updatedAt: updatedAt, store: transaction.store, phases: transaction.phases ?? phases)
            // Not reached: a transaction always has a status. All the same it is shown, never left out.
            ?? ListedPosition(
                key: key, payment: payment, leg: transaction.leg, status: .pending, amount: nil, captured: nil,
                refunds: [], createdAt: transaction.createdAt, updatedAt: updatedAt,
                contradiction: "status_unreadable", store: transaction.store)
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

extension WireTransaction {
    /// In how many steps it takes its money, where the provider says so.
    fileprivate var phases: ProviderContract.Phases? {
        switch kind {
        case .authorize: .authorizeCapture
        case .sale: .sale
        case nil: nil
        }
    }
}
