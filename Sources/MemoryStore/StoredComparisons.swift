public import PaymentCore
internal import Reconciler

/// What a store keeps of comparisons, and who may change it. Every change of it is a ``ComparisonChange``, so that a
/// standby can be told of it.
public struct StoredComparisons: Sendable {
    /// To which run a lane belongs, and the lease on it.
    public struct Lane: Sendable {
        let run: ComparisonRunID
        let token: LeaseToken
        var lease: StoreModel.Lease?
    }

    /// Where a transaction is remembered.
    struct Place: Hashable {
        var provider: ProviderName
        var key: EffectKey
    }

    /// Where a finding is kept.
    struct FindingPlace: Hashable {
        var run: ComparisonRunID
        var discrepancy: DiscrepancyID
    }

    /// The runs.
    public internal(set) var runs: [ComparisonRunID: ComparisonRun] = [:]
    /// What counts of each provider's runs when a loss is reviewed. The simulation does that every hour for days:
    /// copies of whole runs took a fifth of its time.
    private var reviewed: [ProviderName: [ComparisonRunID: LossReview.Run]] = [:]
    /// The runs that people asked for, in the order in which they were planned.
    var asked: [ComparisonRunID] = []
    /// Those of them that are not finished.
    var unfinishedAsked: [ComparisonRunID] = []
    /// The heads of the providers' chains.
    var heads: [ProviderName: ComparisonRunID] = [:]
    var lanes: [String: Lane] = [:]
    var rows: [Place: ComparedPosition] = [:]
    /// The discrepancies.
    public internal(set) var discrepancies: [DiscrepancyID: Discrepancy] = [:]
    var findings: [FindingPlace: RunFinding] = [:]
    /// What stands at each provider at which anything was ever moved.
    public internal(set) var standing: [ProviderName: NetSums] = [:]

    /// Nothing was ever compared.
    public init() {}

    /// The head of a provider's chain: of its scheduled runs that are not dry the one whose window ends last, and of
    /// those the latest attempt.
    public func head(of provider: ProviderName) -> ComparisonRun? { heads[provider].flatMap { runs[$0] } }

    /// What counts of a provider's runs when a loss is reviewed, in any order.
    public func reviewedRuns(of provider: ProviderName) -> [LossReview.Run] {
        reviewed[provider].map { Array($0.values) } ?? []
    }

    /// What is remembered of a provider's transactions, in order of their keys.
    public func rows(at provider: ProviderName) -> [ComparedPosition] {
        rows.values.filter { $0.provider == provider }.sorted { $0.key < $1.key }
    }

    /// What is remembered of a transaction.
    public func row(_ provider: ProviderName, _ key: EffectKey) -> ComparedPosition? {
        rows[Place(provider: provider, key: key)]
    }
}

/// One durable change of what is kept of comparisons.
public enum ComparisonChange: Sendable {
    /// A run was planned.
    case begun(ComparisonRun)
    /// A lane was claimed, or its lease was renewed or ended.
    case lane(String, StoredComparisons.Lane)
    /// A step was made; its run has this version now.
    case step(ComparisonStep, version: Int64)
    /// A run was given up. Its lane is free.
    case abandoned(ComparisonRun)
    /// A person changed a discrepancy.
    case changed(Discrepancy)
    /// People proposed or decided what is to become of a discrepancy.
    case repaired(Discrepancy, Repair)
}

extension StoredComparisons {
    /// Takes a change in. It was allowed where it was made first.
    ///
    /// - Throws: If a sum does not fit; nothing is changed then.
    public mutating func apply(_ change: ComparisonChange) throws(Money.Failure) {
        switch change {
        case .begun(let run): keep(run)
        case .lane(let name, let lane): lanes[name] = lane
        case .step(let step, let version): try apply(step, version: version)
        case .abandoned(let run):
            put(run)
            unfinishedAsked.removeAll { $0 == run.id }
            if lanes[run.lane]?.run == run.id { lanes[run.lane]?.lease = nil }
        case .changed(let discrepancy), .repaired(let discrepancy, _): discrepancies[discrepancy.id] = discrepancy
        }
    }

    private mutating func put(_ run: ComparisonRun) {
        runs[run.id] = run
        if !run.isDry { reviewed[run.provider, default: [:]][run.id] = LossReview.Run(run) }
    }

    private mutating func keep(_ run: ComparisonRun) {
        put(run)
        if run.kind == .asked {
            asked.append(run.id)
            unfinishedAsked.append(run.id)
        }
        guard run.kind == .scheduled, !run.isDry else { return }
        if let head = head(of: run.provider), (head.window.to, head.attempt) >= (run.window.to, run.attempt) { return }
        heads[run.provider] = run.id
    }

    private mutating func apply(_ step: ComparisonStep, version: Int64) throws(Money.Failure) {
        if !step.moved.isEmpty {
            var sums = standing[step.run.provider] ?? NetSums()
            try sums.add(step.moved)
            standing[step.run.provider] = sums
        }
        put(step.run.stored(version: version))
        for row in step.positions { rows[Place(provider: row.provider, key: row.key)] = row }
        for found in step.discrepancies { discrepancies[found.id] = found.stored(version: found.version + 1) }
        for finding in step.findings {
            findings[FindingPlace(run: finding.run, discrepancy: finding.discrepancy)] = finding
        }
        guard step.run.state.isFinal else { return }
        lanes[step.run.lane]?.lease = nil
        unfinishedAsked.removeAll { $0 == step.run.id }
    }
}
