/// The machine of one run of the comparison: events go in, orders come out.
///
/// Pure: it reads no clock and does no I/O. It works in batches of a page; each becomes durable in one step with the
/// place where the run goes on, but for a few in a row of which nothing is to be remembered. So a crash repeats a
/// bounded part, and repeats it alike. Failures of a store or of a provider are no events: whoever executes the orders
/// lets go of the run, and begins a new machine on what is stored.
public struct ComparisonMachine: Sendable {
    /// The run as it was recorded last.
    public internal(set) var run: ComparisonRun
    let settings: ComparisonSettings
    let contract: ProviderContract
    let table: ComparisonTable
    let store: StoreID?
    var batch: Batch?
    var ahead = Ahead.nothing
    /// When the page that is being read was asked for.
    private var pageAskedAt: Timestamp?
    /// Pages since the last step that had nothing to write but how far the run got.
    var unrecorded = 0
    /// What stood when the proof began.
    var closing = NetSums()
    var explained: [Currency: ExplainedDifference] = [:]
    /// What a dry run found so far: it writes no row from which its next phase could tell.
    var foundDry: Set<EffectKey> = []

    /// The page after the one in work: it is read, and what is known of it looked up, while that one is judged and
    /// written. What is looked up must not be what is being written: a page with one of its keys waits.
    enum Ahead: Sendable {
        case nothing
        case reading
        case listed(Batch)
        case lookingUp(Batch)
        case known(Batch, [KnownPosition])
        case ours(BookedPage)
    }

    /// So many pages in a row may go without a step of their own, if there is nothing to write of them.
    static let mostUnrecorded = 16

    /// A machine for a run that was claimed, of a store; without its identity nothing is known to be another's.
    public init(
        run: ComparisonRun, contract: ProviderContract, settings: ComparisonSettings, store: StoreID? = nil,
        table: ComparisonTable = .shipped
    ) {
        self.run = run
        self.contract = contract
        self.settings = settings
        self.table = table
        self.store = store
    }

    /// Handles one event.
    public mutating func handle(_ event: ComparisonEvent, at now: Timestamp) -> [ComparisonOrder] {
        let orders = orders(after: event, now)
        let readsPage = orders.contains { order in
            if case .readPage = order { true } else { false }
        }
        if readsPage { pageAskedAt = now }
        return orders
    }

    private mutating func orders(after event: ComparisonEvent, _ now: Timestamp) -> [ComparisonOrder] {
        switch event {
        case .claimed: return beginPhase()
        case .standing(let sums): return stands(sums, now)
        case .page(let page):
            let next = Batch(
                page, of: run, from: (batch?.after ?? run.checkpoint).listedUpTo, askedAt: pageAskedAt,
                margin: contract.proofMargin)
            guard batch != nil else { return open(next) }
            ahead = .listed(next)
            return lookUpAhead()
        case .cursorRefused:
            return refused()
        case .known(let known): return looked(known, now)
        case .ours(let page):
            guard let batch else { return open(ours: page, now) }
            ahead = page.positions.contains { batch.indexByKey[$0.key] != nil } ? .nothing : .ours(page)
            return []
        case .unsettled(let page): return open(unsettled: page, now)
        case .answers(let answers):
            take(answers)
            return judge(now)
        case .discrepancies(let found):
            batch?.discrepancies = Dictionary(found.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
            return run.checkpoint.phase == .proof ? conclude(now) : plan(now)
        case .carriedOut: return batch?.step.map { [.record($0)] } ?? []
        case .recorded(let result): return recorded(result, now)
        case .differences(let differences):
            explained = differences
            let currencies = Set(closing.byCurrency.keys).union(differences.keys)
            return [
                .readDiscrepancies(
                    currencies.map { DiscrepancyID(provider: run.provider, subject: .balance($0)) }.sorted())
            ]
        }
    }

    /// What a phase begins with, or goes on with after a crash.
    mutating func beginPhase() -> [ComparisonOrder] {
        switch run.checkpoint.phase {
        case .opening: return [.readStanding]
        case .listing:
            ahead = .reading
            return [.readPage(cursor: run.checkpoint.cursor, limit: settings.pageSize)]
        case .ours: return [.readOurs(after: run.checkpoint.lastLeg, limit: settings.pageSize)]
        case .unsettled: return [.readUnsettled(after: run.checkpoint.key, limit: settings.pageSize)]
        case .proof: return [.readStanding]
        case .done: return [.finish]
        }
    }

    /// What stands is the opening at first, and the closing at the end.
    private mutating func stands(_ sums: NetSums, _ now: Timestamp) -> [ComparisonOrder] {
        if run.checkpoint.phase == .proof {
            closing = sums
            batch = Batch(items: [], after: ComparisonRun.Checkpoint(.done))
            return [.readDifferences]
        }
        var next = run
        next.state = .running
        next.startedAt = now
        if !run.isDry { next.opening = sums }
        next.checkpoint = ComparisonRun.Checkpoint(.listing)
        return record(ComparisonStep(run: next))
    }

    mutating func record(_ step: ComparisonStep) -> [ComparisonOrder] {
        if batch == nil { batch = Batch(items: [], after: step.run.checkpoint) }
        var step = step
        step.run.trouble = nil
        batch?.step = step
        return [.record(step)]
    }

    private mutating func recorded(_ result: StepResult, _ now: Timestamp) -> [ComparisonOrder] {
        guard let step = batch?.step else { return [.letGo] }
        switch result {
        case .leaseLost, .versionConflict: return [.letGo]
        case .discrepancyConflict:
            batch?.step = nil
            batch?.discrepancies = nil
            if run.checkpoint.phase == .proof { return [.readDifferences] }
            return plan(now)
        case .recorded(let version):
            unrecorded = 0
            return goOn(from: step.run.stored(version: version), now)
        }
    }

    /// Goes on after a page.
    mutating func goOn(from next: ComparisonRun, _ now: Timestamp) -> [ComparisonOrder] {
        let phase = run.checkpoint.phase
        run = next
        batch = nil
        guard phase == run.checkpoint.phase else { return beginPhase() }
        switch ahead {
        case .nothing: return beginPhase()
        case .reading, .lookingUp: return []
        case .listed(let next): return open(next)
        case .known(let next, let known): return open(next, known, now)
        case .ours(let page): return open(ours: page, now)
        }
    }

    /// Rows are written in the place of those before, so that nothing is lost by reading the listing again. A page in
    /// work is finished first; the refusal comes again then.
    private mutating func refused() -> [ComparisonOrder] {
        ahead = .nothing
        guard batch == nil else { return [] }
        var next = run
        next.checkpoint = ComparisonRun.Checkpoint(.listing)
        return record(ComparisonStep(run: next))
    }
}

extension ComparisonMachine {
    /// Begins a page of the listing, and has the next one read meanwhile.
    private mutating func open(_ page: Batch) -> [ComparisonOrder] {
        batch = page
        return [.lookUp(page.questions, listedIn: page.part)] + readAhead(page)
    }

