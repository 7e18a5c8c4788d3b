import ArgumentParser
import Simulation

/// The options of `reconciled-lab simulate`.
struct SimulateOptions: ParsableArguments {
    @Option(help: "Run so many seeds, 1 to 10000000.") var seeds: Int?
    @Option(help: "The first seed.") var from: UInt64?
    @Flag(help: "Search every state of every scenario.") var exhaustive = false
    @Option(help: "Only scenarios with this in their name.") var scenario: String?
    @Option(help: "A bug to be planted, by its name; 'all' for each of them, and each must be found.")
    var plant: String?
    @Flag(help: "The names of the scenarios and plants.") var list = false
    @Option(help: "At most so many states for each scenario.") var limit: Int?
    @Flag(help: "Only the scenarios that take seconds.") var quick = false
    @Option(help: "Only these payments of the plan: 3,7.") var keepPayments: String?
    @Option(help: "Without these kinds of fault: request_lost,throttled.") var without: String?
    @Option(help: "Without these faults, by their names in a timeline: 5f0c…,91aa….") var withoutFaults: String?
    @Flag(help: "Print what happens in the one seed that is run.") var timeline = false
    @Option(help: "At most so many lines of a timeline; those in the middle are left out.")
    var lines = Timeline.mostLines
    @Flag(help: "Go on after a seed with a finding.") var keepGoing = false
    @Flag(inversion: .prefixedNo, help: "Make a failing run small.") var shrink = true
    @Option(help: "Run the first of so many seeds twice, which must come to the same trace; without it each.")
    var repeatEvery: Int?
    @Option(help: "Fail unless so many faults strike.") var minimumFaults: Int?
    @Flag(help: "Fail unless each named situation comes about, and each row of the tables decides.")
    var everySituation = false

    func validate() throws {
        guard exhaustive || list || seeds != nil else {
            throw ValidationError("one of --seeds, --exhaustive and --list is needed")
        }
        guard !exhaustive || seeds == nil else {
            throw ValidationError("--seeds and --exhaustive are two different things; give one of them")
        }
        try check("seeds", seeds, 1...10_000_000)
        try check("limit", limit, 1...1_000_000_000)
        try check("lines", lines, 10...10_000_000)
        try check("repeat-every", repeatEvery, 1...1_000_000)
        try check("minimum-faults", minimumFaults, 1...1_000_000_000_000)
        try refuseForeign()
        if timeline, seeds != 1 { throw ValidationError("--timeline: needs --seeds 1") }
        if timeline, plant == "all" { throw ValidationError("--timeline: needs one --plant, not all") }
        _ = try reduction()
    }

    /// What is left out of every run.
    func reduction() throws -> Reduction {
        Reduction(
            keptPayments: try SimulateOptions.parts(keepPayments, "keep-payments", allowed: "places from 0, as 3,7") {
                Int($0).flatMap { $0 >= 0 ? $0 : nil }
            },
            withoutKinds: try SimulateOptions.parts(
                without, "without", allowed: FaultKind.allCases.map(\.name).joined(separator: ", ")
            ) { FaultKind(named: $0) } ?? [],
            withoutFaults: try SimulateOptions.parts(
                withoutFaults, "without-faults", allowed: "hexadecimal names as a timeline prints them"
            ) { UInt64($0, radix: 16) } ?? [])
    }

    /// Options that would be ignored are refused: whoever gives them expects something else.
    private func refuseForeign() throws {
        let ofSeeds: [(String, Bool)] = [
            ("from", from != nil), ("keep-payments", keepPayments != nil), ("without", without != nil),
            ("without-faults", withoutFaults != nil), ("timeline", timeline), ("keep-going", keepGoing),
            ("repeat-every", repeatEvery != nil), ("minimum-faults", minimumFaults != nil),
            ("every-situation", everySituation),
        ]
        let ofSearches: [(String, Bool)] = [("scenario", scenario != nil), ("limit", limit != nil), ("quick", quick)]
        let foreign = (exhaustive ? ofSeeds : []) + (seeds != nil ? ofSearches : [])
        if let name = foreign.first(where: \.1)?.0 {
            throw ValidationError("--\(name): has no meaning with \(exhaustive ? "--exhaustive" : "--seeds")")
        }
    }

    private func check(_ name: String, _ value: Int?, _ range: ClosedRange<Int>) throws {
        guard let value, !range.contains(value) else { return }
        throw ValidationError("--\(name): '\(value)'; allowed: \(range.lowerBound) to \(range.upperBound)")
    }

    private static func parts<Part>(
        _ text: String?, _ name: String, allowed: String, _ read: (String) -> Part?
    ) throws -> [Part]? {
        guard let text else { return nil }
        let words = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return try words.map { word in
            guard let part = read(word) else { throw ValidationError("--\(name): '\(word)'; allowed: \(allowed)") }
            return part
        }
    }
}
