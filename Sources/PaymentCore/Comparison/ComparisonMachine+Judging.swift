extension ComparisonMachine {
    /// What became of a position when it was judged.
    enum Judgement: Sendable {
        /// It was judged before, and nothing changed.
        case passedOver
        /// It is this.
        case found(ComparisonTable.Verdict)
    }

    /// Judges a batch: asks the provider about whatever looks like a difference, and plans once that is answered.
    mutating func judge(_ now: Timestamp) -> [ComparisonOrder] {
        guard let batch else { return [.letGo] }
        let items = batch.items
        let judgements = items.indices.map { index in
            // Time went on while the provider was asked: whatever it was not asked for is what it was before (seed
            // 3693566213).
            batch.wasAsked && items[index].asked == nil ? batch.judgements[index] : judgement(items[index], now)
        }
        self.batch?.judgements = judgements
        guard !batch.wasAsked else { return plan(now) }
        let indices = judgements.indices.filter { isWorthAsking(items[$0], judgements[$0]) }
        guard !indices.isEmpty else { return plan(now) }
        let isOfListing = contract.inquiry != .byOwnKey
        let questions = indices.map { items[$0].question(isOfListing: isOfListing) }
        for (index, question) in zip(indices, questions) { self.batch?.items[index].asked = question }
        return [.ask(questions)]
    }

    private func judgement(_ item: Item, _ now: Timestamp) -> Judgement {
        isPassedOver(item, now) ? .passedOver : .found(verdict(item, now))
    }

    /// A listing may lag behind, and what is remembered may be old: before anything is called a difference, and before
    /// one that is known is judged again, the provider is asked for the key.
    private func isWorthAsking(_ item: Item, _ judgement: Judgement) -> Bool {
        guard case .found(let verdict) = judgement else { return false }
        // Of lines that may be one transaction, one may be over although nothing differs (seeds 1250199027,
        // 1536128419), or have become the other, which was given back (seed 1086).
        let isAmbiguous =
            [.inFlight, .matched].contains(verdict.finds) && item.theirs?.untold.isEmpty == false
        // A provider without an inquiry is asked through its listing, for the moments that it showed.
        if contract.inquiry != .byOwnKey {
            return (verdict.finds.isDifference || isAmbiguous) && !item.question(isOfListing: true).earlier.isEmpty
        }
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
        // Who asks for a run wants to know how it is now; what was compared since is known.
        if run.kind == .asked, row.comparedAt <= run.createdAt { return false }
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
        if isForgotten, theirs == nil || isOutdated(item) {
            return ComparisonTable.Verdict(row: "provider.forgot", finds: .inFlight)
        }
        if isForgotten, item.answer == .absent, verdict.row != ComparisonTable.refundedByOthers {
            return ComparisonTable.Verdict(row: ComparisonTable.forgotten, finds: verdict.finds)
        }
        if isBehindListing(item) { return ComparisonTable.Verdict(row: ComparisonMachine.behind, finds: .inFlight) }
        return verdict
    }

    /// Whether nothing is shown of it, and what is remembered was no difference, is older than our last request and may
    /// have become what our books say: what became of it since, nobody shows any more (seeds 25954150782060 and
    /// 27336791580121). Money that our books claim beyond that is never explained so.
    private func isOutdated(_ item: Item) -> Bool {
        guard item.listed == nil, item.answer == .absent, let row = item.known.row, !row.finding.isDifference,
            let ours = item.known.ours, let theirs = item.theirs, theirs.canBecome(ours),
            let changed = theirs.lastChange, let asked = ours.askedAt
        else { return false }
        return changed < asked + (Span.zero - contract.clockSkew)
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
