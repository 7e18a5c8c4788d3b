internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// What one replica has under way at one provider: the shipped machines of the loop and of the runner.
struct ComparisonCourse {
    /// What it takes up next; nil before it compares.
    var loop: ComparisonLoopMachine?
    /// The run that it works at.
    var runner: ComparisonRunnerMachine?
    /// Raised with each run that is taken up or let go of: orders of an earlier one come to nothing.
    var execution: UInt64 = 0
    /// Orders of this execution, for the identity of faults.
    var orders: UInt64 = 0
    /// When it looks next, by true time.
    var armed: Int64?

    /// The run that it works at, as far as it was recorded.
    var run: ComparisonRun? { runner?.run }
}

/// An order of a run's machine that is on its way.
struct ComparisonJob {
    let replica: Int
    let incarnation: Int
    let provider: Int
    let execution: UInt64
    let order: ComparisonOrder
    /// Its place among the orders of its execution.
    let number: UInt64
    /// What came of it, where that is known and its answer is on the way.
    var answer: ComparisonEvent?
}

/// A step of a comparison in a run.
enum ComparisonTurn {
    /// A replica looks for what is to be compared.
    case look(replica: Int, incarnation: Int, provider: Int)
    /// An order is carried out, or its answer arrives.
    case order(Int)
    /// A lease is prolonged.
    case renew(replica: Int, incarnation: Int, provider: Int, execution: UInt64)
}

/// Time, stores and wires for `ComparisonLoopMachine` and `ComparisonRunnerMachine`: their jobs are done here, and no
/// rule of theirs is.
extension World {
    /// How long a run belongs to a replica that does not renew its claim.
    static let comparisonLease = Span.seconds(30)

    /// Looks are rarer than the shipped ones, because a run takes days.
    static let comparisonPauses: ComparisonLoop.Pauses = {
        var pauses = ComparisonLoop.Pauses()
        (pauses.asked, pauses.chain) = (.minutes(15), .minutes(15))
        return pauses
    }()

    mutating func compare(_ turn: ComparisonTurn) {
        switch turn {
        case .look(let replica, let incarnation, let provider): look(replica, incarnation, provider)
        case .order(let slot): performComparisonJob(slot)
        case .renew(let replica, let incarnation, let provider, let execution):
            guard carriesOn(replica, incarnation), replicas[replica].courses[provider].execution == execution else {
                return
            }
            run(.leaseDue, replica, provider)
        }
    }

    func replica(of turn: ComparisonTurn) -> Int? {
        switch turn {
        case .look(let replica, _, _), .renew(let replica, _, _, _): replica
        case .order(let slot): comparing[slot]?.replica
        }
    }

    /// What the operator decided. Once faults are over the windows are longer, so that runs end; windows adjoin
    /// whatever their lengths are.
    func comparisonSettings(_ replica: Int) -> ComparisonSettings {
        var settings = former(replica)?.comparison ?? plan.comparison
        if areFaultsOver { settings.window = max(settings.window, .hours(12)) }
        return settings
    }

    /// Every replica that starts compares, at each provider that lists.
    mutating func beginComparing(_ replica: Int) {
        guard plan.isCompared else { return }
        for provider in plan.providers.indices where plan.providers[provider].contract.listing {
            let name = providerNames[provider]
            guard let contract = comparedContract(name, replica) else { continue }
            replicas[replica].courses[provider].loop = ComparisonLoopMachine(
                provider: name, contract: contract, settings: comparisonSettings(replica),
                pauses: World.comparisonPauses, now: clock(replica))
            let bits = chance.bits(83, UInt64(replica), UInt64(provider), UInt64(replicas[replica].incarnation))
            armComparison(replica, provider, after: 1 + span(30_000, bits))
        }
    }

    private mutating func armComparison(_ replica: Int, _ provider: Int, after milliseconds: Int64) {
        let at = now + max(1, milliseconds)
        replicas[replica].courses[provider].armed = at
        let incarnation = replicas[replica].incarnation
        heap.push(.compare(.look(replica: replica, incarnation: incarnation, provider: provider)), at: at)
    }

    private mutating func look(_ replica: Int, _ incarnation: Int, _ provider: Int) {
        guard carriesOn(replica, incarnation), let armed = replicas[replica].courses[provider].armed, armed <= now
        else { return }
        replicas[replica].courses[provider].armed = nil
        let mayWork = !replicas[replica].isDraining && standing(replica).maySettle
        step(.woken(mayWork: mayWork), replica, provider)
    }

    // MARK: The loop

    private mutating func step(_ input: ComparisonLoopMachine.Input, _ replica: Int, _ provider: Int) {
        let head = sites[replicas[replica].site].store.comparisons.head(of: providerNames[provider])
        let (settings, moment) = (scheduleSettings(replica, after: head), clock(replica))
        replicas[replica].courses[provider].loop?.settings = settings
        let jobs = replicas[replica].courses[provider].loop?.handle(input, at: moment) ?? []
        for job in jobs { carryOut(job, replica, provider) }
    }

