internal import PaymentCore

/// The configuration before the plan's, which some replicas still have while the plan's is rolled out: replicas of one
/// store then work by different settings, as those of two versions of the program do.
///
/// Each of its values is as safe as the plan's: what a provider is assumed to do is assumed with more care, never with
/// less.
struct Rollout: Sendable, Hashable {
    /// The operator's decisions before.
    let policy: SettlementPolicy
    /// What was assumed of the providers before.
    let contracts: [ProviderName: ProviderContract]
    /// How both sides were compared before.
    let comparison: ComparisonSettings
    /// How long the lease of a site was before.
    let siteLease: Span

    /// Draws the configuration before, for some of the seeds.
    init?(_ chance: Chance, of plan: RunPlan) {
        func draw(_ what: String, _ index: Int = 0, below bound: Int) -> Int {
            chance.draw("rolls out \(what)", index, below: bound)
        }
        guard draw("anything", below: 3) == 0 else { return nil }
        var policy = plan.policy
        policy.defaultDeadline = [.minutes(2), .minutes(15), .hours(2)][draw("deadline", below: 3)]
        policy.healingSpan = [.minutes(10), .hours(1)][draw("healing", below: 2)]
        self.policy = policy
        let assumptions = SafetyAssumptions(
            storeKeepsAcknowledgedRows: plan.keepsAcknowledgedRows, plugAllowed: plan.policy.plugAllowed)
        var contracts = plan.contracts
        // With more care what a provider forgets goes to people sooner, and nothing here says that it need not. And a
        // payment that was given a longer window after a loss waits until somebody closes that.
        for (index, provider) in plan.providers.enumerated()
        where plan.sites == 1 && provider.contract.keyRetention == nil && provider.contract.statusRetention == nil {
            var contract = provider.contract
            let (life, lag, skew) = (contract.maxRequestLife, contract.visibilityLag, contract.clockSkew)
            if draw("life", index, below: 2) == 0 { contract.maxRequestLife = life + life }
            if draw("lag", index, below: 2) == 0 { contract.visibilityLag = lag + .seconds(20) }
            if draw("skew", index, below: 2) == 0 { contract.clockSkew = skew + .seconds(1) }
            if contract.traps(under: assumptions).isEmpty { contracts[provider.name] = contract }
        }
        self.contracts = contracts
        var comparison = plan.comparison
        comparison.pageSize = [3, 8, 20, 100][draw("page", below: 4)]
        let (delay, window) = (comparison.settleDelay, comparison.window)
        comparison.settleDelay = delay + [.zero, .minutes(5), .minutes(30)][draw("delay", below: 3)]
        if draw("window", below: 2) == 0 { comparison.window = window + window }
        self.comparison = comparison
        siteLease = [.seconds(20), .seconds(30), .seconds(45)][draw("lease", below: 3)]
    }
}

extension World {
    /// Whether a replica has the configuration before the plan's. Each start draws it anew, so that the plan's is taken
    /// back now and then; whatever starts after the faults has the plan's.
    func startsFormer(_ replica: Int) -> Bool {
        guard plan.rollout != nil, !areFaultsOver else { return false }
        return chance.bits(127, UInt64(replica), UInt64(replicas[replica].incarnation)) >> 32 & 1 == 0
    }

    /// The configuration before, if a replica still has it.
    func former(_ replica: Int) -> Rollout? { replicas[replica].isFormer ? plan.rollout : nil }

    /// What a replica is told of the providers.
    func contracts(_ replica: Int) -> [ProviderName: ProviderContract] {
        replicas[replica].isFormer ? formerlyTold : told
    }

    /// What a replica was told of settling.
    func policy(_ replica: Int) -> SettlementPolicy { former(replica)?.policy ?? plan.policy }
}
