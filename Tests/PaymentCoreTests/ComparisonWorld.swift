import PaymentCore
import SeededChance
import Testing

/// A provider, our books and a store of comparisons, small enough to see through; it carries out what the machine of a
/// run orders, in any order in which that may happen, and crashes where chance wants it.
final class ComparisonWorld {
    /// What chance may do.
    struct Faults {
        var chance: SeededChance
        /// In so many of a hundred orders the process ends, before or after it.
        var crashes = 0
        /// Before so many of a hundred steps a person comments on a discrepancy that the step is about.
        var comments = 0
    }

    var books: [EffectKey: BookedPosition] = [:]
    var provider: [EffectKey: ListedPosition] = [:]
    /// The disputes that the listing shows.
    var disputes: [EffectKey: [Dispute]] = [:]
    /// What the listing withholds.
    var hidden: Set<EffectKey> = []
    /// What the provider does not answer about.
    var silent: Set<EffectKey> = []
    /// What its listing shows, and its inquiry does not any more.
    var forgotten: Set<EffectKey> = []
    /// How long the provider takes to answer about keys.
    var askingTakes = Span.zero

    var run: ComparisonRun
    var rows: [EffectKey: ComparedPosition] = [:]
    var discrepancies: [DiscrepancyID: Discrepancy] = [:]
    var findings: [DiscrepancyID: RunFinding] = [:]
    var standing = NetSums()

    var settings = ComparisonSettings()
    var contract = ProviderContract.reference
    var now: Timestamp
    var faults: Faults
    var carriedOut: [SettlementOrder] = []
    var asked: [KeyQuestion] = []
    var steps = 0
    var crashes = 0
    /// The cursor that is refused until the listing is begun again.
    var refusedCursor: String?
    var refusals = 0
    var largestBatch = 0
    /// What the listing shows besides, before all others.
    var alsoListed: [ListedPosition] = []
    /// What the listing shows in windows before this run's, for whoever asks for its moment.
    var listedEarlier: [ListedPosition] = []
    /// Sees every step before it is recorded.
    var beforeRecord: (ComparisonWorld, ComparisonStep) -> Void = { _, _ in }

    struct Stuck: Error { let orders: [ComparisonOrder] }

    init(run: ComparisonRun, seed: UInt64 = 1) throws {
        self.run = run
        now = run.createdAt
        faults = Faults(chance: SeededChance(seed: seed))
        settings.pageSize = 3
    }

    /// A world whose first run is finished.
    static func compared(_ prepare: (ComparisonWorld) throws -> Void) throws -> ComparisonWorld {
        let world = try ComparisonWorld(run: Compared.run())
        try prepare(world)
        try world.finish()
        return world
    }

    /// The discrepancy about a key, which must be there.
    func discrepancy(_ key: EffectKey) throws -> Discrepancy {
        try #require(discrepancies[DiscrepancyID(provider: Compared.provider(), subject: .transaction(key))])
    }

    /// Runs until the run is final.
    func finish() throws {
        for _ in 0..<10_000 where !run.state.isFinal { try work() }
        guard run.state.isFinal else { throw Stuck(orders: []) }
    }

    /// Plans the next run and finishes it.
    func finish(_ next: ComparisonRun) throws {
        (run, now, findings) = (next, next.createdAt, [:])
        try finish()
    }

    /// Works at the run until it is finished, let go of, or the process ends.
    private func work() throws {
        var machine = ComparisonMachine(
            run: run, contract: contract, settings: settings, store: Compared.store)
        var waiting = machine.handle(.claimed, at: now)
        while !waiting.isEmpty {
            let order = waiting.remove(at: faults.chance.below(waiting.count))
            if faults.chance.happens(percent: faults.crashes) {
                crashes += 1
                return
            }
            guard let event = try carryOut(order) else { return }
            if faults.chance.happens(percent: faults.crashes) {
                crashes += 1
                return
            }
            waiting += machine.handle(event, at: now)
        }
        throw Stuck(orders: waiting)
    }

    private func carryOut(_ order: ComparisonOrder) throws -> ComparisonEvent? {
        switch order {
        case .readStanding: return .standing(standing)
        case .readPage(let cursor, let limit): return page(after: cursor, limit)
        case .lookUp(let questions, let part):
            let asked = Set(questions.map(\.key))
            let listed = rows.values.filter { row in
                row.isAgreed && !asked.contains(row.key)
                    && row.listedAt.map { part?.contains($0) ?? false } ?? false
            }
            return .known(
                questions.map { known($0.key, names: $0.payment) }
                    + listed.map { known($0.key, names: $0.theirs?.payment) }.sorted { $0.key < $1.key })
        case .readOurs(let after, let limit):
            let changed = books.values.filter { run.booksWindow.contains($0.updatedAt) }
                .filter { position in after.map { BookedPlace(position) > $0 } ?? true }
                .sorted { BookedPlace($0) < BookedPlace($1) }
            return .ours(BookedPage(changed.prefix(limit).map { known($0.key, names: nil) }, limit: limit))
        case .readUnsettled(let key, let limit):
            let found = rows.values.filter { row in row.isUnsettled && key.map { row.key > $0 } ?? true }
                .sorted { $0.key < $1.key }
            return .unsettled(found.prefix(limit).map { known($0.key, names: $0.theirs?.payment) })
        case .ask(let questions):
            asked += questions
            now = now + askingTakes
            return .answers(
                Dictionary(questions.map { ($0.key, answer($0)) }, uniquingKeysWith: { first, _ in first }))
        case .readDiscrepancies(let ids): return .discrepancies(ids.compactMap { discrepancies[$0] })
        case .carryOut(let orders):
            carriedOut += orders
            return .carriedOut
        case .record(let step): return .recorded(try record(step))
        case .readDifferences: return .differences(try explained())
        case .finish, .letGo: return nil
        case .giveUp: throw Stuck(orders: [order])
        }
    }

