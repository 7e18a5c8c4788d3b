public import PaymentCore

/// What a planted bug wants around it, so that few seeds are enough to see it: the arrangement of the stores, faults
/// that strike more often, contracts with a certain term. The rest of a plan stays as its seed draws it.
public struct Surroundings: Sendable {
    /// Instead of the drawn one.
    public let replication: RunPlan.Replication?
    /// In parts per million, instead of the drawn rates.
    public let rates: [FaultKind: Int]
    /// Instead of the drawn one, if given.
    public let standbyLag: Span?
    /// Whether both sides are compared: what a comparison settles afterwards, no judge sees at the end.
    public let isCompared: Bool
    /// Whether people take payments out of quarantine in every run.
    var hasPeople = false
    private let term: @Sendable (inout ProviderContract) -> Void

    /// Surroundings; without arguments everything is as the seed draws it.
    public init(
        replication: RunPlan.Replication? = nil, rates: [FaultKind: Int] = [:], standbyLag: Span? = nil,
        isCompared: Bool = true
    ) {
        self.init(
            replication: replication, rates: rates, standbyLag: standbyLag, isCompared: isCompared, term: { _ in })
    }

    init(
        replication: RunPlan.Replication? = nil, rates: [FaultKind: Int] = [:], standbyLag: Span? = nil,
        isCompared: Bool = true, term: @escaping @Sendable (inout ProviderContract) -> Void
    ) {
        self.replication = replication
        self.rates = rates
        self.standbyLag = standbyLag
        self.isCompared = isCompared
        self.term = term
    }

    /// The plan of a seed in these surroundings. A contract that the daemon would refuse keeps its own terms.
    public func plan(seed: UInt64) -> RunPlan {
        var plan = RunPlan(seed: seed, arrangement: replication)
        plan.standbyLag = standbyLag ?? plan.standbyLag
        plan.isCompared = isCompared
        plan.hasPeople = hasPeople || plan.hasPeople
        for kind in FaultKind.allCases {
            if let rate = rates[kind] { plan.rates[kind] = rate }
        }
        let assumptions = SafetyAssumptions(
            storeKeepsAcknowledgedRows: plan.keepsAcknowledgedRows, plugAllowed: plan.policy.plugAllowed)
        for index in plan.providers.indices {
            var contract = plan.providers[index].contract
            term(&contract)
            if contract.traps(under: assumptions).isEmpty { plan.providers[index].contract = contract }
        }
        // What was assumed before is drawn from the contracts as they are now.
        plan.rollout = Rollout(Chance(seed: seed), of: plan)
        return plan
    }

    private static let loss: [FaultKind: Int] = [
        .failoverLosingRows: 1_000_000, .callerRepeats: 300_000, .callerCancels: 300_000,
    ]
    private static let doubt: [FaultKind: Int] = [
        .requestDelayed: 300_000, .answerLost: 150_000, .requestDuplicated: 150_000, .inquirySlow: 250_000,
        .callerCancels: 300_000, .requestRefused: 60_000,
    ]

    private static let strangers: [FaultKind: Int] = [
        .plantedOrphan: 60_000, .plantedDuplicate: 60_000, .plantedForeign: 40_000, .refundRemoved: 60_000,
        .transactionForgotten: 40_000, .listingHides: 40_000, .amountChanged: 40_000, .changedOutside: 60_000,
        .plantedTwice: 60_000, .plantedOtherStore: 60_000, .plantedStoreless: 60_000,
        .comparisonInterrupted: 10_000, .replicaPaused: 10_000, .comparisonFailed: 20_000, .inquiryFailed: 300_000,
    ]

    private static let provable: @Sendable (inout ProviderContract) -> Void = { contract in
        contract.cancel = .onlyIfPresent
        contract.enforcesNotAfter = true
        contract.statusRetention = nil
    }

