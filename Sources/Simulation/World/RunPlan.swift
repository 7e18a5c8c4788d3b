public import PaymentCore

/// Everything that one run is made of, drawn from its seed: the providers, the arrangement of sites, the mix of faults.
///
/// A plan can be made smaller without anything else moving: every fault has an identity of its own, and every draw
/// depends on the seed and on what it is for.
public struct RunPlan: Sendable {
    /// How acknowledged rows are kept.
    public enum Replication: String, Sendable, Hashable, CaseIterable {
        /// One store; its rows are lost only by a restore.
        case singleStore = "single_store"
        /// A commit is acknowledged once the standby has it.
        case synchronous
        /// The standby follows behind.
        case asynchronous
    }

    /// A provider of the run.
    public struct Provider: Sendable, Hashable {
        /// Its name.
        public let name: ProviderName
        /// What it can do.
        public internal(set) var contract: ProviderContract
        /// The name of the contract that it was varied from.
        public let kind: String
    }

    /// The seed.
    public let seed: UInt64
    /// When the run begins, by true time.
    public let start: Timestamp
    /// The providers.
    public internal(set) var providers: [Provider]
    /// The payments, with what their callers will ask for.
    public let payments: [PlannedPayment]
    /// How acknowledged rows are kept.
    public let replication: Replication
    /// 1 or 2.
    public let sites: Int
    /// From where a site's right to act is renewed.
    public let proof: SiteProofKind
    /// Whether sites are promoted as by the version before, which opened a recovery window though nothing was lost.
    public let promotesAsBefore: Bool
    /// 1 to 3.
    public let replicasPerSite: Int
    /// What the operator decided.
    public let policy: SettlementPolicy
    /// For how long faults strike.
    public let faultPhase: Span
    /// When many payments arrive at once, after the start; faults that belong to a time are near these.
    public let bursts: [Span]
    /// How often each kind of fault strikes, in parts per million of its chances.
    public var rates: FaultRates
    /// Faults that do not strike, by their identity.
    public var suppressed: Set<UInt64> = []
    /// How far an asynchronous standby is behind; nil for moments, as it is drawn.
    public internal(set) var standbyLag: Span?
    /// What the operator decided about comparing both sides.
    public internal(set) var comparison: ComparisonSettings
    /// The configuration before, where some replicas still have it.
    var rollout: Rollout?
    /// Whether people take payments out of quarantine.
    public var hasPeople = false
    /// Whether both sides are compared.
    public var isCompared = true
    /// Kinds that do not strike at all.
    public var suppressedKinds: Set<FaultKind> = [] { didSet { rates.silence(suppressedKinds) } }
    /// Only these payments take part, by index; nil for all.
    public var keptPayments: Set<Int>?

    /// The contracts by name.
    public var contracts: [ProviderName: ProviderContract] {
        Dictionary(providers.map { ($0.name, $0.contract) }, uniquingKeysWith: { first, _ in first })
    }

    /// The sites' names.
    static let siteNames: [SiteName] = ["site-a", "site-b"].compactMap { name in
        do { return try SiteName(name) } catch { return nil }
    }

    /// Whether an acknowledged commit survives the loss of the machine that made it.
    public var keepsAcknowledgedRows: Bool { replication != .asynchronous }

    /// The longest of the contracts' request lives.
    public var longestRequestLife: Span { providers.map(\.contract.maxRequestLife).max() ?? .zero }

    /// How far each clock is off at most, on either side. Any two of ours then differ by less than the least skew that
    /// a contract assumes, and by less than the shortest wait of the schedules.
    public var clockBound: Span {
        let least = providers.map(\.contract.clockSkew).min() ?? .zero
        return min(Span(milliseconds: least.milliseconds / 2), .milliseconds(900))
    }

