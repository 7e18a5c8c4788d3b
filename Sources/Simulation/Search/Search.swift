internal import PaymentCore

/// The search: breadth first through everything that a scenario allows, so that the first violation found is reached by
/// as few steps as any.
public struct Search {
    private let scenario: Scenario
    private let plant: SearchPlant
    private let limit: Int

    /// A search ends unfinished after so many states, unless it is told otherwise.
    public static let mostStates = 100_000_000

    /// A search of one scenario, up to `limit` states.
    public init(_ scenario: Scenario, plant: SearchPlant = .none, limit: Int = Search.mostStates) {
        self.scenario = scenario
        self.plant = plant
        self.limit = limit
    }

    /// Searches all of it.
    ///
    /// - Throws: if the scenario is not one that a payment can be created in.
    public func run() throws -> SearchReport {
        let world = try SearchWorld(scenario, plant)
        var run = SearchRun(world)
        return run.search(limit: limit)
    }
}

/// One search on its way.
struct SearchRun {
    private let world: SearchWorld
    private let judge: SearchJudge
    private var expander: Expander
    private var visited = VisitedStates()
    private var fair: [UInt32] = []
    private var transitions = 0
    private var ends = SearchReport.Ends()
    private static let rests = UInt32.max
    private static let stuck = UInt32.max - 1

    init(_ world: SearchWorld) {
        self.world = world
        judge = SearchJudge(world: world)
        expander = Expander(world)
    }

    mutating func search(limit: Int) -> SearchReport {
        _ = visited.insert(expander.initial(), from: VisitedStates.none)
        var sink = Expander.Sink()
        var depth = 0
        var endOfLevel = 1
        var index = 0
        while index < visited.states.count {
            if index == endOfLevel {
                depth += 1
                endOfLevel = visited.states.count
            }
            let state = visited.states[index]
            let traits = expander.locals.traits[Int(state.row)]
            ends.count(traits)
            if let finding = judge.finding(state, traits) {
                return report(depth, .violated(finding, trace(to: UInt32(index))))
            }
            sink.states.removeAll(keepingCapacity: true)
            expander.expand(state, into: &sink)
            for next in sink.states { _ = visited.insert(next, from: UInt32(index)) }
            transitions += sink.states.count
            if let broken = expander.locals.broken {
                let words = trace(to: UInt32(index)) + ["then: \(broken.event)"]
                return report(depth, .violated(broken.finding, words))
            }
            switch expander.fairStep(state) {
            case .rests: fair.append(SearchRun.rests)
            case .stuck: fair.append(SearchRun.stuck)
            case .next(let next):
                fair.append(visited.insert(expander.hurried(next), from: UInt32(index)).index)
            }
            if visited.states.count > limit { return report(depth, .unfinished) }
            index += 1
        }
        if let stuck = firstThatNeverEnds() { return report(depth, .stuck(words(of: stuck), trace(to: stuck))) }
        let audit = expander.locals.audited()
        if let difference = audit.difference { return report(depth, .unsound(difference)) }
        return report(depth, .safe(audited: audit.compared))
    }

    private func report(_ depth: Int, _ verdict: SearchReport.Verdict) -> SearchReport {
        SearchReport(
            scenario: world.scenario.name, plant: world.plant.name, states: visited.states.count,
            transitions: transitions, rows: expander.locals.states.count, depth: depth, ends: ends, verdict: verdict)
    }

    // MARK: Liveness

    /// Follows the fault-free run from every state; each has exactly one. A run that comes back to itself is none that
    /// ends, unless people are asked for.
    private func firstThatNeverEnds() -> UInt32? {
        // 0 not seen yet, 1 on the way that is followed, 2 comes to an end, 3 never does.
        var colour = [UInt8](repeating: 0, count: fair.count)
        for start in fair.indices where colour[start] == 0 {
            var path: [Int] = []
            var stateIndex = start
            var isGood = true
            while true {
                if colour[stateIndex] == 1 {
                    isGood = isQuarantined(stateIndex)
                    break
                }
                if colour[stateIndex] >= 2 {
                    isGood = colour[stateIndex] == 2
                    break
                }
                colour[stateIndex] = 1
                path.append(stateIndex)
                if fair[stateIndex] == SearchRun.rests { break }
                if fair[stateIndex] == SearchRun.stuck {
                    isGood = isLeftToPeople(stateIndex)
                    break
                }
                stateIndex = Int(fair[stateIndex])
            }
            for step in path { colour[step] = isGood ? 2 : 3 }
        }
        return colour.firstIndex(of: 3).map { UInt32($0) }
    }

    private func isQuarantined(_ stateIndex: Int) -> Bool {
        expander.locals.traits[Int(visited.states[stateIndex].row)].isQuarantined
    }

    /// Whether people decide about a leg whose provider cannot be asked: nobody asks it again meanwhile.
    private func isLeftToPeople(_ stateIndex: Int) -> Bool {
        let quarantined = expander.locals.traits[Int(visited.states[stateIndex].row)].quarantined
        return zip(quarantined, world.legContracts).contains { $0 && $1.inquiry == .byResend }
    }

    private func words(of index: UInt32) -> String {
        var words = "from there a run without faults comes to no end"
        var stateIndex = Int(index)
        var seen: Set<Int> = []
        while seen.insert(stateIndex).inserted, fair[stateIndex] != SearchRun.rests, fair[stateIndex] != SearchRun.stuck
        {
            stateIndex = Int(fair[stateIndex])
        }
        let state = visited.states[stateIndex]
        let traits = expander.locals.traits[Int(state.row)]
        words += "; it stays at latch \(traits.latch), due \(traits.due)"
        for leg in world.legContracts.indices { words += ", leg \(leg) \(state[leg: leg])" }
        return words
    }

    // MARK: Traces

    /// The steps that lead to a state, in words. Each is taken once more to say what the machine did.
    private func trace(to index: UInt32) -> [String] {
        var path = [index]
        while visited.parents[Int(path[path.count - 1])] != VisitedStates.none {
            path.append(visited.parents[Int(path[path.count - 1])])
        }
        path.reverse()
        var describing = expander
        var words: [String] = []
        for (from, to) in zip(path, path.dropFirst()) {
            var sink = Expander.Sink(words: [])
            describing.expand(visited.states[Int(from)], into: &sink)
            let sinkIndex = sink.states.firstIndex(of: visited.states[Int(to)])
            words.append(sinkIndex.flatMap { sink.words?[$0] } ?? "everything on its way arrives")
        }
        return words
    }
}
