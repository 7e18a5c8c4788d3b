/// How often each kind of fault strikes. Each seed switches about half of the kinds off and draws a rate for the
/// others: a run with everything at once hides what a run with little shows.
public struct FaultRates: Sendable, Hashable {
    private var perMillion: [Int]

    /// Draws the rates of a run.
    init(_ chance: Chance, replication: RunPlan.Replication) {
        perMillion = FaultKind.allCases.map { kind in
            guard FaultRates.canStrike(kind, replication) else { return 0 }
            let bits = chance.bits(Chance.word("rate"), kind.word)
            guard bits & 1 == 0 else { return 0 }
            let strengths = [3, 9, 20, 34]
            return kind.gentlest * strengths[Int(bits >> 8 & 3)]
        }
        // Rows are lost while people work at the providers' consoles: what is read then fits no row.
        if replication == .asynchronous, Chance.below(6, chance.bits(Chance.word("consoles"))) == 0 {
            self[.changedOutside] = 300_000
            self[.failoverLosingRows] = 1_000_000
        }
    }

    /// The rate of a kind, in parts per million.
    public subscript(kind: FaultKind) -> Int {
        get { perMillion[kind.ordinal] }
        set { perMillion[kind.ordinal] = newValue }
    }

    mutating func silence(_ kinds: Set<FaultKind>) {
        for kind in FaultKind.allCases where kinds.contains(kind) { self[kind] = 0 }
    }

    private static func canStrike(_ kind: FaultKind, _ replication: RunPlan.Replication) -> Bool {
        switch kind {
        case .failover, .failback, .sitesPartitioned: replication != .singleStore
        case .failoverLosingRows: replication == .asynchronous
        default: true
        }
    }
}

extension FaultKind {
    /// The rate in parts per million at the lowest strength; seeds draw up to thirty-four times as much.
    var gentlest: Int {
        switch self {
        case .requestLost, .answerLost, .requestDuplicated, .requestDelayed, .requestUnsent: 20_000
        case .throttled, .serverError, .transactionPending: 20_000
        case .credentialsRefused: 5_000
        case .requestRefused, .declined: 3_000
        case .contradiction: 500
        case .inquiryFailed, .inquiryStale: 30_000
        case .inquirySlow: 10_000
        case .throttlingStorm, .providerOutage: 30_000
        case .changedOutside: 4_500
        case .notification: 50_000
        case .crashBeforeCommit, .crashAfterCommit, .crashAtAnswer: 2_000
        case .replicaPaused: 2_000
        case .clockSkewed, .storePartitioned: 50_000
        case .storeBusy: 30_000
        case .commitIndeterminate: 10_000
        case .failover, .failback, .sitesPartitioned: 50_000
        case .failoverLosingRows: 150_000
        case .callerRepeats: 50_000
        case .callerCancels: 30_000
        }
    }

    /// A word for chance, the same in every run.
    var word: UInt64 { 0x4641_554C_5400_0000 | UInt64(ordinal) }

    /// Its place among all kinds.
    var ordinal: Int {
        switch self {
        case .requestLost: 0
        case .answerLost: 1
        case .requestDuplicated: 2
        case .requestDelayed: 3
        case .requestUnsent: 4
        case .throttled: 5
        case .throttlingStorm: 6
        case .serverError: 7
        case .credentialsRefused: 8
        case .requestRefused: 9
        case .declined: 10
        case .inquiryFailed: 11
        case .inquiryStale: 12
        case .inquirySlow: 13
        case .transactionPending: 14
        case .contradiction: 15
        case .providerOutage: 16
        case .changedOutside: 17
        case .notification: 18
        case .crashBeforeCommit: 19
        case .crashAfterCommit: 20
        case .crashAtAnswer: 21
        case .replicaPaused: 22
        case .clockSkewed: 23
        case .storeBusy: 24
        case .commitIndeterminate: 25
        case .storePartitioned: 26
        case .failover: 27
        case .failoverLosingRows: 28
        case .failback: 29
        case .sitesPartitioned: 30
        case .callerRepeats: 31
        case .callerCancels: 32
        }
    }
}
