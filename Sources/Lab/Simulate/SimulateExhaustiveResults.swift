import Simulation

/// What a search came to.
struct SearchLine: SimulateResult {
    let type = "search"
    let scenario: String
    let plant: String
    let states: Int
    let transitions: Int
    let rows: Int
    let depth: Int
    let seconds: Double
    let statesPerSecond: Int
    /// safe, violated, stuck, unfinished or unsound.
    let verdict: String
    /// The invariant that is broken, if one is.
    let invariant: Int?
    /// What is wrong, in words.
    let words: String?
    /// The shortest way there.
    let trace: [String]
    /// Whether the verdict is as it must be.
    let isExpected: Bool

    init(_ report: SearchReport, took: Duration, isGood: Bool) {
        scenario = report.scenario
        plant = report.plant
        states = report.states
        transitions = report.transitions
        rows = report.rows
        depth = report.depth
        seconds = took.inSeconds
        statesPerSecond = Int(Double(report.states) / max(0.001, seconds))
        isExpected = isGood
        switch report.verdict {
        case .safe: (verdict, invariant, words, trace) = ("safe", nil, nil, [])
        case .violated(let finding, let trace):
            verdict = "violated"
            invariant = finding.invariant
            words = "invariant \(finding.invariant): \(finding.words)"
            self.trace = trace
        case .stuck(let words, let trace): (verdict, invariant, self.words, self.trace) = ("stuck", 15, words, trace)
        case .unfinished:
            (verdict, invariant, words, trace) = ("unfinished", nil, "the bound on states was reached", [])
        case .unsound(let words): (verdict, invariant, self.words, trace) = ("unsound", nil, words, [])
        }
    }

    func draw(on screen: Screen) {
        let isPlanted = plant != SearchPlant.none.name
        let name = isPlanted ? "\(plant) in \(scenario)" : scenario
        screen.say(
            "  \(Words.column(name, 64))\(Words.column(states, 12)) states"
                + " \(Words.column(statesPerSecond, 11))/s \(Words.column(depth, 4)) deep"
                + "  \(isExpected ? screen.good(verdict) : screen.bad(verdict))")
        guard isPlanted || !isExpected else { return }
        if let words { screen.say("      \(words)") }
        for (index, step) in trace.enumerated() { screen.say("      \(index + 1). \(step)") }
    }
}

/// A contract that the configuration refuses.
struct RefusedContract: SimulateResult {
    let type = "refused"
    let contract: String
    let traps: [String]

    func draw(on screen: Screen) {
        screen.say("  \(Words.column(contract, 64))\(traps.joined(separator: ", "))")
    }
}

/// All searches together.
struct SearchSummary: SimulateResult {
    let type = "summary"
    let searches: Int
    let states: Int
    let seconds: Double
    /// Searches whose verdict is not as it must be.
    let unexpected: Int

    func draw(on screen: Screen) {
        let verdict =
            unexpected == 0
            ? screen.good("every verdict is as it must be") : screen.bad("\(unexpected) are not as they must be")
        let count = searches == 1 ? "1 search" : "\(Words.count(searches)) searches"
        let time = Words.time(.milliseconds(Int((seconds * 1_000).rounded())))
        screen.say()
        screen.say("  \(count), \(Words.count(states, "state")) in \(time): \(verdict)")
    }
}
