internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// One run: the real machines over simulated stores, providers, callers, clocks and wires, in virtual time.
public struct World {
    /// What happens next.
    enum Step {
        case ask(task: Int)
        case repeatAsk(task: Int)
        case asked(ask: Int)
        case follow(ask: Int)
        case job(Int)
        case read(job: Int)
        case arrive(wire: Int, isCopy: Bool)
        case timeout(wire: Int)
        case look(replica: Int, incarnation: Int)
        case renew(replica: Int, incarnation: Int)
        case restart(replica: Int)
        case mishap(Int)
        case ship(upTo: Int)
        case site(SiteStep)
        case keep(Int)
        case compare(ComparisonTurn)
        case people(PeopleStep)
        case news(Int)
        case faultsEnd
        case restCheck(after: Int64)
    }

    let plan: RunPlan
    let plant: Plant
    let chance: Chance
    /// What machines are told of the providers; only sabotage tells them otherwise than it is.
    let told: [ProviderName: ProviderContract]
    /// The same for replicas that have the configuration before the plan's.
    let formerlyTold: [ProviderName: ProviderContract]
    let providerNames: [ProviderName]
    let providerPlaces: [ProviderName: Int]
    let paymentIndices: [PaymentID: Int]
    /// The payments by their places: those of the plan, and then those that strangers' transactions may come to.
    let ids: [PaymentID]
    let limits: Sweep.Limits
    private let sabotages: UInt64
    /// The engine's rules, some of which a plant breaks.
    let rules: EngineRules

    /// True time, in milliseconds.
    var now: Int64
    var heap = EventHeap<Step>()
    var providers: [SimulatedProvider]
    var sites: [Site]
    var activeSite = 0
    var link = Link()
    var replicas: [SimulatedReplica] = []
    var jobs = Slots<Job>()
    var wires = Slots<Wire>()
    var comparing = Slots<ComparisonJob>()
    var keeping = Slots<KeeperJob>()
    /// What both sides were when rest was looked for last, and since when it is so.
    var sides: [BookedPosition] = []
    var sidesSince: Int64 = 0
    var tasks: [CallerTask] = []
    var asks: [CallerAsk] = []
    var mishaps: [Mishap] = []
    /// Until when a provider cannot be reached, and until when it asks everybody to slow down.
    var outages: [Int64]
    var storms: [Int64]
    /// Where sites' right to act is kept, if not in their databases.
    var witness = WitnessModel()
    var witnessesFounded = 0
    var witnessOffset: Int64 = 0
    var witnessAwayUntil: Int64 = 0
    /// Which sites reach the witness while they do not see each other.
    var witnessSeenBy = [true, true]
    var promotion: Promotion?
    var areFaultsOver = false
    var isAtRest = false
    var faultsEndedAt: Int64 = 0
    /// Requests that left before they were decided durably; only sabotage does that.
    var sentEarly: Set<AttemptName> = []
    var tasksOf: [[Int]] = []
    /// Payments that had not ended when rows were lost, of which what their callers were told may be lost, until those
    /// ask again.
    var unheard: Set<Int> = []
    /// What an engine did that it must not do though no payment shows it; a run ends with it.
    var misconduct: String?
    /// Claims of each payment since it was last changed.
    var idleClaims: [IdleClaims]
    /// The people who take payments out of quarantine.
    var people = People()
    /// What providers that cannot be asked have to tell, until somebody has taken it in.
    var news = Slots<News>()
    var newsUnderWay = 0
    /// Counts differences that engines were to settle, downward: tickets of asks go upward.
    var lastSettlement = 0

    private var judges = Judges()
    private var probes = Probes()
    private var hash = TraceHash()
    private let isRecording: Bool
    private var happenings: [Happening] = []
    private var struck: [StruckFault] = []
    private var events = 0

