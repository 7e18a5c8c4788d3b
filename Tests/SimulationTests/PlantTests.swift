import Simulation
import Testing

@Suite struct PlantTests {
    /// Of each kind one, that a short run shows. The release build hunts for all, in `make test` too:
    /// `reconciled-lab simulate --seeds 1 --plant all`.
    static let quick = ["sendsBeforeCommit", "auditEntryDropped", "chargeNotRefunded"]

    @Test(arguments: quick)
    func `a planted bug is found within its seeds, and nothing is found without it`(name: String) throws {
        let bug = try #require(Plant.planted(named: name))
        let hunt = bug.hunt()
        #expect(hunt.finding != nil, "\(name) was not found in \(hunt.seeds) seeds")
        #expect(hunt.uncleanSeeds.isEmpty, "what ships is found wrong in the same way")
    }

    @Test func `there are enough planted bugs, and each has a name and a number of seeds`() {
        let names = Plant.planted.map(\.plant.name)
        #expect(names.count >= 24)
        #expect(Set(names).count == names.count)
        #expect(Plant.planted.allSatisfy { (1...200).contains($0.withinSeeds) && !$0.invariants.isEmpty })
    }

    @Test func `each way to get the surroundings wrong is planted, or it is said why not`() {
        let planted = Set(Plant.planted.flatMap(\.plant.sabotage))
        let missing = Set(Sabotage.allCases).subtracting(planted)
        #expect(missing == Set(Plant.notPlanted.map(\.sabotage)))
    }

    @Test func `each invariant is there for a planted bug`() {
        let seen = Plant.planted.reduce(into: Set<Int>()) { $0.formUnion($1.invariants) }
        #expect(seen == Set(1...27))
    }

    @Test func `what is not planted is not found`() {
        let nothing = PlantedBug(.none, withinSeeds: 2, invariants: Set(1...25))
        let hunt = nothing.hunt()
        #expect(hunt.finding == nil)
        #expect(hunt.seeds == 2)
    }

    @Test func `a plan in surroundings of its own differs by them only`() {
        let plan = Surroundings(rates: [.answerLost: 500_000]).plan(seed: 4)
        let drawn = RunPlan(seed: 4)
        #expect(plan.rates[.answerLost] == 500_000)
        #expect(plan.rates[.requestLost] == drawn.rates[.requestLost])
        #expect(plan.payments.map(\.id) == drawn.payments.map(\.id))
        #expect(plan.replication == drawn.replication)
        #expect(Surroundings(replication: .asynchronous).plan(seed: 4).replication == .asynchronous)
    }
}

@Suite struct CoverageTests {
    @Test func `what is excepted has a name that exists, and a reason`() {
        let names = Set(Situation.allCases.map(\.rawValue) + RowWatch.rowNames)
        for exception in Coverage.exceptions {
            #expect(names.contains(exception.name))
            #expect(!exception.reason.isEmpty)
        }
        #expect(Set(Coverage.exceptions.map(\.name)).count == Coverage.exceptions.count)
    }

    /// A probe that nothing can set off would look like a decision that holds. The seeds are those that showed it.
    @Test(arguments: [
        (Situation.keyUsedAnew, "ageIgnored", UInt64(44)), (.landedAfterTheEnd, "notFoundIsNever", 5),
    ])
    func `a situation that only a wrong decision comes to is seen with a planted bug`(
        _ situation: Situation, _ name: String, _ seed: UInt64
    ) throws {
        let plant = try #require(Plant.planted.first { $0.plant.name == name }).plant
        // A change of the world may take it to another seed: look for that from 1 on.
        let run = World.run(Reduction().plan(seed: seed, plant: plant), plant: plant)
        #expect(run.probesHit.contains(situation))
    }

    @Test func `what a run met is not missed, and a run is the same when it is watched`() {
        var coverage = Coverage()
        #expect(
            coverage.missedSituations.count == Situation.allCases.count
                - Coverage.exceptions.count { exception in
                    Situation(rawValue: exception.name) != nil
                })
        #expect(!coverage.isComplete)
        let plan = RunPlan(seed: 1)
        let watched = coverage.run(plan)
        #expect(watched.hash == World.run(plan).hash)
        #expect(coverage.runs == 1)
        #expect(!watched.probesHit.isEmpty)
        #expect(Set(coverage.missedSituations).isDisjoint(with: watched.probesHit))
        #expect(!coverage.missedRows.contains("none.authorize"))
        #expect(!coverage.missedRows.contains("own.done"))
    }
}
