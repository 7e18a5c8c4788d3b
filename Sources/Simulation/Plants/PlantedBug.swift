/// A bug that is planted, and what must come of it: the judges that must see it, and within how many seeds.
public struct PlantedBug: Sendable {
    /// What is planted.
    public let plant: Plant
    /// It is seen within so many seeds, counted from the first: about three times what was needed when it was measured.
    /// Where that was measured from several places, the worst of them counts.
    public let withinSeeds: Int
    /// The invariants of which at least one must be violated; 15 stands for a run that never comes to rest as well.
    public let invariants: Set<Int>

    /// A planted bug.
    public init(_ plant: Plant, withinSeeds: Int, invariants: Set<Int>) {
        self.plant = plant
        self.withinSeeds = withinSeeds
        self.invariants = invariants
    }

    /// The first finding of a run by which one of the expected invariants sees that something is wrong; nil if none
    /// does. Where two judges see it at the same moment, the lower number is named.
    public func finding(in result: RunResult) -> SeedFinding? {
        SeedFinding.all(in: result).first { finding in
            switch finding {
            // Neither is a judge's; a planted bug that is seen so is listed with the judge of the end.
            case .restless, .misconduct: invariants.contains(15)
            case .violated, .unrepeatable: finding.invariant.map(invariants.contains) ?? false
            }
        }
    }

    /// What a search for the bug came to.
    public struct Hunt: Sendable {
        /// So many seeds were run, the last one included.
        public let seeds: Int
        /// The seed that showed it; nil if none did.
        public let seed: UInt64?
        /// What was seen.
        public let finding: SeedFinding?
        /// Seeds among them in which the same judges find the shipped code wrong. There must be none: what is seen
        /// without the bug does not show the bug.
        public let uncleanSeeds: [UInt64]
        /// What the judges find in the first of them.
        public let uncleanFinding: SeedFinding?

        /// Whether the bug was found, and nothing without it.
        public var isConvincing: Bool { finding != nil && uncleanSeeds.isEmpty }
    }

    /// Runs seeds with the bug, and without it, until the bug is seen or the stated number of seeds is reached.
    ///
    /// - Parameter first: the first seed.
    /// - Parameter most: at most so many seeds; nil for the stated number.
    /// - Parameter reduction: what is left out of every plan.
    public func hunt(from first: UInt64 = 1, most: Int? = nil, reduction: Reduction = Reduction()) -> Hunt {
        var unclean: [UInt64] = []
        var uncleanFinding: SeedFinding?
        let count = max(0, min(most ?? withinSeeds, withinSeeds))
        for index in 0..<count {
            let seed = first &+ UInt64(index)
            let plan = reduction.plan(seed: seed, plant: plant)
            if let finding = finding(in: World.run(plan)) {
                unclean.append(seed)
                uncleanFinding = uncleanFinding ?? finding
                continue
            }
            if let finding = finding(in: World.run(plan, plant: plant)) {
                return Hunt(
                    seeds: index + 1, seed: seed, finding: finding, uncleanSeeds: unclean,
                    uncleanFinding: uncleanFinding)
            }
        }
        return Hunt(
            seeds: count, seed: nil, finding: nil, uncleanSeeds: unclean, uncleanFinding: uncleanFinding)
    }
}
