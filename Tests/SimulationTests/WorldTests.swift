import PaymentCore
import Reconciler
import Simulation
import Testing

@Suite struct WorldTests {
    @Test(arguments: [1, 13, 24] as [UInt64])
    func `a plan runs twice to the same hash`(seed: UInt64) {
        let plan = RunPlan(seed: seed)
        let first = World.run(plan)
        let second = World.run(plan, isRecording: true)
        #expect(first.hash == second.hash)
        #expect(first.events == second.events)
        #expect(first.happenings.isEmpty)
        #expect(!second.happenings.isEmpty)
    }

    @Test func `another seed is another run`() {
        #expect(World.run(RunPlan(seed: 1)).hash != World.run(RunPlan(seed: 2)).hash)
    }

    @Test(arguments: RunPlan.Replication.allCases)
    func `what ships keeps every invariant and comes to rest`(arrangement: RunPlan.Replication) {
        for seed in [7, 8] as [UInt64] {
            let result = World.run(RunPlan(seed: seed, arrangement: arrangement))
            #expect(result.violations.isEmpty, "seed \(seed): \(result.violations)")
            #expect(result.unrest == nil, "seed \(seed)")
            #expect(result.faultsStruck.count > 50, "seed \(seed)")
        }
    }

    @Test func `a suppressed fault does not strike, and what came before it stays`() throws {
        var plan = RunPlan(seed: 5)
        let before = World.run(plan)
        let struck = try #require(before.faultsStruck.dropFirst(before.faultsStruck.count / 2).first)
        plan.suppressed = [struck.id]
        let after = World.run(plan)
        #expect(!after.faultsStruck.contains(struck))
        let index = try #require(before.faultsStruck.firstIndex(of: struck))
        #expect(Array(after.faultsStruck.prefix(index)) == Array(before.faultsStruck.prefix(index)))
    }

    @Test func `a suppressed kind never strikes`() {
        var plan = RunPlan(seed: 5)
        let kinds = Set(World.run(plan).faultsStruck.map(\.kind))
        plan.suppressedKinds = kinds
        #expect(!kinds.isEmpty)
        #expect(World.run(plan).faultsStruck.allSatisfy { !kinds.contains($0.kind) })
    }

    @Test func `only the payments that are kept take part`() {
        var plan = RunPlan(seed: 5)
        plan.keptPayments = [3, 9]
        let kept = Set([3, 9].map { plan.payments[$0].id })
        let result = World.run(plan, isRecording: true)
        var seen: Set<PaymentID> = []
        // What somebody else made beside them may be undone by a payment of its own.
        for case .committed(let commit) in result.happenings.map(\.what)
        where commit.after.caller.name != UnbookedTransaction.caller {
            seen.insert(commit.after.id)
        }
        #expect(seen == kept)
    }

    @Test func `without faults everything is done at once and nothing is in doubt`() {
        var plan = RunPlan(seed: 11, arrangement: .singleStore)
        plan.suppressedKinds = Set(FaultKind.allCases)
        let result = World.run(plan, isRecording: true)
        #expect(result.violations.isEmpty, "\(result.violations)")
        var quarantined = 0
        for case .committed(let commit) in result.happenings.map(\.what) where commit.after.state == .quarantined {
            quarantined += 1
        }
        #expect(quarantined == 0)
        #expect(result.unrest == nil)
    }

    @Test func `a planted bug is seen`() {
        let plant = Plant(
            name: "early", sentence: "Requests leave before they are decided.", sabotage: [.sendsBeforeCommit])
        let seeds: ClosedRange<UInt64> = 1...6
        let numbers = seeds.flatMap { World.run(RunPlan(seed: $0), plant: plant).violations.map(\.invariant) }
        #expect(numbers.contains(9), "\(numbers)")
    }
}
