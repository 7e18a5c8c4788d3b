import PaymentCore
import Testing

@testable import Simulation

@Suite struct ShrinkerTests {
    func plant(_ name: String) throws -> Plant { try #require(Plant.sabotages.first { $0.name == name }) }

    @Test func `the smallest part that still fails is found`() {
        var tries = 0
        let smallest = Shrinker.smallest(Array(0..<100)) { kept in
            tries += 1
            return kept.contains(17) && kept.contains(64)
        }
        #expect(smallest == [17, 64])
        #expect(tries < 100)
        #expect(Shrinker.smallest([1, 2, 3]) { _ in true }.isEmpty)
        #expect(Shrinker.smallest([1, 2, 3]) { _ in false } == [1, 2, 3])
    }

    @Test func `a bug that needs no fault is shown by one payment without any`() throws {
        let plant = try plant("sendsBeforeCommit")
        let few = Reduction(keptPayments: Array(0..<4))
        var runner = SeedRunner(from: 1, count: 1, plant: plant, reduction: few)
        let next = runner.next()
        let outcome = try #require(next)
        let finding = try #require(outcome.findings.first)
        var shrinker = Shrinker(seed: 1, finding: finding, plant: plant, reduction: few)
        let smallest = shrinker.shrink()
        let shrunk = try #require(smallest)
        #expect(shrunk.finding.invariant == finding.invariant)
        #expect(shrunk.reduction.keptPayments?.count == 1)
        #expect(shrunk.faultsBefore > 50)
        #expect(shrunk.faults == 0)
        #expect(shrunk.timeline().lines.count <= 50)
    }

    @Test func `a bug that needs faults keeps those, and the run fails without the others`() throws {
        let plant = try plant("versionIgnored")
        var runner = SeedRunner(from: 1, count: 5, plant: plant, reduction: Reduction(keptPayments: Array(0..<10)))
        let outcomes = runner.finish()
        let outcome = try #require(outcomes.first)
        let finding = try #require(outcome.findings.first)
        let before = outcome.result.faultsStruck.count
        var shrinker = Shrinker(
            seed: outcome.seed, finding: finding, plant: plant, reduction: runner.reduction, mostRuns: 150)
        let smallest = shrinker.shrink()
        let shrunk = try #require(smallest)
        #expect(shrunk.runs <= 150)
        #expect(shrunk.faults < before)
        let again = World.run(shrunk.reduction.plan(seed: shrunk.seed), plant: plant)
        #expect(again.violations.contains { $0.invariant == finding.invariant })
        #expect(again.faultsStruck.count == shrunk.faults)
    }

    @Test func `what does not fail is not made small`() throws {
        let violation = Violation(
            invariant: 2, at: Timestamp(milliseconds: 0), payment: nil, words: "it never happened")
        var shrinker = Shrinker(
            seed: 1, finding: .violated(violation), reduction: Reduction(keptPayments: [0]))
        let shrunk = shrinker.shrink()
        #expect(shrunk?.seed == nil)
    }

    @Test func `the command names everything that is left out`() {
        let reduction = Reduction(
            keptPayments: [7, 3, 7], withoutKinds: [.throttled, .requestLost], withoutFaults: [0xFF, 0x0A])
        #expect(
            reduction.command(seed: 97, plant: .none)
                == "reconciled-lab simulate --seeds 1 --from 97 --keep-payments 3,7 --without request_lost,throttled "
                + "--without-faults a,ff --timeline")
        #expect(Reduction().command(seed: 1, plant: .none) == "reconciled-lab simulate --seeds 1 --from 1 --timeline")
    }
}
