import Simulation

/// `reconciled simulate --exhaustive`: one line for each scenario, and what the configuration refuses.
struct SimulateExhaustive {
    let options: SimulateOptions
    let screen: SimulateScreen

    /// Everything that is searched.
    static let scenarios = Scenario.oneLeg + Scenario.twoLegs + Scenario.lossy + Scenario.range

    /// A search that is to be made.
    private struct Assignment {
        let scenario: Scenario
        var plant = SearchPlant.none
        var expectation: SearchPlant.Expectation?
    }

    /// - Returns: whether every verdict is as it must be.
    func run() throws -> Bool {
        let assignments = try assignments()
        let clock = ContinuousClock()
        let start = clock.now
        var states = 0
        var bad = 0
        for (index, next) in assignments.enumerated() {
            screen.progress("\(index + 1) of \(assignments.count): \(next.plant.name), \(next.scenario.name)")
            let began = clock.now
            let search = options.limit.map { Search(next.scenario, plant: next.plant, limit: $0) }
            let report: SearchReport
            do {
                report = try (search ?? Search(next.scenario, plant: next.plant)).run()
            } catch {
                throw CommandFailure(.finding, "'\(next.scenario.name)' cannot be searched: \(error)")
            }
            let isGood = next.expectation?.isMet(by: report) ?? report.isSafe
            states += report.states
            if !isGood { bad += 1 }
            let line = SearchLine(report, seconds: clock.now - began, isGood: isGood)
            try show(line, isPlanted: next.plant.name != SearchPlant.none.name)
        }
        if options.plant == nil, options.scenario == nil, !options.quick { try showRefused() }
        let took = clock.now - start
        try screen.emit(
            SearchSummary(
                searches: assignments.count, states: states, seconds: SearchLine.seconds(took), unexpected: bad))
        let verdict =
            bad == 0
            ? screen.screen.good("every verdict is as it must be")
            : screen.screen.bad("\(bad) are not as they must be")
        let count = assignments.count == 1 ? "1 search" : "\(Words.count(assignments.count)) searches"
        screen.say()
        screen.say("  \(count), \(Words.count(states, "state")) in \(Words.time(took)): \(verdict)")
        return bad == 0
    }

    private func assignments() throws -> [Assignment] {
        var chosen = options.quick ? Scenario.quick : SimulateExhaustive.scenarios
        if let text = options.scenario?.lowercased() {
            chosen = SimulateExhaustive.scenarios.filter { $0.name.lowercased().contains(text) }
            guard !chosen.isEmpty else {
                throw CommandFailure(
                    .usage, "--scenario: '\(text)'; allowed: a part of a name that --exhaustive --list prints")
            }
        }
        guard let name = options.plant else { return chosen.map { Assignment(scenario: $0) } }
        let planted = SearchPlant.planted.filter { planted in
            guard name == "all" else { return SimulateExhaustive.isNamed(planted.plant, name) }
            return !options.quick || planted.scenario.legs.count == 1
        }
        guard !planted.isEmpty else {
            let known = SearchPlant.planted.map { "'\($0.plant.name)'" }
            throw CommandFailure(.usage, "--plant: '\(name)'; allowed: all, \(known.joined(separator: ", "))")
        }
        guard options.scenario != nil else {
            return planted.map { Assignment(scenario: $0.scenario, plant: $0.plant, expectation: $0) }
        }
        return planted.flatMap { planted in chosen.map { Assignment(scenario: $0, plant: planted.plant) } }
    }

    /// Plants have the names of the models' runs; one may stand for several.
    private static func isNamed(_ plant: SearchPlant, _ name: String) -> Bool {
        plant.name == name || plant.name.split(separator: ",").contains { $0.drop { $0 == " " } == name }
    }

    private func show(_ line: SearchLine, isPlanted: Bool) throws {
        try screen.emit(line)
        let verdict = line.isExpected ? screen.screen.good(line.verdict) : screen.screen.bad(line.verdict)
        let name = isPlanted ? "\(line.plant) in \(line.scenario)" : line.scenario
        let pad = String(repeating: " ", count: max(1, 64 - name.count))
        screen.say(
            "  \(name)\(pad)\(SearchLine.column(line.states, 12)) states"
                + " \(SearchLine.column(line.statesPerSecond, 11))/s"
                + " \(SearchLine.column(line.depth, 4)) deep  \(verdict)")
        guard isPlanted || !line.isExpected else { return }
        if let words = line.words { screen.say("      \(words)") }
        for (index, step) in line.trace.enumerated() { screen.say("      \(index + 1). \(step)") }
    }

    private func showRefused() throws {
        for refused in Scenario.refused {
            try screen.emit(RefusedContract(contract: refused.contract, traps: refused.traps))
        }
        screen.say()
        screen.say("  " + screen.screen.bold("contracts with which the daemon refuses to start, and why"))
        for refused in Scenario.refused {
            let pad = String(repeating: " ", count: max(1, 64 - refused.contract.count))
            screen.say("  \(refused.contract)\(pad)\(refused.traps.joined(separator: ", "))")
        }
    }
}

/// What a search came to, as a line of JSON.
struct SearchLine: Encodable {
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

    init(_ report: SearchReport, seconds: Duration, isGood: Bool) {
        scenario = report.scenario
        plant = report.plant
        states = report.states
        transitions = report.transitions
        rows = report.rows
        depth = report.depth
        self.seconds = SearchLine.seconds(seconds)
        statesPerSecond = Int(Double(report.states) / max(0.001, self.seconds))
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

    static func seconds(_ duration: Duration) -> Double { Double(Words.milliseconds(duration)) / 1_000 }

    static func column(_ number: Int, _ width: Int) -> String {
        let text = Words.count(number)
        return String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

/// A contract that the configuration refuses, as a line of JSON.
struct RefusedContract: Encodable {
    let type = "refused"
    let contract: String
    let traps: [String]
}

/// All searches, as a line of JSON.
struct SearchSummary: Encodable {
    let type = "summary"
    let searches: Int
    let states: Int
    let seconds: Double
    /// Searches whose verdict is not as it must be.
    let unexpected: Int
}