    /// Draws a plan.
    ///
    /// - Parameter arrangement: instead of the drawn replication, this one.
    public init(seed: UInt64, arrangement: Replication? = nil) {
        let chance = Chance(seed: seed)
        self.seed = seed
        start = Timestamp(milliseconds: 1_800_000_000_000)
        let drawn: [Replication] = [.singleStore, .singleStore, .synchronous, .asynchronous, .asynchronous]
        let replication = arrangement ?? drawn[chance.draw("replication", below: drawn.count)]
        self.replication = replication
        sites = replication == .singleStore ? 1 : 2
        // Who promotes an asynchronous standby without a witness has to fence the other site.
        let proofs: [SiteProofKind] =
            switch replication {
            case .singleStore: [.none]
            case .synchronous: [.standby, .standby, .postgres]
            case .asynchronous: [.postgres, .postgres, .none]
            }
        proof = proofs[chance.draw("proof", below: proofs.count)]
        promotesAsBefore = chance.draw("promotes as before", below: 4) > 0
        replicasPerSite = 1 + chance.draw("replicas", below: 3)
        let providerDraw = ProviderDraw(chance, keepsAcknowledgedRows: replication != .asynchronous)
        providers = providerDraw.providers
        policy = providerDraw.policy
        let phases: [Span] = [.minutes(20), .hours(2), .hours(12), .days(2)]
        let phase = phases[chance.draw("phase", below: phases.count)]
        faultPhase = phase
        let count = 3 + chance.draw("bursts", below: 5)
        bursts = (0..<count).map { index in
            let offset = chance.draw("burst", index, below: Int(phase.milliseconds * 7 / 10))
            return Span(milliseconds: Int64(offset) + 5_000)
        }
        payments = PlannedPayment.drawn(
            chance, count: 40 + chance.draw("payments", below: 41), bursts: bursts, providers: providerDraw.providers,
            mayMislead: replication != .asynchronous)
        rates = FaultRates(chance, replication: replication)
        comparison = RunPlan.comparison(
            chance, phase: phase, start: start, keepsRows: replication != .asynchronous)
        if replication == .asynchronous, chance.draw("lags", below: 3) == 0 {
            standbyLag = .seconds(Int64(5 + chance.draw("lag", below: 56)))
        }
        rollout = Rollout(chance, of: self)
        hasPeople = chance.draw("people", below: 3) == 0
    }

    /// Where in the plan a payment is; nil for a stranger.
    public func index(of payment: PaymentID) -> Int? { payments.firstIndex { $0.id == payment } }
}

/// The providers and the policy of a run: contracts of every shape that the daemon starts with.
struct ProviderDraw {
    let providers: [RunPlan.Provider]
    let policy: SettlementPolicy

    init(_ chance: Chance, keepsAcknowledgedRows: Bool) {
        var policy = SettlementPolicy()
        policy.plugAllowed = chance.draw("plug", below: 3) > 0
        let deadlines: [Span] = [.minutes(2), .minutes(15), .minutes(15), .hours(2)]
        policy.defaultDeadline = deadlines[chance.draw("deadline", below: deadlines.count)]
        let assumptions = SafetyAssumptions(
            storeKeepsAcknowledgedRows: keepsAcknowledgedRows, plugAllowed: policy.plugAllowed)
        var providers: [RunPlan.Provider] = []
        let wanted = 2 + chance.draw("providers", below: 3)
        for (index, word) in ["card", "wallet", "points", "bank"].enumerated() where index < wanted {
            guard let name = ProviderDraw.name(word) else { continue }
            // What the daemon would refuse to start with is drawn again.
            let drawn = (0..<32).lazy.map { ProviderDraw.contract(chance, index * 64 + $0) }
            let (kind, contract) =
                drawn.first { $0.1.traps(under: assumptions).isEmpty } ?? ("reference", .reference)
            providers.append(RunPlan.Provider(name: name, contract: contract, kind: kind))
        }
        self.providers = providers
        self.policy = policy
    }

    private static func name(_ text: String) -> ProviderName? {
        do { return try ProviderName(text) } catch { return nil }
    }

    /// Those whose status can be read.
    private static let usual = ProviderContract.known.filter { $0.contract.inquiry != .byResend }

    private static func contract(_ chance: Chance, _ index: Int) -> (String, ProviderContract) {
        func draw(_ what: String, below bound: Int) -> Int { chance.draw(what, index, below: bound) }
        // Drawn apart, so that it changes no other provider of any seed.
        if draw("cannot be asked", below: 8) == 0 {
            var contract = ProviderContract.adyen
            if draw("forgets sooner", below: 2) == 0 {
                contract.keyRetention = draw("forgets in minutes", below: 2) == 0 ? .minutes(10) : .hours(1)
            }
            if draw("leaves tombstones", below: 3) == 0 { contract.cancel = .tombstoning }
            return ("adyen", contract)
        }
        var (kind, contract) = usual[draw("contract", below: usual.count)]
        guard kind.hasPrefix("reference") else { return (kind, contract) }
        if draw("unbound", below: 3) == 0 { contract.declinesBound = false }
        if draw("lag", below: 3) == 0 { contract.visibilityLag = .seconds(20) }
        if draw("retention", below: 3) == 0 {
            contract.keyRetention = [.minutes(10), .hours(1), .hours(24)][draw("retained", below: 3)]
        }
        if draw("enforces", below: 3) == 0 { contract.enforcesNotAfter = false }
        if draw("cancel", below: 3) == 0 { contract.cancel = .onlyIfPresent }
        if draw("status", below: 4) == 0 {
            contract.statusRetention = [.days(2), .days(30)][draw("status retained", below: 2)]
        }
        if draw("sums", below: 5) == 0 { contract.refundVisibility = .sumsOnly }
        if contract.phases == .sale, draw("reverses", below: 2) == 0 { contract.cancelReversesSale = true }
        if draw("hold", below: 3) == 0 {
            contract.authorizationLife = draw("held", below: 2) == 0 ? .hours(6) : .days(3)
        }
        return (kind, contract)
    }
}
