internal import PaymentCore

/// What is left out of a seed's plan. A failing run is made small by leaving out more and more of it.
public struct Reduction: Sendable, Hashable {
    /// Only these payments take part, by their place in the plan; nil for all.
    public var keptPayments: [Int]?
    /// Kinds of fault that never strike.
    public var withoutKinds: [FaultKind]
    /// Faults that do not strike, by their identity.
    public var withoutFaults: [UInt64]

    /// A reduction; without arguments nothing is left out.
    public init(keptPayments: [Int]? = nil, withoutKinds: [FaultKind] = [], withoutFaults: [UInt64] = []) {
        self.keptPayments = keptPayments.map { Array(Set($0)).sorted() }
        self.withoutKinds = Array(Set(withoutKinds)).sorted { $0.rawValue < $1.rawValue }
        self.withoutFaults = Array(Set(withoutFaults)).sorted()
    }

    /// The plan of a seed, without what is left out.
    ///
    /// - Parameter plant: what is planted; it may want surroundings of its own.
    public func plan(seed: UInt64, plant: Plant = .none) -> RunPlan {
        var plan = plant.surroundings.plan(seed: seed)
        plan.keptPayments = keptPayments.map { Set($0) }
        plan.suppressedKinds = Set(withoutKinds)
        plan.suppressed = Set(withoutFaults)
        return plan
    }

    /// The timeline of a seed's run with this left out.
    ///
    /// - Parameter finding: what is wrong; the timeline ends there.
    public func timeline(seed: UInt64, plant: Plant = .none, finding: SeedFinding? = nil) -> Timeline {
        let plan = plan(seed: seed, plant: plant)
        return Timeline(plan, World.run(plan, plant: plant, isRecording: true), finding: finding)
    }

    /// The options with which the command line leaves out the same.
    public var options: [String] {
        var options: [String] = []
        if let keptPayments {
            options.append("--keep-payments " + keptPayments.map { String($0) }.joined(separator: ","))
        }
        if !withoutKinds.isEmpty {
            options.append("--without " + withoutKinds.map(\.name).joined(separator: ","))
        }
        if !withoutFaults.isEmpty {
            let names = withoutFaults.map { String($0, radix: 16) }
            options.append("--without-faults " + names.joined(separator: ","))
        }
        return options
    }

    /// The command that repeats a seed's run with this left out, and prints its timeline.
    public func command(seed: UInt64, plant: Plant) -> String {
        let planted = plant.name == Plant.none.name ? [] : ["--plant \(plant.name)"]
        let words = ["reconciled-lab simulate --seeds 1 --from \(seed)"] + planted + options + ["--timeline"]
        return words.joined(separator: " ")
    }
}