    /// Payers dispute many charges, while much is undone and refunded.
    static let disputed = Surroundings(
        rates: doubt.merging([.disputed: 800_000, .callerCancels: 300_000], uniquingKeysWith: max))
    /// Rows are lost in every run.
    static let lossy = Surroundings(replication: .asynchronous, rates: loss, standbyLag: .seconds(15))
    /// The same, where what is lost is minutes long, and nobody cancels: refunds are among it.
    static let lossyLate = Surroundings(
        replication: .asynchronous,
        rates: loss.merging([.callerCancels: 0, .callerRepeats: 0], uniquingKeysWith: min),
        standbyLag: .minutes(5))
    /// The same, where much comes to an end just before.
    static let lossyEnds = Surroundings(
        replication: .asynchronous,
        rates: loss.merging([.callerCancels: 800_000, .declined: 150_000], uniquingKeysWith: max),
        standbyLag: .minutes(2))
    /// The same, where much is canceled and little is answered just before, and nobody compares both sides.
    static let lossyInDoubt = Surroundings(
        replication: .asynchronous,
        rates: loss.merging(
            [.callerCancels: 800_000, .answerLost: 200_000, .requestDelayed: 200_000], uniquingKeysWith: max),
        standbyLag: .minutes(2), isCompared: false)
    /// Requests arrive late or twice, and answers do not; a comparison would settle what comes of it.
    static let doubtful = Surroundings(rates: doubt, isCompared: false)
    /// As it is drawn, and nobody compares both sides.
    static let uncompared = Surroundings(isCompared: false)
    /// The same, where nothing but `not_after` ends a doubt, and answers of reads are long on their way.
    static let provablyDoubtful = Surroundings(
        rates: doubt.merging([.inquirySlow: 300_000], uniquingKeysWith: max), isCompared: false, term: provable)
    /// Others change much at the providers, and comparisons are interrupted.
    static let compared = Surroundings(rates: strangers)
    /// The same, where requests arrive late or twice, and answers do not.
    static let comparedInDoubt = Surroundings(
        rates: strangers.merging(doubt, uniquingKeysWith: max).merging(
            [.transactionPending: 300_000], uniquingKeysWith: max))
    /// Sites hand over to each other in good order, again and again.
    static let handedOver = Surroundings(replication: .synchronous, rates: [.failback: 1_000_000])
    /// The same, with a store that takes its time.
    static let handedOverSlowly = Surroundings(
        replication: .synchronous,
        rates: [.failback: 1_000_000, .storeSlow: 1_000_000, .inquirySlow: 300_000, .answerLost: 300_000],
        isCompared: false)
    /// Sites lose sight of each other, and processes stand still meanwhile.
    static let fenced = Surroundings(
        replication: .synchronous, rates: [.sitesPartitioned: 1_000_000, .replicaPaused: 100_000])
    /// Sites lose sight of each other, and nothing is lost on the way to a provider.
    static let divided = Surroundings(
        replication: .asynchronous, rates: [.sitesPartitioned: 1_000_000, .callerCancels: 300_000])
    /// Callers ask for much beside a payment's holder, of a store that takes its time.
    static let contended = Surroundings(
        rates: doubt.merging([.storeSlow: 1_000_000, .callerCancels: 800_000], uniquingKeysWith: max))
    /// The store often refuses a change for a moment, or does not say whether it took it.
    static let unsure = Surroundings(
        rates: [
            .commitIndeterminate: 250_000, .storeBusy: 250_000, .callerRepeats: 300_000, .callerCancels: 300_000,
            .replicaPaused: 50_000,
        ])
    /// Answers take so long that what is due finds no place.
    static let crowded = Surroundings(
        replication: .singleStore, rates: [.answerLost: 500_000, .inquirySlow: 500_000, .requestDelayed: 300_000],
        isCompared: false)
    /// Callers repeat everything, and hear little of it.
    static let repeated = Surroundings(
        rates: [.callerRepeats: 1_000_000, .answerLost: 300_000], isCompared: false)
    /// Much is declined, also the capture of what was held.
    static let declined = Surroundings(rates: [.declined: 150_000], isCompared: false)
    /// Keys are forgotten within minutes.
    static let forgetful = Surroundings(
        rates: doubt,
        term: { contract in
            contract.keyRetention = .minutes(10)
            contract.cancel = .onlyIfPresent
            contract.enforcesNotAfter = false
        })
    /// Providers decline, and change their minds.
    static let unbound = Surroundings(
        rates: doubt.merging([.declined: 150_000], uniquingKeysWith: max), term: { $0.declinesBound = false })
    /// No status can be read, many answers are lost, and providers tell much that is about something else.
    static let unasked = Surroundings(
        rates: doubt.merging(
            [.notificationAstray: 500_000, .answerLost: 400_000, .declined: 60_000], uniquingKeysWith: max),
        isCompared: false, term: { $0 = .adyen })
    /// Providers show other amounts than they were asked for.
    static let contradicting = Surroundings(rates: [.contradiction: 100_000])
    /// The same, and people take it out of quarantine.
    static let visited: Surroundings = {
        var surroundings = Surroundings(rates: [.contradiction: 100_000, .inquiryFailed: 300_000])
        surroundings.hasPeople = true
        return surroundings
    }()
}
