extension ComparisonMachine {
    /// A position in work.
    struct Item: Sendable {
        /// The key.
        let key: EffectKey
        /// What the page of the listing shows.
        var listed: ListedPosition?
        /// What the store knows.
        var known: KnownPosition
        /// The page that shows it.
        var page: Page?
        /// The listing showed it once where it does not show it now, and both sides agreed then.
        var isLeftOut = false
        /// What the provider is being asked, or was.
        var asked: KeyQuestion?
        /// What it said.
        var answer: KeyAnswer?

        /// A transaction of a listing.
        init(key: EffectKey, listed: ListedPosition, on page: Page) {
            self.key = key
            self.listed = listed
            self.page = page
            known = KnownPosition(key: key, ours: nil, row: nil)
        }

        /// A position of the store.
        init(known: KnownPosition) {
            key = known.key
            self.known = known
        }

        /// A position that a page of the listing should show.
        init(leftOut known: KnownPosition) {
            self.init(known: known)
            isLeftOut = true
        }

        /// Whether it was left out of the listing, now or when it was looked at last, and nobody said more.
        var wasLeftOut: Bool { isLeftOut || listed == nil && known.row?.row == ComparisonMachine.leftOut }

        /// The page shows the key once more. A transaction that changes while the page is read comes twice, and so does
        /// a key that has two.
        mutating func show(_ position: ListedPosition) {
            listed = isBesideListed(position) ? listed?.beside(position) : Item.joined(listed, position)
        }

        /// What the provider is asked. What was left out is looked for in the listing, wherever it is now.
        ///
        /// - Parameter isOfListing: the provider has no inquiry under our key.
        func question(isOfListing: Bool) -> KeyQuestion {
            let untold = (theirs?.untold ?? []) + moments(where: known.row?.theirs?.isShared == true)
            return KeyQuestion(
                key: key, payment: known.ours?.payment, listedAt: wasLeftOut ? nil : listedAt,
                earlier: Set(isOfListing ? untold : untold + unsure).sorted(), isOfListing: isOfListing)
        }

        /// The moments of money that was shown while ours was too young to be judged, or that the listing left out. An
        /// inquiry may show another transaction than that, and the listing tells whether it is still there (seeds
        /// 1828034621, 1815318362).
        private var unsure: [Timestamp] { moments(where: known.row?.finding == .inFlight || wasLeftOut) }

        /// The moments of money that is remembered. Of several transactions under one key, what is shown now may have
        /// become of any: which ones stand as they were, the listing tells (seed 1638175275).
        private func moments(where isAsked: Bool) -> [Timestamp] {
            guard isAsked, let lines = known.row?.theirs?.lines else { return [] }
            return lines.filter { $0.holdsMoney && $0.createdAt == nil }.compactMap(\.updatedAt)
        }

        /// What is shown of the key: each of its transactions as it was shown last.
        var theirs: ListedPosition? { shown?.arranged(for: known.ours) }

        /// What was shown of the key so far.
        private var seen: ListedPosition? {
            guard let row = known.row, let remembered = row.theirs, let listed, !listed.isShared,
                listed.createdAt == nil, let changed = listed.updatedAt, isBeside(remembered, of: row, changed)
            else { return Item.joined(known.row?.theirs, listed) }
            return remembered.beside(listed)
        }

        /// Whether what the page shows is kept beside all that is remembered.
        ///
        /// A change older than what is remembered is late, or another transaction: until the listing is asked which,
        /// both are kept. And what earlier pages of the same run show as it is at the run's horizon did not become
        /// what this page shows of another moment before it. Money that was shown while ours was too young to be judged
        /// was never compared with ours: it may be a second transaction that was listed alone (seed 1188413395).
        private func isBeside(_ remembered: ListedPosition, of row: ComparedPosition, _ changed: Timestamp) -> Bool {
            let moments = remembered.lines.map(\.updatedAt)
            if row.finding == .inFlight, Item.holdsMoney(remembered),
                moments.allSatisfy({ $0.map { $0 < changed } ?? false })
            {
                return true
            }
            if moments.allSatisfy({ $0.map { $0 > changed } ?? false }) { return true }
            guard let page, row.run == page.run, changed < page.horizon else { return false }
            return moments.allSatisfy { $0.map { $0 != changed && page.window.contains($0) } ?? false }
        }

