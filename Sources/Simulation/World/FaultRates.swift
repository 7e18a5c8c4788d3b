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
        get { perMillion[kind.rawValue] }
        set { perMillion[kind.rawValue] = newValue }
    }

    mutating func silence(_ kinds: Set<FaultKind>) {
        for kind in FaultKind.allCases where kinds.contains(kind) { self[kind] = 0 }
    }

    private static func canStrike(_ kind: FaultKind, _ replication: RunPlan.Replication) -> Bool {
        switch kind {
        case .failover, .failback, .sitesPartitioned, .witnessAway: replication != .singleStore
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
        case .credentialsRefused, .errorStored: 5_000
        case .requestRefused, .declined: 3_000
        case .contradiction: 500
        case .inquiryFailed, .inquiryStale: 30_000
        case .inquirySlow: 10_000
        case .throttlingStorm, .providerOutage: 30_000
        case .changedOutside, .disputed: 4_500
        case .notification, .notificationAstray: 50_000
        case .crashBeforeCommit, .crashAfterCommit, .crashAtAnswer: 2_000
        case .replicaPaused: 2_000
        case .clockSkewed, .storePartitioned: 50_000
        case .storeBusy, .storeSlow: 30_000
        case .commitIndeterminate: 10_000
        case .failover, .failback, .sitesPartitioned, .witnessAway: 50_000
        case .failoverLosingRows: 150_000
        case .callerRepeats: 50_000
        case .callerCancels: 30_000
        case .comparisonInterrupted: 600
        case .comparisonFailed: 2_000
        case .listingStale: 30_000
        case .cursorRefused: 10_000
        case .plantedOrphan, .plantedDuplicate, .plantedForeign, .amountChanged, .refundRemoved: 1_000
        case .transactionForgotten, .listingHides, .plantedOtherStore, .plantedStoreless, .plantedTwice: 1_000
        }
    }
}
