extension ComparisonMachine {
    /// A page in work.
    struct Batch: Sendable {
        /// Its positions.
        var items: [Item]
        /// Where each key is among them.
        private(set) var indexByKey: [EffectKey: Int]
        /// Where the run goes on after it.
        var after: ComparisonRun.Checkpoint
        /// What the store knows of its keys is there.
        var isLookedUp: Bool
        /// The part of the listing that it is, without the moment at which the page before ended: what agreed and was
        /// listed there once, and is not on it, was left out.
        var part: ComparedWindow?
        /// What was in work when the store was asked what it knows: its rows are written meanwhile.
        var besides: Set<EffectKey> = []
        /// The provider was asked.
        var wasAsked = false
        /// Legs of ours that belong to it, and need no judgement.
        var unchanged = 0
        /// What its positions were judged to be by what is known of them now, in their order.
        var judgements: [Judgement] = []
        /// The discrepancies that it is about, once they were read.
        var discrepancies: [DiscrepancyID: Discrepancy]?
        /// What was carried out already.
        var carriedOut: Set<SettlementOrder> = []
        /// The step that waits for what is carried out, or is on its way.
        var step: ComparisonStep?

        /// Positions of the store.
        init(items: [Item], after: ComparisonRun.Checkpoint) {
            self.items = items
            self.after = after
            indexByKey = Dictionary(items.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
            isLookedUp = true
        }

        /// A page of the listing.
        ///
        /// - Parameters:
        ///   - askedAt: when it was asked for.
        ///   - margin: what changed so long before something was asked for is shown as it is.
        init(_ page: ListedPage, of run: ComparisonRun, from: Timestamp?, askedAt: Timestamp?, margin: Span) {
            var indexByKey: [EffectKey: Int] = [:]
            let shown = Page(
                run: run.id, window: run.listingWindow, horizon: run.horizon, askedAt: askedAt, margin: margin)
            items = []
            items.reserveCapacity(page.positions.count)
            for position in page.positions {
                if let index = indexByKey[position.key] {
                    items[index].show(position)
                } else {
                    indexByKey[position.key] = items.count
                    items.append(Item(key: position.key, listed: position, on: shown))
                    items[items.count - 1].disputes = page.disputes[position.key] ?? []
                }
            }
            self.indexByKey = indexByKey
            after = ComparisonRun.Checkpoint(page.next == nil ? .ours : .listing)
            after.cursor = page.next
            let window = run.listingWindow
            let last = page.next == nil ? nil : page.positions.last?.updatedAt
            if page.next != nil { after.listedUpTo = last ?? from }
            isLookedUp = false
            part = ComparedWindow(
                from: from.map { $0 + .milliseconds(1) } ?? window.from,
                to: last.map { $0 + .milliseconds(1) } ?? window.to)
        }

        /// Takes in what the store knows of a key. One that is not on the page was left out of the listing, unless the
        /// page before it shows it: its row is about to be another (seed 352419033: its money was moved twice).
        mutating func take(_ found: KnownPosition) {
            if let index = indexByKey[found.key] {
                items[index].known = found
            } else if !besides.contains(found.key) {
                indexByKey[found.key] = items.count
                items.append(Item(leftOut: found))
            }
        }

        /// What is to be looked up of a page of the listing.
        var questions: [PositionQuestion] { items.compactMap { $0.listed.map { PositionQuestion($0) } } }
    }
}
