public import PaymentCore

/// What many seeds came to, taken together.
public struct SeedTally: Sendable {
    /// Seeds that were run.
    public private(set) var seeds = 0
    /// Those of them that were run twice, to the same trace or with a finding.
    public private(set) var repeated = 0
    /// Faults that struck; those of the second runs are not counted.
    public private(set) var faults = 0
    /// Steps of the first runs.
    public private(set) var events = 0
    /// Steps of all runs.
    public private(set) var allEvents = 0
    /// Payments that were asked for.
    public private(set) var payments = 0
    /// How much virtual time went by.
    public private(set) var simulatedTime = Span.zero
    /// Seeds with a finding.
    public private(set) var findings = 0

    private var strikes = Array(repeating: 0, count: FaultKind.allCases.count)

    /// Nothing yet.
    public init() {}

    /// How often each kind of fault struck.
    public var faultsByKind: [(kind: FaultKind, count: Int)] {
        FaultKind.allCases.map { ($0, strikes[$0.rawValue]) }
    }

    mutating func add(_ outcome: SeedOutcome) {
        let result = outcome.result
        seeds += 1
        if outcome.wasRepeated {
            repeated += 1
            allEvents += result.events
        }
        allEvents += result.events
        faults += result.faultsStruck.count
        events += result.events
        payments += result.payments
        simulatedTime = simulatedTime + result.simulatedTime
        if !outcome.findings.isEmpty { findings += 1 }
        for fault in result.faultsStruck { strikes[fault.kind.rawValue] += 1 }
    }
}
