internal import PaymentCore

/// What came of one seed.
public struct SeedOutcome: Sendable {
    /// The seed.
    public let seed: UInt64
    /// Its run; of two the first.
    public let result: RunResult
    /// What is wrong, the earliest first; empty if nothing is.
    public let findings: [SeedFinding]
    /// Whether it was run twice.
    let wasRepeated: Bool
}

/// Runs one seed after the other, each or some of them twice, and adds up what they came to.
///
/// It is pulled step by step, because it knows no clock: who wants to show progress does so between two seeds.
public struct SeedRunner: Sendable {
    /// What the seeds came to so far.
    public private(set) var tally = SeedTally()
    /// What no seed came to so far: situations, and rows of the tables.
    public private(set) var coverage = Coverage()
    /// What is planted in every run.
    public let plant: Plant
    /// What is left out of every run.
    public let reduction: Reduction
    private let goesOn: Bool
    private let repeatEvery: Int
    private var seed: UInt64
    private var remaining: Int

    /// A runner of `count` seeds, beginning with `first`.
    ///
    /// - Parameters:
    ///   - goesOn: whether seeds are run after one with a finding.
    ///   - repeatEvery: the first of so many seeds is run a second time, and has to come to the same trace; and each
    ///     with a finding is.
    public init(
        from first: UInt64, count: Int, plant: Plant = .none, reduction: Reduction = Reduction(), goesOn: Bool = false,
        repeatEvery: Int = 1
    ) {
        seed = first
        remaining = max(0, count)
        self.plant = plant
        self.reduction = reduction
        self.goesOn = goesOn
        self.repeatEvery = max(1, repeatEvery)
    }

    /// Runs the next seed; nil when there is none, or when the one before had a finding and that is enough.
    public mutating func next() -> SeedOutcome? {
        guard remaining > 0, goesOn || tally.findings == 0 else { return nil }
        remaining -= 1
        let plan = reduction.plan(seed: seed, plant: plant)
        let first = World.run(plan, plant: coverage.watching(plant))
        coverage.add(first)
        var findings = SeedFinding.all(in: first)
        let isRepeated = tally.seeds % repeatEvery == 0 || !findings.isEmpty
        let again = isRepeated ? World.run(plan, plant: plant).hash : first.hash
        if first.hash != again { findings.insert(.unrepeatable(first: first.hash, second: again), at: 0) }
        let outcome = SeedOutcome(seed: seed, result: first, findings: findings, wasRepeated: isRepeated)
        tally.add(outcome)
        seed &+= 1
        return outcome
    }

    /// Runs all that are left.
    ///
    /// - Returns: the outcomes with a finding.
    public mutating func finish() -> [SeedOutcome] {
        var bad: [SeedOutcome] = []
        while let outcome = next() {
            if !outcome.findings.isEmpty { bad.append(outcome) }
        }
        return bad
    }
}
