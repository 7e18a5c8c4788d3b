import ProgramEdge
import Simulation

/// `reconciled-lab simulate --exhaustive`: one line for each scenario, and what the configuration refuses.
struct SimulateExhaustive {
    let options: SimulateOptions
    let screen: SimulateScreen

    /// Everything that is searched.
    static let scenarios =
        Scenario.oneLeg + Scenario.byResend + Scenario.twoLegs + Scenario.lossy + Scenario.withPeople + Scenario.range

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
            let report = try report(of: next)
            let isGood = next.expectation?.isMet(by: report) ?? report.isSafe
            states += report.states
            if !isGood { bad += 1 }
            try screen.show(SearchLine(report, took: clock.now - began, isGood: isGood))
        }
        if options.plant == nil, options.scenario == nil, !options.quick { try showRefused() }
        try screen.show(
            SearchSummary(
                searches: assignments.count, states: states, seconds: (clock.now - start).inSeconds, unexpected: bad))
        return bad == 0
    }

    private func report(of next: Assignment) throws -> SearchReport {
        do {
            return try Search(next.scenario, plant: next.plant, limit: options.limit ?? Search.mostStates).run()
        } catch {
            throw CommandFailure(.finding, "'\(next.scenario.name)' cannot be searched: \(error)")
        }
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

    private func showRefused() throws {
        screen.say()
        screen.say("  " + screen.screen.bold("contracts with which the daemon refuses to start, and why"))
        for refused in Scenario.refused {
            try screen.show(RefusedContract(contract: refused.contract, traps: refused.traps))
        }
    }
}