        private var shown: ListedPosition? {
            switch answer {
            case .shown(let position, _) where asked?.isOfListing != true && isBesideListed(position):
                let remembered = known.row?.theirs?.joined(by: position, isAnswer: true) ?? position
                return listed.map { remembered.beside($0) } ?? remembered
            case .shown(let position, let isListed):
                let all = seen?.joined(by: position, isAnswer: true) ?? position
                // A listing that withholds the key says nothing of its other lines (seed 1638175275).
                guard all.isShared, isListed == true else { return all }
                // A line that the listing was asked for, and does not show any more, became the later one.
                let askedFor = Set(all.untold).intersection(asked?.earlier ?? [])
                return all.without(askedFor, keeping: position.lines)
            // Money that was shown is not explained away by an inquiry that does not find it.
            case .absent: return listed == nil && !Item.holdsMoney(seen) ? nil : seen
            case .unavailable, nil: return seen
            }
        }

        /// Whether it is another transaction than those that the page shows: none of them changed since the page was
        /// read, and they bear different dates.
        private func isBesideListed(_ position: ListedPosition) -> Bool {
            guard let listed, let settledBefore = page?.settledBefore, let changed = position.updatedAt,
                changed < settledBefore
            else { return false }
            return listed.lines.allSatisfy { line in
                line.updatedAt.map { $0 < settledBefore && $0 != changed } ?? false
            }
        }

        /// Whether an inquiry shows nothing, or a key without money, where the listing showed money.
        ///
        /// - Parameter isForgotten: the provider may not show a status any more, so that its silence says nothing.
        func isDenied(_ theirs: ListedPosition?, isForgotten: Bool) -> Bool {
            guard let theirs, theirs.line.holdsMoney else { return false }
            switch answer {
            case .absent: return !isForgotten
            case .shown(let position, _):
                return position.line.isEnded && !position.lines.contains(where: \.holdsMoney)
            case .unavailable, nil: return false
            }
        }

        /// The latest change that the listing showed.
        var listedAt: Timestamp? {
            var latest = known.row?.listedAt
            if let shown = listed?.updatedAt { latest = max(latest ?? shown, shown) }
            if case .shown(let position, isListed: true) = answer, let shown = position.updatedAt {
                latest = max(latest ?? shown, shown)
            }
            return latest
        }

        /// Whether the listing withholds it: that is known once it was looked for there.
        var isHidden: Bool {
            guard listed == nil else { return false }
            switch answer {
            case .shown(_, let isListed): return isListed == false
            case .absent, .unavailable, nil: return known.row?.finding == .hidden
            }
        }

        private static func holdsMoney(_ position: ListedPosition?) -> Bool {
            position?.lines.contains(where: \.holdsMoney) ?? false
        }

        /// What both show together; the second is what was shown later, where the provider does not say.
        static func joined(_ first: ListedPosition?, _ second: ListedPosition?) -> ListedPosition? {
            guard let first, let second else { return first ?? second }
            return first.joined(by: second)
        }
    }

    /// A page of the listing, as far as it tells what became of what.
    struct Page: Sendable {
        /// The run that read it.
        let run: ComparisonRunID
        /// What was listed.
        let window: ComparedWindow
        /// What changed before this moment is shown as it is by every page of the run.
        let horizon: Timestamp
        /// What changed before this moment is shown by the page as it still is. An inquiry after the page that shows
        /// another change from before it shows another transaction.
        let settledBefore: Timestamp?
    }

    /// What became of a position when it was judged.
    enum Judgement: Sendable {
        /// It was judged before, and nothing changed.
        case passedOver
        /// It is this.
        case found(ComparisonTable.Verdict)
    }

    /// Judges a batch: asks the provider about whatever looks like a difference, and plans once that is answered.
    mutating func judge(_ now: Timestamp) -> [ComparisonOrder] {
        guard let items = batch?.items else { return [.letGo] }
        let judgements = items.map { judgement($0, now) }
        batch?.judgements = judgements
        guard batch?.wasAsked == false else { return plan(now) }
        let places = judgements.indices.filter { isWorthAsking(items[$0], judgements[$0]) }
        guard !places.isEmpty else { return plan(now) }
        let isOfListing = contract.inquiry != .byOwnKey
        let questions = places.map { items[$0].question(isOfListing: isOfListing) }
        for (place, question) in zip(places, questions) { batch?.items[place].asked = question }
        return [.ask(questions)]
    }

    private func judgement(_ item: Item, _ now: Timestamp) -> Judgement {
        isPassedOver(item, now) ? .passedOver : .found(verdict(item, now))
    }