    private mutating func carryOut(_ job: ComparisonLoopMachine.Job, _ replica: Int, _ provider: Int) {
        let site = replicas[replica].site
        switch job {
        case .pause(let pause):
            let bits = chance.bits(89, UInt64(replica), UInt64(provider), UInt64(now))
            return armComparison(replica, provider, after: pause.milliseconds + span(20_000, bits))
        case .tell: return
        case .execute: return execute(job, replica, provider)
        case .findAsked, .readChain, .plan: break
        }
        guard takesWrites(replica) else { return step(.failed(World.storeIsAway), replica, provider) }
        switch job {
        case .findAsked(let states):
            step(.asked(asked(states, provider, at: site)), replica, provider)
        case .readChain:
            let head = scheduleHead(sites[site].store.comparisons.head(of: providerNames[provider]))
            step(.chain(head: head, at: storeTime(site)), replica, provider)
        case .plan(let run): step(.planned(begin(run, at: site)), replica, provider)
        case .pause, .tell, .execute: break
        }
    }

    /// The store of a site that cannot be reached.
    static let storeIsAway = StoreFailure(.unavailable, operation: "compare", cause: "the store cannot be reached")

    // MARK: The runner

    private mutating func execute(_ job: ComparisonLoopMachine.Job, _ replica: Int, _ provider: Int) {
        guard case .execute(let id) = job, let contract = comparedContract(providerNames[provider], replica)
        else { return }
        var setup = ComparisonRunnerMachine.Setup(
            contract: contract, settings: comparisonSettings(replica), identity: SimulatedProvider.ours,
            lease: World.comparisonLease)
        setup.table = plant.comparisonTable
        replicas[replica].courses[provider].execution += 1
        replicas[replica].courses[provider].orders = 0
        replicas[replica].courses[provider].runner = ComparisonRunnerMachine(setup)
        run(.begun, replica, provider, claiming: id)
    }

    /// Steps the machine of the runner, and has its jobs done.
    mutating func run(
        _ input: ComparisonRunnerMachine.Input, _ replica: Int, _ provider: Int, claiming id: ComparisonRunID? = nil
    ) {
        let moment = clock(replica)
        let jobs = replicas[replica].courses[provider].runner?.handle(input, at: moment) ?? []
        for job in jobs { carryOut(job, replica, provider, id) }
    }

    private mutating func carryOut(
        _ job: ComparisonRunnerMachine.Job, _ replica: Int, _ provider: Int, _ id: ComparisonRunID?
    ) {
        let site = replicas[replica].site
        switch job {
        case .claim:
            guard takesWrites(replica), let id else {
                return run(.failed(.store(World.storeIsAway)), replica, provider)
            }
            run(.claimed(claim(id, replica, site)), replica, provider)
        case .readStoreTime: run(.storeTime(storeTime(site)), replica, provider)
        case .carryOut(let order, _, _): give(order, replica, provider)
        case .awaitLease(let pause):
            let turn = ComparisonTurn.renew(
                replica: replica, incarnation: replicas[replica].incarnation, provider: provider,
                execution: replicas[replica].courses[provider].execution)
            push(.compare(turn), after: pause.milliseconds)
        case .renew(let token):
            run(.renewed(takesWrites(replica) ? renew(replica, provider, token) : nil), replica, provider)
        case .end(let outcome, let token, let note):
            if takesWrites(replica), let token { release(replica, provider, token, note) }
            replicas[replica].courses[provider].runner = nil
            replicas[replica].courses[provider].execution += 1
            step(.executed(outcome), replica, provider)
        }
    }

    /// The runs that people asked for, as `ComparisonLoop` reads them.
    private func asked(_ states: [ComparisonRun.State], _ provider: Int, at site: Int) -> [ComparisonRun] {
        states.flatMap { state in
            var query = RunQuery(limit: 200)
            (query.provider, query.kind, query.state) = (providerNames[provider], .asked, state)
            return sites[site].store.comparisons.runs(query).items.reversed()
        }
    }

    mutating func begin(_ run: ComparisonRun, at site: Int) -> ComparisonRun {
        let planning = sites[site].store.comparisons.planning(run)
        if let planning { change(planning, at: site) }
        let stored = sites[site].store.comparisons.runs[run.id] ?? run
        if planning != nil, counts(site) { emit(.compared(.planned(stored))) }
        return stored
    }

    private mutating func claim(_ id: ComparisonRunID, _ replica: Int, _ site: Int) -> ClaimedRun? {
        let claim = sites[site].store.comparisons.claiming(
            id, holder: replicas[replica].holder, leaseFor: World.comparisonLease, at: storeTime(site),
            overlooking: comparisonLaxness)
        guard let claim else { return nil }
        change(claim.change, at: site)
        if counts(site) { emit(.compared(.claimed(claim.claimed.run, replica: replica, token: claim.claimed.token))) }
        return claim.claimed
    }

    /// Makes a change of what is kept of comparisons durable; `false` if a sum does not fit.
    @discardableResult mutating func change(_ change: ComparisonChange, at site: Int) -> Bool {
        do throws(Money.Failure) {
            try sites[site].store.apply(change)
        } catch {
            return false
        }
        tell(.compared(change), from: site)
        return true
    }

    private mutating func renew(_ replica: Int, _ provider: Int, _ token: LeaseToken) -> Bool {
        let site = replicas[replica].site
        guard let run = replicas[replica].courses[provider].run,
            let renewing = sites[site].store.comparisons.renewing(
                run.id, token, leaseFor: World.comparisonLease, at: storeTime(site))
        else { return false }
        return change(renewing, at: site)
    }

    private mutating func release(_ replica: Int, _ provider: Int, _ token: LeaseToken, _ note: ComparisonStep?) {
        let site = replicas[replica].site
        guard let run = replicas[replica].courses[provider].run else { return }
        if let note { _ = written(note, replica, token) }
        if let releasing = sites[site].store.comparisons.releasing(run.id, token) { change(releasing, at: site) }
    }
}
