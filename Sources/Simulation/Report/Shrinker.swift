internal import PaymentCore

/// A failing run, made as small as the shrinker could.
public struct ShrunkRun: Sendable {
    /// The seed.
    public let seed: UInt64
    /// What is planted in it.
    public let plant: Plant
    /// What is left out of it.
    public let reduction: Reduction
    /// What is still wrong.
    public let finding: SeedFinding
    /// Faults that struck before anything was left out.
    public let faultsBefore: Int
    /// Faults that still strike.
    public let faults: Int
    /// Runs that it took.
    public let runs: Int

    /// The timeline of what is left.
    public func timeline() -> Timeline { reduction.timeline(seed: seed, plant: plant, finding: finding) }

    /// The command that repeats it.
    public var command: String { reduction.command(seed: seed, plant: plant) }
}

/// Leaves out of a failing run whatever it fails without: payments first, because that makes all further runs short,
/// then whole kinds of fault, then single faults. Each fault has an identity that does not depend on the others, so
/// that what is left stays where it was.
public struct Shrinker: Sendable {
    private let seed: UInt64
    private let plant: Plant
    private let wanted: SeedFinding
    private let mostRuns: Int
    private var runs = 0
    private var best: Best
    private var kinds: [UInt64: FaultKind] = [:]

    private struct Best: Sendable {
        var reduction: Reduction
        var finding: SeedFinding
        var struck: [StruckFault]
    }

    /// A shrinker of a seed's run that has this finding.
    ///
    /// - Parameters:
    ///   - reduction: what is left out already.
    ///   - mostRuns: after so many runs it is content with what it has.
    public init(
        seed: UInt64, finding: SeedFinding, plant: Plant = .none, reduction: Reduction = Reduction(),
        mostRuns: Int = 500
    ) {
        self.seed = seed
        self.plant = plant
        wanted = finding
        self.mostRuns = mostRuns
        best = Best(reduction: reduction, finding: finding, struck: [])
    }

    /// Makes the run small.
    ///
    /// - Returns: nil if it does not have the finding in the first place.
    public mutating func shrink() -> ShrunkRun? {
        guard accepts(best.reduction) else { return nil }
        let faultsBefore = best.struck.count
        shrinkToConcerned()
        var before: Reduction
        repeat {
            before = best.reduction
            shrinkPayments()
            shrinkKinds()
            shrinkFaults()
        } while best.reduction != before && runs < mostRuns
        nameWholeKinds()
        return ShrunkRun(
            seed: seed, plant: plant, reduction: best.reduction, finding: best.finding, faultsBefore: faultsBefore,
            faults: best.struck.count, runs: runs)
    }

    /// Runs a candidate, and keeps it if it still fails in the same way.
    private mutating func accepts(_ candidate: Reduction, withAtMost most: Int = .max) -> Bool {
        guard runs < mostRuns else { return false }
        runs += 1
        let result = World.run(candidate.plan(seed: seed, plant: plant), plant: plant)
        guard result.faultsStruck.count <= most,
            let finding = SeedFinding.all(in: result).first(where: { $0.isLike(wanted) })
        else { return false }
        best = Best(reduction: candidate, finding: finding, struck: result.faultsStruck)
        for fault in result.faultsStruck { kinds[fault.id] = fault.kind }
        return true
    }

    /// The payment that the finding is about often fails alone.
    private mutating func shrinkToConcerned() {
        let plan = best.reduction.plan(seed: seed, plant: plant)
        guard case .violated(let violation) = best.finding, let payment = violation.payment,
            let paymentIndex = plan.index(of: payment)
        else { return }
        var candidate = best.reduction
        candidate.keptPayments = [paymentIndex]
        _ = accepts(candidate)
    }

    private mutating func shrinkPayments() {
        let plan = best.reduction.plan(seed: seed, plant: plant)
        let items = best.reduction.keptPayments ?? Array(plan.payments.indices)
        guard items.count > 1 else { return }
        let base = best.reduction
        _ = Shrinker.smallest(items) { kept in
            accepts(Reduction(keptPayments: kept, withoutKinds: base.withoutKinds, withoutFaults: base.withoutFaults))
        }
    }

    private mutating func shrinkKinds() {
        let base = best.reduction
        let struck = Set(best.struck.map(\.kind))
        _ = Shrinker.smallest(FaultKind.allCases.filter(struck.contains)) { kept in
            let left = base.withoutKinds + struck.subtracting(kept)
            return accepts(
                Reduction(
                    keptPayments: base.keptPayments, withoutKinds: left, withoutFaults: base.withoutFaults))
        }
    }

    private mutating func shrinkFaults() {
        let base = best.reduction
        var seen: Set<UInt64> = []
        let items = best.struck.map(\.id).filter { seen.insert($0).inserted }
        _ = Shrinker.smallest(items) { kept in
            let left = base.withoutFaults + seen.subtracting(kept)
            return accepts(
                Reduction(
                    keptPayments: base.keptPayments, withoutKinds: base.withoutKinds, withoutFaults: left))
        }
    }

    /// Says the same with fewer words: a kind that does not strike any more is named instead of its faults, and faults
    /// that would not strike anyway are not named.
    private mutating func nameWholeKinds() {
        let struck = Set(best.struck.map(\.kind))
        let unused = best.reduction.withoutFaults.compactMap { kinds[$0] }.filter { !struck.contains($0) }
        let base = best.reduction
        let candidate = Reduction(
            keptPayments: base.keptPayments, withoutKinds: base.withoutKinds + unused,
            withoutFaults: base.withoutFaults.filter { kinds[$0].map(struck.contains) ?? true })
        guard candidate != base, accepts(candidate, withAtMost: best.struck.count) else { return }
        let shorter = best.reduction
        let most = best.struck.count
        _ = Shrinker.smallest(shorter.withoutFaults) { kept in
            accepts(
                Reduction(
                    keptPayments: shorter.keptPayments, withoutKinds: shorter.withoutKinds, withoutFaults: kept),
                withAtMost: most)
        }
    }

    /// The smallest part of the items that can be found by leaving out halves, quarters and so on down to single ones
    /// while the rest still fails. The items as given are known to fail.
    static func smallest<Item>(_ items: [Item], stillFails: ([Item]) -> Bool) -> [Item] {
        guard !items.isEmpty else { return items }
        if stillFails([]) { return [] }
        var kept = items
        var length = max(1, items.count / 2)
        while kept.count > 1 {
            var start = 0
            while start < kept.count, kept.count > 1 {
                let end = min(start + length, kept.count)
                var candidate = kept
                candidate.removeSubrange(start..<end)
                if !candidate.isEmpty, stillFails(candidate) { kept = candidate } else { start = end }
            }
            guard length > 1 else { break }
            length = max(1, length / 2)
        }
        return kept
    }
}
