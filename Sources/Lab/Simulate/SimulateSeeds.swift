import ProgramEdge
import Simulation

/// `reconciled-lab simulate --seeds`: what many runs come to, and the timeline of one that fails.
struct SimulateSeeds {
    let options: SimulateOptions
    let screen: SimulateScreen

    /// What can be planted.
    static let plants = Plant.planted.map(\.plant)

    /// - Returns: whether everything is as it must be.
    func run() throws -> Bool {
        let reduction = try options.reduction()
        guard let name = options.plant else { return try runSeeds(.none, reduction) }
        guard name != "all" else { return try findEach() }
        guard let plant = SimulateSeeds.plants.first(where: { $0.name == name }) else {
            let known = SimulateSeeds.plants.map(\.name).joined(separator: ", ")
            throw CommandFailure(.usage, "--plant: '\(name)'; allowed: all, \(known)")
        }
        return try runSeeds(plant, reduction)
    }

    private func runSeeds(_ plant: Plant, _ reduction: Reduction) throws -> Bool {
        var runner = SeedRunner(
            from: options.from ?? 1, count: options.seeds ?? 1, plant: plant, reduction: reduction,
            goesOn: options.keepGoing, repeatEvery: options.repeatEvery ?? 1)
        let clock = ContinuousClock()
        let start = clock.now
        var drawn = start
        // Of seeds that fail in the same way, the first one is shown.
        var shown: Set<Int> = []
        while let outcome = runner.next() {
            if clock.now - drawn >= .seconds(1) {
                drawn = clock.now
                let tally = runner.tally
                let counts = "\(Words.count(tally.seeds)) seeds, \(Words.count(tally.faults)) faults"
                screen.progress("seed \(outcome.seed): \(counts)")
            }
            if let finding = outcome.findings.first {
                let isNew = shown.insert(finding.invariant ?? 0).inserted
                try show(finding, outcome.seed, plant, reduction, isDetailed: isNew)
            } else if options.timeline {
                let timeline = reduction.timeline(seed: outcome.seed, plant: plant)
                try screen.show(TimelineLines(timeline: timeline.text(limit: options.lines)))
            }
        }
        let summary = SeedSummary(
            runner.tally, runner.coverage, seconds: clock.now - start, minimumFaults: options.minimumFaults,
            needsEverySituation: options.everySituation)
        try screen.show(summary)
        return summary.isGood
    }

    private func show(
        _ finding: SeedFinding, _ seed: UInt64, _ plant: Plant, _ reduction: Reduction, isDetailed: Bool
    ) throws {
        screen.say(screen.screen.bad("  seed \(seed): ") + finding.description)
        var command = reduction.command(seed: seed, plant: plant)
        guard isDetailed else {
            return try screen.show(FindingLine(seed, finding, timeline: [], command: command))
        }
        var timeline: Timeline?
        if options.shrink, !options.timeline {
            screen.progress("making it small")
            var shrinker = Shrinker(seed: seed, finding: finding, plant: plant, reduction: reduction)
            if let shrunk = shrinker.shrink() {
                timeline = shrunk.timeline()
                command = shrunk.command
                let left = "\(shrunk.faults) of \(shrunk.faultsBefore) faults left"
                screen.say(screen.screen.faint("  made small in \(shrunk.runs) runs: \(left)"))
            }
        }
        let shown = timeline ?? reduction.timeline(seed: seed, plant: plant, finding: finding)
        try screen.show(FindingLine(seed, finding, timeline: shown.text(limit: options.lines), command: command))
    }

    /// Each planted bug must be found within its stated number of seeds, and nothing like it without it.
    private func findEach() throws -> Bool {
        var missed = 0
        for bug in Plant.planted {
            screen.progress(bug.plant.name)
            let hunt = bug.hunt(from: options.from ?? 1)
            if !hunt.isConvincing { missed += 1 }
            try screen.show(PlantLine(bug.plant.name, hunt))
        }
        screen.say()
        let count = Plant.planted.count
        screen.say("  \(count - missed) of \(count) planted bugs were found")
        return missed == 0
    }
}
