import Simulation

/// `reconciled simulate --seeds`: what many runs come to, and the timeline of one that fails.
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

    private func runner(_ plant: Plant, _ reduction: Reduction) -> SeedRunner {
        SeedRunner(
            from: options.from ?? 1, count: options.seeds ?? 1, plant: plant, reduction: reduction,
            goesOn: options.keepGoing)
    }

    private func runSeeds(_ plant: Plant, _ reduction: Reduction) throws -> Bool {
        var runner = runner(plant, reduction)
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
                try show(finding, outcome, plant, reduction, isDetailed: isNew)
            } else if options.timeline {
                let plan = reduction.plan(seed: outcome.seed, plant: plant)
                try show(Timeline(plan, recorded(outcome.seed, plant, reduction)))
            }
        }
        let summary = SeedSummary(
            runner.tally, runner.coverage, seconds: clock.now - start, minimumFaults: options.minimumFaults,
            needsEverySituation: options.everySituation)
        try summary.show(on: screen)
        return summary.isGood
    }

    private func recorded(_ seed: UInt64, _ plant: Plant, _ reduction: Reduction) -> RunResult {
        World.run(reduction.plan(seed: seed, plant: plant), plant: plant, isRecording: true)
    }

    private func show(_ timeline: Timeline) throws {
        try screen.emit(TimelineLines(timeline: timeline.text()))
        for line in timeline.text() { screen.say("  " + line) }
        screen.say()
    }

    private func show(
        _ finding: SeedFinding, _ outcome: SeedOutcome, _ plant: Plant, _ reduction: Reduction, isDetailed: Bool
    ) throws {
        let seed = outcome.seed
        screen.say(screen.screen.bad("  seed \(seed): ") + finding.description)
        guard isDetailed else {
            let command = reduction.command(seed: seed, plant: plant)
            return try screen.emit(FindingLine(seed, finding, timeline: [], command: command))
        }
        var timeline = Timeline(
            reduction.plan(seed: seed, plant: plant), recorded(seed, plant, reduction), finding: finding)
        var command = reduction.command(seed: seed, plant: plant)
        if options.shrink, !options.timeline {
            screen.progress("making it small")
            var shrinker = Shrinker(seed: seed, finding: finding, plant: plant, reduction: reduction)
            if let shrunk = shrinker.shrink() {
                timeline = shrunk.timeline()
                command = shrunk.command
                screen.say(
                    screen.screen.faint(
                        "  made small in \(shrunk.runs) runs: \(shrunk.faults) of \(shrunk.faultsBefore) faults left"))
            }
        }
        try screen.emit(FindingLine(seed, finding, timeline: timeline.text(), command: command))
        screen.say()
        for line in timeline.text() { screen.say("  " + line) }
        screen.say()
        screen.say("  \(screen.screen.bold("repeat it:")) \(command)")
        screen.say()
    }

    /// Each planted bug must be found within its stated number of seeds, and nothing like it without it.
    private func findEach() throws -> Bool {
        var missed = 0
        for bug in Plant.planted {
            screen.progress(bug.plant.name)
            let hunt = bug.hunt(from: options.from ?? 1)
            if !hunt.isConvincing { missed += 1 }
            let found = hunt.isConvincing ? hunt.finding?.description : nil
            let line = PlantLine(
                plant: bug.plant.name, seeds: hunt.seeds, finding: found, foundWithout: hunt.uncleanSeeds)
            try screen.emit(line)
            let pad = String(repeating: " ", count: max(1, 36 - bug.plant.name.count))
            let words = line.finding.map { "found after \(line.seeds): \($0)" }
            let unclean = hunt.uncleanSeeds.map(String.init).joined(separator: ", ")
            let failure =
                unclean.isEmpty
                ? "not found in \(line.seeds) seeds"
                : "what ships is found wrong in the same way, by the seeds \(unclean)"
            screen.say("  \(bug.plant.name)\(pad)" + (words ?? screen.screen.bad(failure)))
        }
        screen.say()
        let count = Plant.planted.count
        screen.say("  \(count - missed) of \(count) planted bugs were found")
        return missed == 0
    }
}