    /// A listing may lag behind, and what is remembered may be old: before anything is called a difference, and before
    /// one that is known is judged again, the provider is asked for the key.
    private func isWorthAsking(_ item: Item, _ judgement: Judgement) -> Bool {
        guard case .found(let verdict) = judgement else { return false }
        // A provider without an inquiry is asked through its listing, for the moments that it showed.
        if contract.inquiry != .byOwnKey {
            return verdict.finds.isDifference && !item.question(isOfListing: true).earlier.isEmpty
        }
        // Of lines that may be one transaction, one may be over although nothing differs (seed 1250199027).
        let isAmbiguous = verdict.finds == .inFlight && item.theirs?.untold.isEmpty == false
        return item.wasLeftOut || verdict.finds.isDifference || isAmbiguous
            || run.checkpoint.phase == .unsettled && verdict.finds.isUnsettled
    }

    /// What was judged in this run and did not change since, or was asked for a short while ago.
    private func isPassedOver(_ item: Item, _ now: Timestamp) -> Bool {
        if item.listed == nil, foundDry.contains(item.key) { return true }
        // Where nobody can be asked, it cannot be told from what changed since and is listed later.
        if item.isLeftOut { return contract.inquiry != .byOwnKey }
        if isAwaitingListing(item) { return true }
        guard item.listed == nil, let row = item.known.row, row.ours == item.known.ours else { return false }
        if row.run == run.id { return true }
        guard run.checkpoint.phase == .unsettled else { return false }
        return row.comparedAt + settings.askAgainAfter > now
    }

    /// What a position is.
    private func verdict(_ item: Item, _ now: Timestamp) -> ComparisonTable.Verdict {
        let theirs = item.theirs
        let isForgotten = isForgotten(item.known.ours, now)
        var surroundings = ComparisonFacts.Surroundings(
            horizon: run.horizon, refundVisibility: contract.refundVisibility, isHidden: item.isHidden,
            isPruned: item.known.isPruned)
        // Where statuses are forgotten, the silence of an inquiry never denies what the listing shows: how old the
        // provider's own record is, nobody here knows.
        surroundings.isDenied = item.isDenied(theirs, isForgotten: contract.statusRetention != nil)
        surroundings.store = store
        let facts = ComparisonFacts(
            ours: item.known.ours, named: item.known.named, theirs: theirs, in: surroundings)
        let verdict = table.classify(facts)
        if item.wasLeftOut, item.answer == .unavailable {
            return ComparisonTable.Verdict(row: ComparisonMachine.leftOut, finds: .inFlight)
        }
        guard verdict.finds.isDifference else { return verdict }
        if item.answer == .unavailable {
            return ComparisonTable.Verdict(row: "provider.silent", finds: .inFlight)
        }
        if theirs == nil, isForgotten {
            return ComparisonTable.Verdict(row: "provider.forgot", finds: .inFlight)
        }
        if isBehindListing(item) { return ComparisonTable.Verdict(row: ComparisonMachine.behind, finds: .inFlight) }
        return verdict
    }

    /// The row for what the listing left out, and the provider could not be asked for.
    static let leftOut = "listing.left-out"
    /// The row for what the listing has to be read further for.
    static let behind = "listing.behind"

    /// A provider that cannot be asked for a key says something of it in its listing only, under the latest change.
    /// What changed after this window's end is missing in it, and what is remembered of it is old: it is a difference
    /// once the listing was read past the moment at which it was missing first.
    private func isBehindListing(_ item: Item) -> Bool {
        guard contract.inquiry != .byOwnKey, item.listed == nil else { return false }
        guard let row = item.known.row else { return true }
        let wasMissing = row.row == ComparisonMachine.behind && row.ours == item.known.ours
        return !wasMissing && !row.finding.isDifference
    }

    /// Whether it was missing in a listing that was not read past that moment yet. A run that somebody asks for leaves
    /// gaps besides: what changed since the provider showed it last, and before the run's window, is for the chain.
    private func isAwaitingListing(_ item: Item) -> Bool {
        guard contract.inquiry != .byOwnKey, item.listed == nil, let row = item.known.row,
            row.row == ComparisonMachine.behind, row.ours == item.known.ours
        else { return false }
        let since = row.listedAt ?? row.ours?.askedAt ?? row.comparedAt
        if run.kind == .asked, run.window.from > since { return true }
        return run.window.to <= row.comparedAt + contract.clockSkew
    }

    /// Whether the provider may not show a status any more, so that its silence proves nothing. What counts is when it
    /// was silent: a run may rest for days between two of its steps.
    private func isForgotten(_ ours: BookedPosition?, _ now: Timestamp) -> Bool {
        guard let ours, let retention = contract.statusRetention else { return false }
        return now - (ours.askedAt ?? ours.updatedAt) > retention - contract.clockSkew
    }
}
