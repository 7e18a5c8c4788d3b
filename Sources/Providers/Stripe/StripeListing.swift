internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// Stripe's books, in the order of their last changes.
///
/// No list of Stripe's has that order. It is made of two: the charges that were made, and the balance transactions,
/// which tell when money moved. A transaction is listed at its latest change, and read whole. What moves no money, such
/// as the release of a hold, leaves a transaction where it was listed before.
struct StripeListing: ListingProvider {
    let provider: StripeProvider
    let reading: StripeReading

    /// What one request asks for at the most.
    private static let pageSize = 50
    /// So many pages of one second are read.
    private static let mostPages = 20

    init(_ provider: StripeProvider) {
        self.provider = provider
        // Whether a charge was held first, its own amounts tell.
        reading = provider.reading(.authorizeCapture)
    }

    /// Reads one or more slices of the window, until one shows something. A page may be longer than was asked for
    /// where so much changed in one second.
    func list(_ order: ListingOrder) async throws(ListingFailure) -> ListedPage {
        var slice: StripeSlice
        do {
            guard let first = try StripeSlice(order) else {
                return ListedPage(positions: [], next: nil)
            }
            slice = first
        } catch {
            throw ListingFailure(.cursorRefused, code: "cursor_unreadable")
        }
        let limit = max(1, min(Self.pageSize, order.limit / 2))
        while true {
            guard let changes = try await changes(in: slice, limit) else {
                slice.halve()
                continue
            }
            let page = try await page(of: changes, in: slice)
            let next = slice.next(isSparse: changes.count * 2 <= limit)
            // A page that shows nothing would say that all of the window after it was read.
            if page.positions.isEmpty, let next {
                slice = next
            } else {
                return ListedPage(positions: page.positions, next: next?.cursor, disputes: page.disputes)
            }
        }
    }

    func find(_ question: KeyQuestion) async -> KeyAnswer {
        if StripeCharge.isID(question.key.text) { return await findForeign(question.key) }
        switch await provider.find(question.key, isDated: true) {
        case .unknown: return .unavailable
        case .absent: return .absent
        case .found(let transaction):
            guard let listed = reading.listed(transaction) else { return .unavailable }
            return .shown(listed.position, isListed: await isListed(transaction, question))
        }
    }

    /// Whether the listing shows a transaction's latest change; `nil` where that cannot be known.
    private func isListed(_ transaction: StripeTransaction, _ question: KeyQuestion) async -> Bool? {
        guard let changed = transaction.changedAt else { return nil }
        if let listedAt = question.listedAt, listedAt >= changed { return true }
        // Where no money moved, it was just read from the list of charges.
        guard let source = transaction.lastMovement else { return true }
        do {
            return !(try await ask(ListMovements(by: source), of: StripeMovement.init)).data.isEmpty
        } catch {
            return nil
        }
    }

    /// A charge of another system is known by its own identifier.
    private func findForeign(_ key: EffectKey) async -> KeyAnswer {
        guard case .success(let reply) = await provider.exchange(RetrieveCharge(charge: key.text)) else {
            return .unavailable
        }
        if reply.status == 404, reply.code == "resource_missing" { return .absent }
        guard let charge = reply.read(StripeCharge.init), charge.id == key.text,
            case .success(let refunds) = await allRefunds(of: charge),
            let position = reading.position(ofForeign: charge, refunds: refunds, listedAt: nil)
        else { return .unavailable }
        return .shown(position, isListed: nil)
    }

    // MARK: Slices

    /// What a slice shows.
    private struct Changes {
        var charges: [StripeCharge]
        /// The latest movement of each charge whose money moved.
        var movedAt: [String: Timestamp]

        var count: Int { charges.count + movedAt.count }
    }

    /// What changed in a slice; `nil` if it has to be shorter.
    private func changes(in slice: StripeSlice, _ limit: Int) async throws(ListingFailure) -> Changes? {
        let charges = try await all(
            in: slice, request: { ListCreatedCharges(slice: slice, limit: limit, after: $0) }, of: StripeCharge.init,
            id: \.id, moment: \.created)
        guard let charges else { return nil }
        let movements = try await all(
            in: slice, request: { ListMovements(in: slice, limit: limit, after: $0) }, of: StripeMovement.init,
            id: \.id, moment: \.created)
        guard let movements else { return nil }
        var movedAt: [String: Timestamp] = [:]
        for movement in movements {
            guard let charge = movement.charge else { continue }
            movedAt[charge] = max(movedAt[charge] ?? movement.created, movement.created)
        }
        return Changes(charges: charges, movedAt: movedAt)
    }

    /// Every page of a slice; `nil` where one page does not hold it and it can be made shorter.
    private func all<Item: Sendable>(
        in slice: StripeSlice, request: (String?) -> some StripeRequest,
        of item: (AnswerObject) throws(MalformedAnswer) -> Item, id: (Item) -> String, moment: (Item) -> Timestamp?
    ) async throws(ListingFailure) -> [Item]? {
        var items: [Item] = []
        for _ in 0..<Self.mostPages {
            let page = try await ask(request(items.last.map(id)), of: item)
            for item in page.data {
                guard moment(item).map(slice.contains) ?? false else {
                    throw ListingFailure(.malformed, code: "outside_window")
                }
            }
            items += page.data
            if !page.hasMore { return items }
            if slice.isDivisible { return nil }
            guard !page.data.isEmpty else { throw ListingFailure(.malformed, code: "cursor_does_not_advance") }
        }
        throw ListingFailure(.malformed, code: "too_much_in_one_second")
    }

