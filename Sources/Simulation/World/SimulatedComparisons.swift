public import PaymentCore
internal import Reconciler

/// What a store keeps of comparisons, by the rules of its port.
public struct SimulatedComparisons: Sendable {
    /// To which run a lane belongs, and the lease on it.
    struct Lane {
        var run: ComparisonRunID
        var token: LeaseToken
        /// Who holds the lease; empty if nobody.
        var holder: String
        var until: Timestamp
    }

    /// A transaction of a provider.
    struct Place: Hashable {
        let provider: ProviderName
        let key: EffectKey
    }

    /// The runs.
    public internal(set) var runs: [ComparisonRunID: ComparisonRun] = [:]
    /// The heads of the providers' chains.
    public internal(set) var heads: [ProviderName: ComparisonRunID] = [:]
    var lanes: [String: Lane] = [:]
    var rows: [Place: ComparedPosition] = [:]
    /// The discrepancies.
    public internal(set) var discrepancies: [DiscrepancyID: Discrepancy] = [:]
    var standing: [ProviderName: NetSums] = [:]

    /// Nothing was ever compared.
    public init() {}

    /// The head of a provider's chain.
    public func head(of provider: ProviderName) -> ComparisonRun? { heads[provider].flatMap { runs[$0] } }

    /// What is remembered of a provider's transactions, in order of their keys.
    public func rows(at provider: ProviderName) -> [ComparedPosition] {
        rows.values.filter { $0.provider == provider }.sorted { $0.key < $1.key }
    }

    /// What is remembered of a transaction.
    public func row(_ provider: ProviderName, _ key: EffectKey) -> ComparedPosition? {
        rows[Place(provider: provider, key: key)]
    }
}

/// One durable change of what is kept of comparisons, as the standby is told of it.
enum ComparisonChange {
    case begun(ComparisonRun)
    case lane(String, SimulatedComparisons.Lane)
    case step(ComparisonStep, version: Int64)
}

/// What a store overlooks of comparisons when a run is sabotaged.
struct ComparisonLaxness: OptionSet, Sendable {
    let rawValue: Int
    static let lanes = ComparisonLaxness(rawValue: 1)
    static let runs = ComparisonLaxness(rawValue: 2)
}

extension SimulatedComparisons {
    /// Takes a change in, at whatever site.
    mutating func apply(_ change: ComparisonChange) throws(Money.Failure) {
        switch change {
        case .begun(let run):
            runs[run.id] = run
            guard run.kind == .scheduled, !run.isDry else { return }
            if let head = head(of: run.provider), (head.window.to, head.attempt) >= (run.window.to, run.attempt) {
                return
            }
            heads[run.provider] = run.id
        case .lane(let name, let lane): lanes[name] = lane
        case .step(let step, let version):
            var sums = standing[step.run.provider] ?? NetSums()
            try sums.add(step.moved)
            if !step.moved.isEmpty { standing[step.run.provider] = sums }
            runs[step.run.id] = step.run.stored(version: version)
            for row in step.positions { rows[Place(provider: row.provider, key: row.key)] = row }
            for found in step.discrepancies {
                discrepancies[found.id] = found.stored(version: found.version + 1)
            }
            if step.run.state.isFinal { lanes[step.run.lane]?.holder = "" }
        }
    }

    /// The lane as it is once a run was claimed; `nil` if it cannot be had.
    func claimed(
        _ id: ComparisonRunID, holder: String, leaseFor: Span, at now: Timestamp, ignoring: ComparisonLaxness
    ) -> (run: ComparisonRun, lane: Lane)? {
        guard let run = runs[id], !run.state.isFinal else { return nil }
        let lane = lanes[run.lane]
        if let lane, !ignoring.contains(.lanes) {
            if lane.run != id, let other = runs[lane.run], !other.state.isFinal { return nil }
            if !lane.holder.isEmpty, lane.until > now, lane.holder != holder { return nil }
        }
        let token = LeaseToken((lane?.token.number ?? 0) + 1)
        return (run, Lane(run: id, token: token, holder: holder, until: now + leaseFor))
    }

    /// Whether the lease on a run's lane is held under a token.
    func holds(_ run: ComparisonRun, _ token: LeaseToken) -> Bool {
        guard let lane = lanes[run.lane] else { return false }
        return lane.run == run.id && lane.token == token && !lane.holder.isEmpty
    }

