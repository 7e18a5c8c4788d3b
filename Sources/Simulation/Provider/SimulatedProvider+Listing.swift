internal import PaymentCore

/// What a provider lists, and what it says of one key, for whoever compares both sides.
extension SimulatedProvider {
    /// The transactions that changed last within a window, in order of that moment and their keys, after a cursor.
    ///
    /// - Parameter staleBy: how old the state is that it shows; never more than the contract's visibility lag.
    mutating func list(
        _ window: ComparedWindow, after cursor: String?, limit: Int, at now: Timestamp, staleBy: Span
    ) -> ListedPage {
        let sortKey = cursor.flatMap(ListedPlace.init(cursor:))
        var found: [(sortKey: ListedPlace, position: ListedPosition, disputes: [Dispute])] = []
        for index in transactions.indices {
            guard let position = listed(index, at: now, staleBy: staleBy), let changed = position.updatedAt,
                window.contains(changed)
            else { continue }
            let own = ListedPlace(changed: changed.milliseconds, key: position.key.text)
            if let sortKey, own <= sortKey { continue }
            let disputes = transactions[index].visibleState(at: moment(now, staleBy)).disputes
            found.append((own, position, disputes))
        }
        found.sort { $0.sortKey < $1.sortKey }
        let page = found.prefix(max(1, limit))
        let disputed = page.filter { !$0.disputes.isEmpty }.map { ($0.position.key, $0.disputes) }
        return ListedPage(
            positions: page.map(\.position), next: found.count > page.count ? page.last?.sortKey.cursor : nil,
            disputes: Dictionary(disputed, uniquingKeysWith: +))
    }

    /// What it says of a key, and whether its listing shows that too.
    mutating func find(_ question: KeyQuestion, at now: Timestamp, staleBy: Span) -> KeyAnswer {
        let indices = indicesByKey[question.key] ?? []
        guard !question.isOfListing else { return findListed(question, indices, at: now, staleBy: staleBy) }
        guard let index = indices.last, var shown = position(index, at: now, staleBy: staleBy) else { return .absent }
        for index in indices.dropLast() where !isHidden(question.key, at: now) {
            guard let line = position(index, at: now, staleBy: .zero), let changed = line.updatedAt,
                question.earlier.contains(changed)
            else { continue }
            shown = shown.beside(line)
        }
        if let listedAt = question.listedAt, let changed = shown.updatedAt, listedAt >= changed {
            return .shown(shown, isListed: true)
        }
        return .shown(shown, isListed: !isHidden(question.key, at: now))
    }

    private mutating func findListed(
        _ question: KeyQuestion, _ indices: [Int], at now: Timestamp, staleBy: Span
    ) -> KeyAnswer {
        var lines: [ListedPosition] = []
        for index in indices {
            guard let line = listed(index, at: now, staleBy: staleBy), let changed = line.updatedAt,
                question.earlier.contains(changed)
            else { continue }
            lines.append(line)
        }
        guard let latest = lines.first(where: { $0.updatedAt == question.earlier.max() }) else { return .unavailable }
        return .shown(lines.reduce(latest) { $0.beside($1) }, isListed: true)
    }

    private mutating func listed(_ index: Int, at now: Timestamp, staleBy: Span) -> ListedPosition? {
        // Of a key that was forgotten and used anew each transaction is shown: each is money.
        guard !isHidden(transactions[index].key, at: now) else { return nil }
        return position(index, at: now, staleBy: staleBy)
    }

    private func moment(_ now: Timestamp, _ staleBy: Span) -> Timestamp {
        now + (Span.zero - min(staleBy, contract.visibilityLag))
    }

    private mutating func position(_ index: Int, at now: Timestamp, staleBy: Span) -> ListedPosition? {
        transactions[index].settle(at: now, lag: contract.visibilityLag)
        let transaction = transactions[index]
        if transaction.isLost { return nil }
        if let retention = contract.statusRetention, now - transaction.changedAt > retention { return nil }
        let moment = moment(now, staleBy)
        guard transaction.firstUse <= moment else { return nil }
        let visibleState = transaction.visibleState(at: moment)
        guard visibleState.status != .notFound else { return nil }
        let seen = shown(transaction, visibleState, began: now, source: .inquiry)
        let isNamed = !transaction.isForeign
        return ListedPosition(
            seen, key: transaction.key, payment: isNamed ? transaction.payment : nil,
            leg: isNamed ? transaction.leg : nil, createdAt: saysWhenRecorded ? transaction.firstUse : nil,
            updatedAt: visibleState.since, store: transaction.store, phases: contract.phases)
    }
}

/// A place in a listing: the moment of the last change, and the key.
private struct ListedPlace: Comparable {
    let changed: Int64
    let key: String

    init(changed: Int64, key: String) {
        self.changed = changed
        self.key = key
    }

    init?(cursor: String) {
        let parts = cursor.split(separator: ":", maxSplits: 1)
        guard parts.count == 2, let changed = Int64(parts[0]) else { return nil }
        self.init(changed: changed, key: String(parts[1]))
    }

    var cursor: String { "\(changed):\(key)" }

    static func < (left: ListedPlace, right: ListedPlace) -> Bool {
        (left.changed, left.key) < (right.changed, right.key)
    }
}
