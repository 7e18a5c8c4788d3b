import Simulation
import Testing

@Suite struct SeedRunnerTests {
    /// A few payments of each seed: enough to see what the runner does, and quick in a debug build.
    let few = Reduction(keptPayments: [0, 1, 2, 3])

    @Test func `every seed is run once, in order, and added up`() throws {
        var runner = SeedRunner(from: 5, count: 3, reduction: few, goesOn: true)
        var outcomes: [SeedOutcome] = []
        while let outcome = runner.next() { outcomes.append(outcome) }
        #expect(outcomes.map(\.seed) == [5, 6, 7])
        #expect(runner.tally.seeds == 3)
        #expect(runner.tally.faults == outcomes.map(\.result.faultsStruck.count).reduce(0, +))
        #expect(runner.tally.faults == runner.tally.faultsByKind.map(\.count).reduce(0, +))
        #expect(runner.tally.faults > 0)
        #expect(runner.tally.events == outcomes.map(\.result.events).reduce(0, +))
        #expect(runner.tally.payments == outcomes.map(\.result.payments).reduce(0, +))
        #expect(runner.tally.payments >= 12)
        let met = Set(outcomes.flatMap(\.result.probesHit))
        #expect(Set(runner.coverage.missedSituations).isDisjoint(with: met))
        #expect(!met.isEmpty)
    }

    @Test func `the first of so many seeds is run twice, and each with a finding`() throws {
        let one = Reduction(keptPayments: [0])
        var runner = SeedRunner(from: 1, count: 5, reduction: one, goesOn: true, repeatEvery: 3)
        _ = runner.finish()
        #expect(runner.tally.seeds == 5 && runner.tally.repeated == 2 && runner.tally.findings == 0)
        #expect(runner.tally.allEvents > runner.tally.events && runner.tally.allEvents < 2 * runner.tally.events)
        let plant = try #require(Plant.sabotages.first { $0.name == "sendsBeforeCommit" })
        var planted = SeedRunner(from: 1, count: 2, plant: plant, reduction: one, goesOn: true, repeatEvery: 100)
        #expect(planted.finish().count == 2)
        #expect(planted.tally.repeated == 2)
    }

    @Test func `no run differs from its repetition`() {
        var runner = SeedRunner(from: 1, count: 4, reduction: few, goesOn: true)
        for outcome in runner.finish() {
            for finding in outcome.findings {
                if case .unrepeatable = finding { Issue.record("seed \(outcome.seed): \(finding)") }
            }
        }
        #expect(runner.tally.seeds == 4)
    }

    @Test func `it stops at the first seed with a finding, unless told otherwise`() throws {
        let plant = try #require(Plant.sabotages.first { $0.name == "sendsBeforeCommit" })
        var stopping = SeedRunner(from: 1, count: 3, plant: plant, reduction: few)
        let found = try #require(stopping.finish().first)
        #expect(found.findings.contains { $0.invariant == 9 })
        #expect(stopping.tally.seeds == 1)
        let afterwards = stopping.next()
        #expect(afterwards?.seed == nil)
        var goingOn = SeedRunner(from: 1, count: 2, plant: plant, reduction: few, goesOn: true)
        #expect(goingOn.finish().count == 2)
        #expect(goingOn.tally.findings == 2)
    }

    @Test func `findings are told in the order in which they came about`() throws {
        let plant = try #require(Plant.sabotages.first { $0.name == "sendsBeforeCommit" })
        var runner = SeedRunner(from: 1, count: 1, plant: plant, reduction: few)
        let next = runner.next()
        let outcome = try #require(next)
        let moments = outcome.findings.compactMap { finding in
            if case .violated(let violation) = finding { violation.at } else { nil }
        }
        #expect(moments.count > 1)
        #expect(moments == moments.sorted())
    }
}