    init(_ plan: RunPlan, _ plant: Plant, isRecording: Bool) {
        self.plan = plan
        self.plant = plant
        self.isRecording = isRecording
        chance = Chance(seed: plan.seed)
        sabotages = plant.sabotage.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
        rules = EngineRules(breaking: plant.breaches)
        providerNames = plan.providers.map(\.name)
        providerPlaces = Dictionary(
            plan.providers.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        ids = plan.payments.map(\.id) + plan.strangers
        paymentIndices = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        told = plan.contracts.mapValues { World.told($0, plant) }
        formerlyTold = plan.rollout?.contracts.mapValues { World.told($0, plant) } ?? told
        limits = Sweep.Limits(places: 12, placesPerProvider: 8, batch: 8, longestPause: .seconds(2))
        now = plan.start.milliseconds
        providers = World.providers(of: plan, chance)
        outages = Array(repeating: 0, count: plan.providers.count)
        idleClaims = Array(repeating: IdleClaims(), count: ids.count)
        storms = outages
        let ids = ids
        sites = World.sites(of: plan, ids)
        if plan.proof.isWitness, let identity = World.witnessID(0) {
            witness.found(as: identity)
            for site in sites.indices {
                sites[site].row.witness = KnownWitness(identity: identity, since: plan.start, by: "the operator")
            }
        }
        for site in 0..<plan.sites {
            for _ in 0..<plan.replicasPerSite {
                replicas.append(
                    SimulatedReplica(
                        index: replicas.count, site: site, payments: ids.count, providers: providerNames.count))
            }
        }
    }

    private static func sites(of plan: RunPlan, _ ids: [PaymentID]) -> [Site] {
        RunPlan.siteNames.prefix(plan.sites).map { name in
            let term = SiteTerm(
                epoch: 1, site: RunPlan.siteNames[0], since: plan.start, beginning: .first, by: "reconciled",
                reason: "the store was opened for the first time")
            return Site(
                name: name, store: StoreModel(placesFor: ids), row: SiteRow(term: term, aliveAt: term.since),
                isWritable: name == RunPlan.siteNames[0])
        }
    }

    private static func told(_ contract: ProviderContract, _ plant: Plant) -> ProviderContract {
        var told = contract
        if plant.sabotage.contains(.retentionIgnored) { told.keyRetention = nil }
        if plant.sabotage.contains(.declinesTakenForBound) { told.declinesBound = true }
        return told
    }

    /// Runs a plan to its end.
    ///
    /// - Parameter isRecording: whether everything that happens is kept, for a timeline.
    public static func run(_ plan: RunPlan, plant: Plant = .none, isRecording: Bool = false) -> RunResult {
        var world = World(plan, plant, isRecording: isRecording)
        return world.run()
    }

    /// A run that takes more steps than this is in a loop, and did not come to rest.
    static let mostSteps = 300_000

    private mutating func run() -> RunResult {
        begin()
        let end = plan.start.milliseconds + Span.days(90).milliseconds
        while !isAtRest, misconduct == nil, let next = heap.pop() {
            guard next.at <= end else { break }
            now = max(now, next.at)
            events += 1
            guard events < World.mostSteps else { break }
            take(next.step)
        }
        if misconduct == nil { judgeRest() }
        let isOver = isAtRest || misconduct != nil
        return RunResult(
            hash: hash.value, happenings: happenings, violations: judges.violations, faultsStruck: struck,
            probesHit: probes.hit, events: events, simulatedTime: time - plan.start,
            payments: tasks.count { $0.isCreate }, misconduct: misconduct,
            unrest: isOver ? nil : unrest() ?? uncompared() ?? "faults went on")
    }

    private mutating func take(_ step: Step) {
        if let replica = replica(of: step), replicas[replica].pausedUntil > now {
            // It does nothing now; afterwards everything comes in the same order.
            return heap.push(step, at: replicas[replica].pausedUntil)
        }
        switch step {
        case .ask(let task): ask(task)
        case .repeatAsk(let task): askOnce(task, isRepeat: true)
        case .asked(let ask): arrived(ask)
        case .follow(let ask): follow(ask)
        case .job(let slot): work(slot)
        case .read(let slot): read(slot)
        case .arrive(let wire, let isCopy): arrive(wire, isCopy: isCopy)
        case .timeout(let wire): timedOut(wire)
        case .look(let replica, let incarnation): look(replica, incarnation)
        case .renew(let replica, let incarnation): renew(replica, incarnation)
        case .restart(let replica): start(replica)
        case .mishap(let mishapIndex): mishapHappens(mishapIndex)
        case .ship(let count): ship(upTo: count)
        case .site(let step): changeSites(step)
        case .keep(let slot): keep(slot)
        case .compare(let turn): compare(turn)
        case .people(let step): peopleAct(step)
        case .news(let slot): deliver(slot)
        case .faultsEnd: endFaults()
        case .restCheck(let pause): checkRest(pause)
        }
    }

    private func replica(of step: Step) -> Int? {
        switch step {
        case .job(let slot): jobs[slot]?.replica
        case .look(let replica, _), .renew(let replica, _): replica
        case .keep(let slot): keeping[slot].flatMap { $0.isOnItsWay ? nil : $0.replica }
        case .asked(let ask), .follow(let ask): asks[ask].replica
        case .compare(let turn): self.replica(of: turn)
        default: nil
        }
    }

    /// True time.
    var time: Timestamp { Timestamp(milliseconds: now) }

    /// Whether this is sabotaged.
    func does(_ sabotage: Sabotage) -> Bool { sabotages >> UInt64(sabotage.rawValue) & 1 == 1 }

    /// Whether a fault strikes, here and now. Its identity depends on what it is about, never on what came before.
    mutating func strikes(
        _ kind: FaultKind, _ a: UInt64, _ b: UInt64 = 0, _ c: UInt64 = 0, _ d: UInt64 = 0
    ) -> UInt64? {
        guard !areFaultsOver, let id = planned(kind, a, b, c, d) else { return nil }
        struck.append(StruckFault(kind: kind, id: id))
        emit(.fault(kind, id: id, detail: isRecording ? "\(a) \(b) \(c) \(d)" : ""))
        return Chance.mixed(id)
    }

    /// The identity of the fault that strikes this by the plan, whenever that is; nil if none does.
    func planned(_ kind: FaultKind, _ a: UInt64, _ b: UInt64 = 0, _ c: UInt64 = 0, _ d: UInt64 = 0) -> UInt64? {
        let rate = plan.rates[kind]
        guard rate > 0 else { return nil }
        let id = chance.bits(kind.word, a, b, c, d)
        return Chance.happens(perMillion: rate, id) && !plan.suppressed.contains(id) ? id : nil
    }

    /// A length of time up to, and without, `bound` milliseconds.
    func span(_ bound: Int, _ bits: UInt64) -> Int64 { Int64(Chance.below(bound, bits)) }

    mutating func push(_ step: Step, after milliseconds: Int64) { heap.push(step, at: now + max(0, milliseconds)) }

    mutating func emit(_ what: Happening.What) {
        let happening = Happening(at: time, what)
        hash.add(happening)
        if isRecording { happenings.append(happening) }
        let evidence = evidence
        judges.observe(happening, evidence)
        probes.observe(happening, evidence)
    }

    /// What judges may look at.
    var evidence: Evidence {
        var evidence = Evidence(
            now: time, providers: providers, rows: RowView(sites[activeSite].store, paymentIndices),
            policy: plan.policy,
            keepsAcknowledgedRows: plan.keepsAcknowledgedRows)
        evidence.misjudged = people.misjudged
        evidence.isCalm = isCalm
        evidence.contractsBefore = plan.rollout?.contracts ?? [:]
        return evidence
    }

    private var isCalm: Bool {
        guard promotion == nil, link.isUp || sites.count == 1, sites[activeSite].isUp else { return false }
        return outages.allSatisfy { $0 <= now } && storms.allSatisfy { $0 <= now }
            && replicas.allSatisfy { replica in
                replica.site != activeSite
                    || replica.isUp && !replica.isDraining && replica.pausedUntil <= now
                        && replica.partitionedUntil <= now
            }
    }

    private mutating func judgeRest() {
        judges.atRest(evidence)
        probes.atRest(evidence)
    }
}