    /// Whether a step may be written: under which version it is then.
    func judged(_ step: ComparisonStep, _ token: LeaseToken, ignoring: ComparisonLaxness) -> StepResult {
        guard let stored = runs[step.run.id] else { return .leaseLost }
        if !ignoring.contains(.lanes) {
            guard !stored.state.isFinal, holds(stored, token) else { return .leaseLost }
            guard stored.version == step.run.version else { return .versionConflict }
            guard step.discrepancies.allSatisfy({ (discrepancies[$0.id]?.version ?? 0) == $0.version }) else {
                return .discrepancyConflict
            }
        }
        return .recorded(version: stored.version + 1)
    }

    /// What explains the differences between the sides, counted anew.
    func explained(at provider: ProviderName) throws(Money.Failure) -> [Currency: ExplainedDifference] {
        var (named, inFlight) = (NetSums(), NetSums())
        for found in discrepancies.values where found.provider == provider {
            try named.count(ours: found.oursNet, theirs: found.theirsNet)
        }
        for row in rows.values where row.provider == provider && row.finding == .inFlight && !row.isNamed {
            try inFlight.count(ours: row.ours?.net, theirs: row.theirs?.net)
        }
        var explained: [Currency: ExplainedDifference] = [:]
        for line in named.lines {
            explained[line.currency, default: ExplainedDifference()].discrepancies =
                line.sides.ours - line.sides.theirs
        }
        for line in inFlight.lines {
            explained[line.currency, default: ExplainedDifference()].inFlight = line.sides.ours - line.sides.theirs
        }
        return explained
    }
}

extension SimulatedStore {
    /// What is known of keys, in the order of the questions.
    func positions(at provider: ProviderName, _ questions: [PositionQuestion]) -> [KnownPosition] {
        questions.map { question in
            let ours = booked(provider, question.key)
            let named = ours == nil ? question.payment.flatMap { leg(question.leg, of: $0, at: provider) } : nil
            return KnownPosition(
                key: question.key, ours: ours, named: named, row: comparisons.row(provider, question.key))
        }
    }

    /// The keys of positions that agreed and that the listing showed last within a window.
    func listedKeys(at provider: ProviderName, in window: ComparedWindow) -> [PositionQuestion] {
        comparisons.rows(at: provider).filter { row in row.isAgreed && row.listedAt.map(window.contains) ?? false }
            .map { PositionQuestion($0) }
    }

    /// The legs whose payment changed last within a window, after a place.
    func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after place: BookedPlace?, limit: Int
    ) -> BookedPage {
        var found: [BookedPosition] = []
        for row in rows {
            guard let row, window.contains(row.payment.updatedAt) else { continue }
            for position in row.payment.bookedPositions where position.provider == provider {
                if let place, BookedPlace(position) <= place { continue }
                found.append(position)
            }
        }
        found.sort { BookedPlace($0) < BookedPlace($1) }
        let page = found.prefix(limit).map { ours in
            KnownPosition(key: ours.key, ours: ours, row: comparisons.row(provider, ours.key))
        }
        return BookedPage(page, limit: limit)
    }

    /// The unsettled positions, in order of their keys, after a key.
    func unsettledPositions(at provider: ProviderName, after key: EffectKey?, limit: Int) -> [KnownPosition] {
        let found = comparisons.rows.values.filter { row in
            row.provider == provider && row.isUnsettled && key.map { row.key > $0 } ?? true
        }.sorted { $0.key < $1.key }
        return found.prefix(limit).map { row in
            let ours = booked(provider, row.key)
            let named =
                ours == nil ? row.theirs?.payment.flatMap { leg(row.theirs?.leg, of: $0, at: provider) } : nil
            return KnownPosition(key: row.key, ours: ours, named: named, row: row)
        }
    }

    /// The leg that has a key.
    func booked(_ provider: ProviderName, _ key: EffectKey) -> BookedPosition? {
        guard let place = legs[SimulatedComparisons.Place(provider: provider, key: key)], let row = rows[place]
        else { return nil }
        return row.payment.bookedPositions.first { $0.provider == provider && $0.key == key }
    }

    private func leg(_ index: Int?, of payment: PaymentID, at provider: ProviderName) -> BookedPosition? {
        row(payment)?.payment.bookedPositions.first { position in
            position.provider == provider && index.map { position.leg == $0 } ?? true
        }
    }

    /// Notes under which keys a payment's legs are found.
    mutating func note(_ payment: Payment, at place: Int) {
        for leg in payment.legs {
            legs[SimulatedComparisons.Place(provider: leg.provider, key: leg.primary.key)] = place
        }
    }
}