    private func page(after cursor: String?, _ limit: Int) -> ComparisonEvent {
        if let cursor, cursor == refusedCursor {
            refusals += 1
            return .cursorRefused
        }
        if cursor == nil, refusals > 0 { refusedCursor = nil }
        let window = run.listingWindow
        let listed = provider.values.filter { !hidden.contains($0.key) && $0.updatedAt.map(window.contains) ?? false }
            .sorted { ($0.updatedAt ?? now, $0.key) < ($1.updatedAt ?? now, $1.key) }
        let from = cursor.flatMap { Int($0) } ?? 0
        let part = Array((alsoListed + listed).dropFirst(from).prefix(limit))
        let next = from + part.count
        return .page(
            ListedPage(
                positions: part, next: next < listed.count + alsoListed.count ? String(next) : nil,
                disputes: disputes))
    }

    private func known(_ key: EffectKey, names payment: PaymentID?) -> KnownPosition {
        let ours = books[key]
        let named = ours == nil ? books.values.first { $0.payment == payment } : nil
        return KnownPosition(key: key, ours: ours, named: named, row: rows[key])
    }

    private func answer(_ question: KeyQuestion) -> KeyAnswer {
        if silent.contains(question.key) { return .unavailable }
        guard !question.isOfListing else { return listed(question) }
        guard let shown = provider[question.key], !forgotten.contains(question.key) else { return .absent }
        let earlier = (alsoListed + listedEarlier).filter { line in
            line.key == question.key && line.updatedAt.map(question.earlier.contains) ?? false
        }
        let all = earlier.reduce(shown) { $0.beside($1) }
        let isLater = shown.updatedAt.map { shown in question.listedAt.map { shown > $0 } ?? true } ?? false
        return .shown(all, isListed: isLater ? !hidden.contains(question.key) : question.listedAt.map { _ in true })
    }

    /// What the listing shows of a key at the moments of a question.
    private func listed(_ question: KeyQuestion) -> KeyAnswer {
        let lines = (alsoListed + listedEarlier + provider.values).filter { line in
            line.key == question.key && line.updatedAt.map(question.earlier.contains) ?? false
        }
        guard let latest = lines.first(where: { $0.updatedAt == question.earlier.max() }) else { return .unavailable }
        return .shown(lines.reduce(latest) { $0.beside($1) }, isListed: true)
    }

    private func explained() throws -> [Currency: ExplainedDifference] {
        var (named, flying) = (NetSums(), NetSums())
        for found in discrepancies.values { try named.count(ours: found.oursNet, theirs: found.theirsNet) }
        for row in rows.values where row.finding == .inFlight && !row.isNamed {
            try flying.count(ours: row.ours?.net, theirs: row.theirs?.net)
        }
        var explained: [Currency: ExplainedDifference] = [:]
        for currency in Set(named.byCurrency.keys).union(flying.byCurrency.keys) {
            explained[currency] = ExplainedDifference(
                discrepancies: named[currency].ours - named[currency].theirs,
                inFlight: flying[currency].ours - flying[currency].theirs)
        }
        return explained
    }

    private func record(_ step: ComparisonStep) throws -> StepResult {
        guard step.run.version == run.version else { return .versionConflict }
        beforeRecord(self, step)
        if let found = step.discrepancies.compactMap({ discrepancies[$0.id] }).first,
            faults.chance.happens(percent: faults.comments)
        {
            var commented = found
            try commented.handle(.commented("looked at it", by: "ada"), at: now)
            discrepancies[found.id] = commented.stored(version: found.version + 1)
        }
        guard step.discrepancies.allSatisfy({ (discrepancies[$0.id]?.version ?? 0) == $0.version }) else {
            return .discrepancyConflict
        }
        steps += 1
        largestBatch = max(largestBatch, step.positions.count)
        run = step.run.stored(version: run.version + 1)
        for row in step.positions { rows[row.key] = row }
        for found in step.discrepancies { discrepancies[found.id] = found.stored(version: found.version + 1) }
        for finding in step.findings { findings[finding.discrepancy] = finding }
        try standing.add(step.moved)
        return .recorded(version: run.version)
    }
}
