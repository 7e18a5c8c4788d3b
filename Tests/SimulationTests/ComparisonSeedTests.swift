import PaymentCore
import Reconciler
import Simulation
import Testing

/// Comparisons of both sides within seeds.
@Suite struct ComparisonSeedTests {
    /// What a recorded run came to.
    private struct Seen {
        var completed: [ProviderName: [ComparisonRun]] = [:]
        var opened: [ComparisonClass] = []
        var orders = 0
        var claims: [ComparisonRunID: Int] = [:]

        init(_ result: RunResult) {
            for case .compared(let news) in result.happenings.map(\.what) {
                switch news {
                case .planned: break
                case .claimed(let run, _, _): claims[run.id, default: 0] += 1
                case .recorded(let step, _, _, _):
                    opened += step.findings.filter { $0.outcome == .opened }.map(\.evidence.finding)
                    if step.run.state == .completed { completed[step.run.provider, default: []].append(step.run) }
                case .ordered: orders += 1
                }
            }
        }
    }

    @Test(arguments: [3, 11, 17] as [UInt64])
    func `without faults everything that is listed is compared, and nothing differs`(seed: UInt64) throws {
        var plan = RunPlan(seed: seed, arrangement: .singleStore)
        plan.suppressedKinds = Set(FaultKind.allCases)
        let result = World.run(plan, isRecording: true)
        #expect(result.violations.isEmpty, "\(result.violations)")
        let seen = Seen(result)
        #expect(seen.opened.isEmpty, "\(seen.opened)")
        #expect(seen.orders == 0)
        for provider in plan.providers where provider.contract.listing {
            let runs = try #require(seen.completed[provider.name])
            #expect(runs.count > 1)
            #expect(runs.allSatisfy { $0.isProven == true })
        }
        #expect(seen.completed.keys.allSatisfy { plan.contracts[$0]?.listing == true })
        let matched = seen.completed.values.joined().map { $0.counts[.matched] }.reduce(0, +)
        #expect(matched > 10)
    }

    @Test func `runs are interrupted, and taken up again where they were`() {
        var takenUp = 0
        for seed in UInt64(6)...9 {
            var plan = RunPlan(seed: seed, arrangement: .synchronous)
            plan.rates[.comparisonInterrupted] = 60_000
            plan.rates[.comparisonFailed] = 60_000
            let result = World.run(plan, isRecording: true)
            #expect(result.violations.isEmpty, "\(result.violations)")
            #expect(result.unrest == nil)
            takenUp += Seen(result).claims.values.count { $0 > 1 }
        }
        #expect(takenUp > 0)
    }

    @Test func `what others do is found, and called what it is`() {
        let wanted: Set<ComparisonClass> = [
            .orphan, .duplicate, .foreign, .oursOnly, .amountDiffers, .refundDiffers,
        ]
        var classes: Set<ComparisonClass> = []
        for seed in 1...100 as ClosedRange<UInt64> where !wanted.isSubset(of: classes) {
            var plan = RunPlan(seed: seed, arrangement: .synchronous)
            let planted = FaultKind.allCases.filter { $0.isPlantedDifference && $0 != .plantedTwice }
            for kind in planted + [.changedOutside] {
                plan.rates[kind] = 80_000
            }
            let result = World.run(plan, isRecording: true)
            #expect(result.violations.isEmpty, "seed \(seed): \(result.violations)")
            classes.formUnion(Seen(result).opened)
        }
        #expect(wanted.isSubset(of: classes), "never seen: \(wanted.subtracting(classes))")
    }

    @Test func `a run that does not compare is told from one that does`() {
        var plan = RunPlan(seed: 3)
        let compared = World.run(plan).hash
        plan.isCompared = false
        let result = World.run(plan, isRecording: true)
        #expect(result.hash != compared)
        #expect(Seen(result).completed.isEmpty)
    }
}
