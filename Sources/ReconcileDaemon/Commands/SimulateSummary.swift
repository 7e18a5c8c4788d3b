import PaymentCore
import Simulation

/// What many seeds came to, as a line of JSON and as a table.
struct SeedSummary: Encodable {
    let type = "summary"
    let seeds: Int
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
        findings = tally.findings
        faults = tally.faults
        events = tally.events
        payments = tally.payments
        simulatedHours = Int(tally.simulatedTime.milliseconds / 3_600_000)
        self.seconds = SearchLine.seconds(seconds)
        // Each seed ran twice.
        eventsPerSecond = Int(Double(2 * tally.events) / max(0.001, self.seconds))
        faultsByKind = Dictionary(
            tally.faultsByKind.map { ($0.kind.rawValue, $0.count) }, uniquingKeysWith: { first, _ in first })
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

    func show(on screen: SimulateScreen) throws {
        try screen.emit(self)
        let rows: [(String, Int)] = [
            ("seeds, each run twice", seeds), ("payments", payments), ("steps", events), ("faults", faults),
            ("hours of virtual time", simulatedHours),
        ]
        for (name, count) in rows { screen.say("  " + DemoReport.line(name, count)) }
        for (kind, count) in faultsByKind.sorted(by: { $0.key < $1.key }) where count > 0 {
            screen.say(screen.screen.faint("    " + DemoReport.line(kind.replacing("_", with: " "), count)))
        }
        let situations = Situation.allCases.count
        screen.say("  situations not met, of \(situations): \(situationsMissed.count)")
        for missed in situationsMissed { screen.say(screen.screen.faint("    never: \(missed)")) }
        screen.say("  rows of the tables that never decided, of \(RowWatch.rowNames.count): \(rowsMissed.count)")
        for missed in rowsMissed { screen.say(screen.screen.faint("    never: \(missed)")) }
        screen.say()
        for shortcoming in shortcomings { screen.say(screen.screen.bad("  \(shortcoming)")) }
        let verdict =
            findings == 0
            ? screen.screen.good("nothing was found, and every seed ran twice to the same trace")
            : screen.screen.bad("\(Words.count(findings, "seed")) with a finding")
        let time = Words.time(.milliseconds(Int(seconds * 1_000)))
        screen.say("  \(time), \(Words.count(eventsPerSecond)) steps per second: \(verdict)")
    }
}

/// A finding, as a line of JSON.
struct FindingLine: Encodable {
    let type = "finding"
    let seed: UInt64
    let invariant: Int?
    let words: String
    let timeline: [String]
    let command: String

    init(_ seed: UInt64, _ finding: SeedFinding, timeline: [String], command: String) {
        self.seed = seed
        invariant = finding.invariant
        words = finding.description
        self.timeline = timeline
        self.command = command
    }
}

/// The timeline of a seed without a finding, as a line of JSON.
struct TimelineLines: Encodable {
    let type = "timeline"
    let timeline: [String]
}

/// A planted bug, as a line of JSON.
struct PlantLine: Encodable {
    let type = "plant"
    let plant: String
    /// Seeds that were run until it was found.
    let seeds: Int
    /// How it was found; nil if it was not.
    let finding: String?
    /// Seeds in which the same judges find what ships wrong as well: the bug shows nothing then.
    let foundWithout: [UInt64]
}
