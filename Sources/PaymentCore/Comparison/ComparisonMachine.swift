/// The machine of one run of the comparison: events go in, orders come out.
///
/// Pure: it reads no clock and does no I/O. It works in batches of a page; each becomes durable in one step with the
/// place where the run goes on, so that a crash repeats at most one batch, and repeats it alike. Failures of a store or
/// of a provider are no events: whoever executes the orders lets go of the run, and begins a new machine on what is
/// stored.
public struct ComparisonMachine: Sendable {
    /// The run as it was recorded last.
    public internal(set) var run: ComparisonRun
    let settings: ComparisonSettings
    let contract: ProviderContract
    let table: ComparisonTable
    var batch: Batch?
    var reading = Reading.nothing
    /// What stood when the proof began.
    var closing = NetSums()
    var explained: [Currency: ExplainedDifference] = [:]
    /// What a dry run found so far: it writes no row from which its next phase could tell.
    var foundDry: Set<EffectKey> = []

    /// The listing's next page, which is read while the one before it is compared.
    enum Reading: Sendable {
        case nothing
        case underWay
        case there(ListedPage)
    }

    /// A page in work.
    struct Batch: Sendable {
        /// Its positions.
        var items: [Item]
        /// Where the run goes on after it.
        var after: ComparisonRun.Checkpoint
        /// The provider was asked.
        var wasAsked = false
        /// The discrepancies that it is about, once they were read.
        var discrepancies: [DiscrepancyID: Discrepancy]?
        /// What was carried out already.
        var carriedOut: Set<SettlementOrder> = []
        /// The step that waits for what is carried out, or is on its way.
        var step: ComparisonStep?
    }

    /// A machine for a run that was claimed.
    public init(
        run: ComparisonRun, contract: ProviderContract, settings: ComparisonSettings,
        table: ComparisonTable = .shipped
    ) {
        self.run = run
        self.contract = contract
        self.settings = settings
        self.table = table
    }

    /// Handles one event.
    public mutating func handle(_ event: ComparisonEvent, at now: Timestamp) -> [ComparisonOrder] {
        switch event {
        case .claimed: return beginPhase()
        case .standing(let sums): return stands(sums, now)
        case .page(let page):
            guard batch == nil else {
                reading = .there(page)
                return []
            }
            return open(page)
        case .cursorRefused:
            return refused()
        case .known(let known):
            take(known)
            return judge(now)
        case .ours(let page): return open(ours: page, now)
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
            reading = .underWay
            return [.readPage(cursor: run.checkpoint.cursor, limit: settings.pageSize)]
        case .ours: return [.readOurs(after: run.checkpoint.place, limit: settings.pageSize)]
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
            let phase = run.checkpoint.phase
            run = step.run.stored(version: version)
            batch = nil
            guard phase == .listing, run.checkpoint.phase == .listing else { return beginPhase() }
            switch reading {
            case .there(let page): return open(page)
            case .underWay: return []
            case .nothing: return beginPhase()
            }
        }
    }

    /// Rows are written in the place of those before, so that nothing is lost by reading the listing again. A page in
    /// work is finished first; the refusal comes again then.
    private mutating func refused() -> [ComparisonOrder] {
        reading = .nothing
        guard batch == nil else { return [] }
        var next = run
        next.checkpoint = ComparisonRun.Checkpoint(.listing)
        return record(ComparisonStep(run: next))
    }
}

extension ComparisonMachine {
    /// Begins a page of the listing, and has the next one read meanwhile.
    mutating func open(_ page: ListedPage) -> [ComparisonOrder] {
        var after = ComparisonRun.Checkpoint(page.next == nil ? .ours : .listing)
        after.cursor = page.next
        var places: [EffectKey: Int] = [:]
        var items: [Item] = []
        for position in page.positions {
            // A transaction that changes while the pages are read comes twice.
            if let place = places[position.key] {
                items[place].listed = Item.later(items[place].listed, position)
            } else {
                places[position.key] = items.count
                items.append(Item(key: position.key, listed: position))
            }
        }
        batch = Batch(items: items, after: after)
        reading = page.next == nil ? .nothing : .underWay
        let ahead = page.next.map { ComparisonOrder.readPage(cursor: $0, limit: settings.pageSize) }
        return [.lookUp(items.compactMap { $0.listed.map { PositionQuestion($0) } })] + (ahead.map { [$0] } ?? [])
    }

    private mutating func open(ours page: [KnownPosition], _ now: Timestamp) -> [ComparisonOrder] {
        let isLast = page.count < settings.pageSize
        var after = ComparisonRun.Checkpoint(isLast ? .unsettled : .ours)
        if !isLast { after.place = page.last?.ours.map { BookedPlace($0) } }
        batch = Batch(items: page.map { Item(known: $0) }, after: after)
        return judge(now)
    }

    private mutating func open(unsettled page: [KnownPosition], _ now: Timestamp) -> [ComparisonOrder] {
        let isLast = page.count < settings.pageSize
        var after = ComparisonRun.Checkpoint(isLast ? .proof : .unsettled)
        if !isLast { after.key = page.last?.key }
        batch = Batch(items: page.map { Item(known: $0) }, after: after)
        return judge(now)
    }

    private mutating func take(_ known: [KnownPosition]) {
        let byKey = Dictionary(known.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        for index in batch?.items.indices ?? 0..<0 {
            guard let key = batch?.items[index].key, let found = byKey[key] else { continue }
            batch?.items[index].known = found
        }
    }

    private mutating func take(_ answers: [EffectKey: KeyAnswer]) {
        batch?.wasAsked = true
        for index in batch?.items.indices ?? 0..<0 where batch?.items[index].isAsked == true {
            guard let key = batch?.items[index].key else { continue }
            batch?.items[index].answer = answers[key] ?? .unavailable
        }
    }
}