    // MARK: Transactions

    /// The transactions whose latest change lies in a slice, in order.
    private func page(of changes: Changes, in slice: StripeSlice) async throws(ListingFailure) -> ListedPage {
        var charges = changes.charges
        let known = Set(charges.map(\.id))
        for id in changes.movedAt.keys.sorted() where !known.contains(id) { charges.append(try await charge(id)) }
        var positions: [EffectKey: ListedPosition] = [:]
        var disputes: [EffectKey: [Dispute]] = [:]
        // Two charges of one key are read together.
        let times = Dictionary(charges.map { ($0.ourKey(reading), 1) }, uniquingKeysWith: +)
        for charge in charges {
            let listedAt = changes.movedAt[charge.id]
            guard let key = charge.ourKey(reading) else {
                let foreign = try await foreign(charge, listedAt)
                positions[foreign.key] = foreign
                continue
            }
            guard positions[key] == nil else { continue }
            let transaction = try await whole(charge, key, isAlone: times[key] == 1)
            guard let listed = reading.listed(transaction, at: listedAt) else {
                throw ListingFailure(.malformed, code: "status_unreadable")
            }
            positions[key] = listed.position
            disputes[key] = listed.disputes
        }
        // What changed again after the slice is listed there.
        let listed = positions.values.filter { $0.updatedAt.map { $0 < slice.endMoment } ?? false }
            .sorted { ($0.updatedAt ?? slice.endMoment, $0.key) < ($1.updatedAt ?? slice.endMoment, $1.key) }
        let keys = Set(listed.map(\.key))
        return ListedPage(positions: listed, next: nil, disputes: disputes.filter { keys.contains($0.key) })
    }

    /// All that is known under the key of a charge.
    private func whole(
        _ charge: StripeCharge, _ key: EffectKey, isAlone: Bool
    ) async throws(ListingFailure) -> StripeTransaction {
        let isComplete =
            isAlone && charge.isLast && !charge.hasMoreRefunds && !charge.isDisputed
            && charge.refunds?.allSatisfy { $0.cameBackBy == nil } == true
        if isComplete, let transaction = StripeTransaction([charge]) { return transaction }
        switch await provider.find(key, isDated: true) {
        case .found(let transaction): return transaction
        // It was listed just now: whoever denies it is behind.
        case .absent: throw ListingFailure(.passing, code: "charge_not_found")
        case .unknown(let unknown): throw failure(unknown)
        }
    }

    private func foreign(
        _ charge: StripeCharge, _ listedAt: Timestamp?
    ) async throws(ListingFailure) -> ListedPosition {
        let refunds: [StripeRefund]
        switch await allRefunds(of: charge) {
        case .success(let all): refunds = all
        case .failure(let unknown): throw failure(unknown)
        }
        guard let position = reading.position(ofForeign: charge, refunds: refunds, listedAt: listedAt) else {
            throw ListingFailure(.malformed, code: "status_unreadable")
        }
        return position
    }

    private func allRefunds(of charge: StripeCharge) async -> Result<[StripeRefund], StripeProvider.Unknown> {
        if let refunds = charge.refunds, !charge.hasMoreRefunds { return await provider.dated(refunds) }
        switch await provider.refunds(of: charge.id) {
        case .success(let refunds): return await provider.dated(refunds)
        case .failure(let unknown): return .failure(unknown)
        }
    }

    private func charge(_ id: String) async throws(ListingFailure) -> StripeCharge {
        let reply = try await reply(to: RetrieveCharge(charge: id))
        guard let charge = reply.read(StripeCharge.init), charge.id == id else { throw failure(reply) }
        return charge
    }

    // MARK: The wire

    private func ask<Item: Sendable>(
        _ request: some StripeRequest, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) async throws(ListingFailure) -> StripeList<Item> {
        let reply = try await reply(to: request)
        let list = reply.read { object throws(MalformedAnswer) in try StripeList(object, of: item) }
        guard let list else { throw failure(reply) }
        return list
    }

    private func reply(to request: some StripeRequest) async throws(ListingFailure) -> StripeReply {
        switch await provider.exchange(request) {
        case .success(let reply): return reply
        case .failure(let failure): throw ListingFailure(.passing, code: failure.auditCode)
        }
    }

    /// What could not be read beside the lists.
    private func failure(_ unknown: StripeProvider.Unknown) -> ListingFailure {
        ListingFailure(
            unknown.credentialsRefused ? .refused : .passing, code: unknown.code, retryAt: unknown.retryAfter)
    }

    private func failure(_ reply: StripeReply) -> ListingFailure {
        let kind: ListingFailure.Kind =
            switch reply.status {
            case 200...299: .malformed
            case 408, 409, 425, 429, 500...599: .passing
            default: .refused
            }
        // Stripe's own word for a key without the right is that of any wrong request.
        let code = [401, 403].contains(reply.status) ? "http_\(reply.status)" : reply.code
        return ListingFailure(
            kind, code: code, retryAt: reply.retryAfter?.moment(from: provider.clock.now()))
    }
}

extension StripeProvider {
    /// Its books; `nil` if its contract says that they are not compared.
    var listing: (any ListingProvider)? { contract.listing ? StripeListing(self) : nil }
}
