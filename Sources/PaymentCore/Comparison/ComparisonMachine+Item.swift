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
        /// The disputes that the page shows.
        var disputes: [Dispute] = []
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
        /// what this page shows of another moment before it. Money that was shown alone and did not agree with our
        /// books, or while ours was too young to be judged, may be a second transaction: nobody saw it become ours
        /// (seeds 1188413395 and 39582597121008).
        private func isBeside(_ remembered: ListedPosition, of row: ComparedPosition, _ changed: Timestamp) -> Bool {
            let moments = remembered.lines.map(\.updatedAt)
            if row.finding == .inFlight || row.finding.isDifference && !remembered.isShared,
                Item.holdsMoney(remembered), moments.allSatisfy({ $0.map { $0 < changed } ?? false })
            {
                return true
            }
            if moments.allSatisfy({ $0.map { $0 > changed } ?? false }) { return true }
            guard let page else { return false }
            // The provider was asked before it was called a difference. What it showed then did not become, before
            // that, what the page shows (seed 3693569685: of two holds ours ended, and the other stood).
            if row.finding.isDifference, Item.holdsMoney(remembered), changed < page.settled(before: row.comparedAt) {
                return moments.allSatisfy { $0.map { $0 != changed } ?? false }
            }
            guard row.run == page.run, changed < page.horizon else { return false }
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
        /// When it was asked for.
        let askedAt: Timestamp?
        /// What changed so long before something was asked for is shown as it is.
        let margin: Span

        /// What changed before this moment is shown by the page as it still is. An inquiry after the page that shows
        /// another change from before it shows another transaction.
        var settledBefore: Timestamp? { askedAt.map(settled) }

        /// What changed before this moment was shown as it was to whoever asked at another.
        func settled(before asked: Timestamp) -> Timestamp { asked + (Span.zero - margin) }
    }
}