    /// Begins a page of the listing of which was looked up already what is known.
    private mutating func open(_ page: Batch, _ known: [KnownPosition], _ now: Timestamp) -> [ComparisonOrder] {
        batch = page
        let orders = readAhead(page)
        return orders + looked(known, now)
    }

    private mutating func readAhead(_ page: Batch) -> [ComparisonOrder] {
        guard let cursor = page.after.cursor else {
            ahead = .nothing
            return []
        }
        ahead = .reading
        return [.readPage(cursor: cursor, limit: settings.pageSize)]
    }

    /// One look-up is on its way at a time: first that of the page in work, then that of the next.
    private mutating func lookUpAhead() -> [ComparisonOrder] {
        guard case .listed(var next) = ahead, let batch, batch.isLookedUp,
            !next.items.contains(where: { batch.indexByKey[$0.key] != nil })
        else { return [] }
        next.besides = Set(batch.indexByKey.keys)
        ahead = .lookingUp(next)
        return [.lookUp(next.questions, listedIn: next.part)]
    }

    private mutating func looked(_ known: [KnownPosition], _ now: Timestamp) -> [ComparisonOrder] {
        if batch?.isLookedUp == false {
            take(known)
            let orders = lookUpAhead()
            return orders + judge(now)
        }
        guard case .lookingUp(let next) = ahead else { return [.letGo] }
        guard batch == nil else {
            ahead = .known(next, known)
            return []
        }
        return open(next, known, now)
    }

    private mutating func open(ours page: BookedPage, _ now: Timestamp) -> [ComparisonOrder] {
        let isLast = page.next == nil
        var after = ComparisonRun.Checkpoint(isLast ? .unsettled : .ours)
        after.lastLeg = page.next
        batch = Batch(items: page.positions.map { Item(known: $0) }, after: after)
        batch?.unchanged = page.unchanged
        ahead = isLast ? .nothing : .reading
        let orders: [ComparisonOrder] = isLast ? [] : [.readOurs(after: after.lastLeg, limit: settings.pageSize)]
        return orders + judge(now)
    }

    private mutating func open(unsettled page: [KnownPosition], _ now: Timestamp) -> [ComparisonOrder] {
        let isLast = page.count < settings.pageSize
        var after = ComparisonRun.Checkpoint(isLast ? .proof : .unsettled)
        if !isLast { after.key = page.last?.key }
        batch = Batch(items: page.map { Item(known: $0) }, after: after)
        return judge(now)
    }

    private mutating func take(_ known: [KnownPosition]) {
        batch?.isLookedUp = true
        for found in known { batch?.take(found) }
    }

    private mutating func take(_ answers: [EffectKey: KeyAnswer]) {
        batch?.wasAsked = true
        for index in batch?.items.indices ?? 0..<0 where batch?.items[index].asked != nil {
            guard let key = batch?.items[index].key else { continue }
            batch?.items[index].answer = answers[key] ?? .unavailable
        }
    }
}
