import PaymentCore
public import Simulation
public import Testing

/// The exhaustive search, in bounds that a debug build takes seconds for; the release build searches the rest.
@Suite struct SearchTests {
    /// Worlds of at most some ten thousand states, each with something that the others do not have.
    static let small: [Scenario] = (Scenario.oneLeg + Scenario.twoLegs + Scenario.lossy).filter { scenario in
        [
            "one sale, undecided for a while", "one leg, undecided for a while", "one leg, another amount is shown",
            "one leg, changed at the provider's console", "one sale, statuses are forgotten, not_after",
            "B5 a leg and a sale with the plug", "one sale that cancel reverses, two failovers",
            "W2 one leg, one restore", "W4 one leg, two restores", "W6 one sale, two restores",
        ].contains(scenario.name)
    }

    /// Contracts in which this search found the shipped decision wrong before it was mended.
    static let mended: [Scenario] = Scenario.range.filter { scenario in
        [
            // A plug that gave up after eight lost requests.
            "one leg: two-phase, cancel only_if_present, plug",
            // A refused void, and then a read that showed what had been before.
            "one leg: sale, cancel tombstoning, lag 60 s",
            // A hold that a read still showed after it was captured.
            "one leg: two-phase, cancel tombstoning, declines unbound, lag 60 s",
        ].contains(scenario.name)
    }

    private func run(_ scenario: Scenario, _ plant: SearchPlant = .none) throws -> SearchReport {
        try Search(scenario, plant: plant, limit: 2_000_000).run()
    }

    @Test(arguments: small + mended) func `the shipped decision is safe and comes to its end`(
        _ scenario: Scenario
    ) throws {
        let report = try run(scenario)
        guard case .safe(let audited) = report.verdict else {
            Issue.record("\(scenario.name): \(report.verdict)")
            return
        }
        #expect(audited > 0, "no two rows were held to be equal, so that nothing shows that they are")
        #expect(report.transitions > report.states)
        #expect(report.ends.succeeded > 0 && report.ends.undone > 0)
    }

    @Test func `the lists name each world once, and what the configuration refuses is not searched`() {
        let lists = [Scenario.oneLeg, Scenario.twoLegs, Scenario.lossy, Scenario.withPeople, Scenario.range]
        let names = lists.joined().map(\.name)
        #expect(Set(names).count == names.count)
        #expect(SearchTests.small.count == 10)
        #expect(SearchTests.mended.count == 3)
        #expect(Scenario.range.count > 80)
        #expect(Scenario.refused.allSatisfy { !$0.traps.isEmpty })
        #expect(Scenario.refused.contains { $0.traps == ["undo-impossible"] })
    }

    static let quicklyFound = SearchPlant.planted.filter { !["C9", "trap 10"].contains($0.plant.name) }

    @Test(arguments: quicklyFound) func `a planted unsafe decision is found, and told by its shortest trace`(
        _ expectation: SearchPlant.Expectation
    ) throws {
        let report = try run(expectation.scenario, expectation.plant)
        #expect(expectation.isMet(by: report), "\(expectation.plant.name): \(report.verdict)")
        guard case .violated(_, let trace) = report.verdict else { return }
        #expect(trace.count == report.depth || trace.count == report.depth + 1, "\(trace)")
        #expect(trace.allSatisfy { !$0.isEmpty })
    }

    @Test func `without its plant each of these worlds is safe`() throws {
        for expectation in SearchTests.quicklyFound.prefix(8) {
            #expect(try run(expectation.scenario).isSafe, "\(expectation.scenario.name)")
        }
    }

    @Test func `a hurrying worker comes to the same verdicts`() throws {
        guard let expectation = SearchPlant.planted.first(where: { $0.plant.name == "E1" }) else {
            Issue.record("no such plant")
            return
        }
        var hurrying = expectation.scenario
        hurrying.hurries = true
        #expect(expectation.isMet(by: try run(hurrying, expectation.plant)))
        #expect(try run(hurrying).isSafe)
        #expect(try run(hurrying).states < run(expectation.scenario).states)
    }

    @Test func `the same search gives the same states, and a bound is said`() throws {
        let first = try run(SearchTests.small[0])
        let second = try run(SearchTests.small[0])
        #expect(first.states == second.states && first.transitions == second.transitions)
        guard case .unfinished = try Search(SearchTests.small[0], limit: 50).run().verdict else {
            Issue.record("a search that was cut is not called unfinished")
            return
        }
    }
}

extension Scenario: CustomTestStringConvertible {
    public var testDescription: String { name }
}

extension SearchPlant.Expectation: CustomTestStringConvertible {
    public var testDescription: String { "\(plant.name) in \(scenario.name)" }
}
