import PaymentCore
import Simulation

/// What many seeds came to.
struct SeedSummary: SimulateResult {
    let type = "summary"
    let seeds: Int
    /// Those that were run twice.
    let repeated: Int
    let findings: Int
    let faults: Int
    let events: Int
    let payments: Int
    /// Virtual time of all runs together.
    let simulatedHours: Int
    let seconds: Double
    let eventsPerSecond: Int
    let faultsByKind: [String: Int]
    /// Situations that never came about, but for those that cannot.
    let situationsMissed: [String]
    /// Rows of the two tables that never decided, but for those that cannot.
    let rowsMissed: [String]
    /// What was asked for and is not so.
    let shortcomings: [String]

    var isGood: Bool { findings == 0 && shortcomings.isEmpty }

    init(_ tally: SeedTally, _ coverage: Coverage, seconds: Duration, minimumFaults: Int?, needsEverySituation: Bool) {
        seeds = tally.seeds
        repeated = tally.repeated
        findings = tally.findings
        faults = tally.faults
        events = tally.events
        payments = tally.payments
        simulatedHours = Int(tally.simulatedTime.milliseconds / 3_600_000)
        self.seconds = seconds.inSeconds
        eventsPerSecond = Int(Double(tally.allEvents) / max(0.001, self.seconds))
        faultsByKind = Dictionary(
            tally.faultsByKind.map { ($0.kind.name, $0.count) }, uniquingKeysWith: { first, _ in first })
        situationsMissed = coverage.missedSituations.map(\.rawValue)
        rowsMissed = coverage.missedRows
        var shortcomings: [String] = []
        if let minimumFaults, tally.faults < minimumFaults {
            let count = Words.count(tally.faults)
            shortcomings.append("only \(count) faults; \(Words.count(minimumFaults)) were asked for")
        }
        if needsEverySituation {
            shortcomings += situationsMissed.map { "never came about: \($0)" }
            shortcomings += rowsMissed.map { "never decided: the row \($0)" }
        }
        self.shortcomings = shortcomings
    }

    func draw(on screen: Screen) {
        let rows: [(String, Int)] = [
            ("seeds", seeds), ("run twice of them", repeated), ("payments", payments), ("steps", events),
            ("faults", faults), ("hours of virtual time", simulatedHours),
        ]
        for (name, count) in rows { screen.say("  " + DemoReport.line(name, count)) }
        for (kind, count) in faultsByKind.sorted(by: { $0.key < $1.key }) where count > 0 {
            screen.say(screen.faint("    " + DemoReport.line(kind.replacing("_", with: " "), count)))
        }
        let situations = Situation.allCases.count
        screen.say("  situations not met, of \(situations): \(situationsMissed.count)")
        for missed in situationsMissed { screen.say(screen.faint("    never: \(missed)")) }
        screen.say("  rows of the tables that never decided, of \(RowWatch.rowNames.count): \(rowsMissed.count)")
        for missed in rowsMissed { screen.say(screen.faint("    never: \(missed)")) }
        screen.say()
        for shortcoming in shortcomings { screen.say(screen.bad("  \(shortcoming)")) }
        let verdict =
            findings == 0
            ? screen.good("nothing was found, and what ran twice came to the same trace")
            : screen.bad("\(Words.count(findings, "seed")) with a finding")
        let time = Words.time(.milliseconds(Int((seconds * 1_000).rounded())))
        screen.say("  \(time), \(Words.count(eventsPerSecond)) steps per second: \(verdict)")
    }
}

/// A finding. What is wrong is said before, because it takes a while to make the run small.
struct FindingLine: SimulateResult {
    let type = "finding"
    let seed: UInt64
    let invariant: Int?
    let words: String
    /// Empty where a finding of the same kind was shown before.
    let timeline: [String]
    let command: String

    init(_ seed: UInt64, _ finding: SeedFinding, timeline: [String], command: String) {
        self.seed = seed
        invariant = finding.invariant
        words = finding.description
        self.timeline = timeline
        self.command = command
    }

    func draw(on screen: Screen) {
        guard !timeline.isEmpty else { return }
        screen.say()
        screen.say(timeline: timeline)
        screen.say("  \(screen.bold("repeat it:")) \(command)")
        screen.say()
    }
}

/// The timeline of a seed without a finding.
struct TimelineLines: SimulateResult {
    let type = "timeline"
    let timeline: [String]

    func draw(on screen: Screen) { screen.say(timeline: timeline) }
}

/// A planted bug.
struct PlantLine: SimulateResult {
    let type = "plant"
    let plant: String
    /// Seeds that were run until it was found.
    let seeds: Int
    /// How it was found; nil if it was not.
    let finding: String?
    /// Seeds in which the same judges find what ships wrong as well: the bug shows nothing then.
    let foundWithout: [UInt64]
    /// What they find in the first of these seeds.
    let findingWithout: String?

    init(_ plant: String, _ hunt: PlantedBug.Hunt) {
        self.plant = plant
        seeds = hunt.seeds
        finding = hunt.isConvincing ? hunt.finding?.description : nil
        foundWithout = hunt.uncleanSeeds
        findingWithout = hunt.uncleanFinding?.description
    }

    func draw(on screen: Screen) {
        let words = finding.map { "found after \(seeds): \($0)" } ?? screen.bad(failure)
        screen.say("  \(Words.column(plant, 36))\(words)")
    }

    private var failure: String {
        guard let findingWithout else { return "not found in \(seeds) seeds" }
        let unclean = foundWithout.map(String.init).joined(separator: ", ")
        return "what ships is found wrong in the same way, by the seeds \(unclean): \(findingWithout)"
    }
}
