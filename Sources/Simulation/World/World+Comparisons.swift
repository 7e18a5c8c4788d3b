internal import PaymentCore
internal import Reconciler

/// What one replica's loop over one provider's runs remembers.
struct ComparisonCourse {
    /// The machine of the run that it works at.
    var machine: ComparisonMachine?
    /// Under which claim.
    var token = LeaseToken(0)
    /// How far the store's clock is ahead of the replica's own, as it was when the run was claimed.
    var ahead = Span.zero
    /// Raised with each run that is taken up or let go of: orders of an earlier one come to nothing.
    var execution: UInt64 = 0
    /// Orders of this execution, for the identity of faults.
    var orders: UInt64 = 0
    /// Failures in a row.
    var failures: Int64 = 0
    /// When it looks next, by true time.
    var armed: Int64?
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

/// The rules by which `ComparisonLoop` and `ComparisonRunner` work, step by step as they have them.
extension World {
    /// How long a run belongs to a replica that does not renew its claim.
    static let comparisonLease = Span.seconds(30)

    mutating func compare(_ turn: ComparisonTurn) {
        switch turn {
        case .look(let replica, let incarnation, let provider): lookForRun(replica, incarnation, provider)
        case .order(let slot): turnTo(slot)
        case .renew(let replica, let incarnation, let provider, let execution):
            renewRun(replica, incarnation, provider, execution)
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
    var comparisonSettings: ComparisonSettings {
        var settings = plan.comparison
        if areFaultsOver { settings.window = max(settings.window, .hours(12)) }
        return settings
    }

    /// Every replica that starts compares, at each provider that lists.
    mutating func beginComparing(_ replica: Int) {
        guard plan.isCompared else { return }
        for provider in plan.providers.indices where plan.providers[provider].contract.listing {
            let bits = chance.bits(83, UInt64(replica), UInt64(provider), UInt64(replicas[replica].incarnation))
            armComparison(replica, provider, after: 1 + span(30_000, bits))
        }
    }

    mutating func armComparison(_ replica: Int, _ provider: Int, after milliseconds: Int64) {
        let at = now + max(1, milliseconds)
        if let armed = replicas[replica].courses[provider].armed, armed <= at, armed >= now { return }
        replicas[replica].courses[provider].armed = at
        let incarnation = replicas[replica].incarnation
        heap.push(.compare(.look(replica: replica, incarnation: incarnation, provider: provider)), at: at)
    }

    /// Takes up what is to be compared next.
    private mutating func lookForRun(_ replica: Int, _ incarnation: Int, _ provider: Int) {
        guard carriesOn(replica, incarnation), replicas[replica].courses[provider].machine == nil,
            let armed = replicas[replica].courses[provider].armed, armed <= now
        else { return }
        replicas[replica].courses[provider].armed = nil
        guard !replicas[replica].isDraining else { return }
        let bits = chance.bits(89, UInt64(replica), UInt64(provider), UInt64(now))
        guard reachesStore(replica) else {
            return armComparison(replica, provider, after: 30_000 + span(10_000, bits))
        }
        let site = replicas[replica].site
        let name = providerNames[provider]
        guard let contract = comparedContract(name) else { return }
        let head = sites[site].store.comparisons.head(of: name)
        let next = nextRun(at: name, after: head, contract, now: storeTime(site))
        let run: ComparisonRun
        switch next {
        case .wait(let until):
            let wait = (until - storeTime(site)).milliseconds
            return armComparison(replica, provider, after: wait + span(20_000, bits))
        case .resume(let left): run = left
        case .begin(let planned): run = begin(planned, at: site)
        }
        guard let claimed = claim(run, replica, site) else {
            return armComparison(replica, provider, after: 30_000 + span(10_000, bits))
        }
        replicas[replica].courses[provider].execution += 1
        replicas[replica].courses[provider].orders = 0
        replicas[replica].courses[provider].token = claimed.token
        replicas[replica].courses[provider].ahead = storeTime(site) - clock(replica)
        var machine = ComparisonMachine(
            run: claimed.run, contract: contract, settings: comparisonSettings, store: SimulatedProvider.ours,
            table: plant.comparisonTable)
        let orders = machine.handle(.claimed, at: comparisonTime(replica, provider))
        replicas[replica].courses[provider].machine = machine
        give(orders, replica, provider)
        keepLease(replica, provider)
    }

    private mutating func begin(_ run: ComparisonRun, at site: Int) -> ComparisonRun {
        if let stored = sites[site].store.comparisons.runs[run.id] { return stored }
        let first = run.stored(version: 1)
        change(.begun(first), at: site)
        emit(.compared(.planned(first)))
        return first
    }

    private mutating func claim(_ run: ComparisonRun, _ replica: Int, _ site: Int) -> ClaimedRun? {
        let claimed = sites[site].store.comparisons.claimed(
            run.id, holder: replicas[replica].holder, leaseFor: World.comparisonLease, at: storeTime(site),
            ignoring: comparisonLaxness)
        guard let claimed else { return nil }
        change(.lane(run.lane, claimed.lane), at: site)
        emit(.compared(.claimed(claimed.run, replica: replica, token: claimed.lane.token)))
        return ClaimedRun(run: claimed.run, token: claimed.lane.token, until: claimed.lane.until)
    }

    /// Makes a change of what is kept of comparisons durable; `false` if a sum does not fit.
    @discardableResult mutating func change(_ change: ComparisonChange, at site: Int) -> Bool {
        do throws(Money.Failure) {
            try sites[site].store.comparisons.apply(change)
        } catch {
            return false
        }
        tell(.compared(change), from: site)
        return true
    }

    /// What the machine of a run is told the time is: all is judged by the store's clock.
    mutating func comparisonTime(_ replica: Int, _ provider: Int) -> Timestamp {
        clock(replica) + replicas[replica].courses[provider].ahead
    }

    private mutating func keepLease(_ replica: Int, _ provider: Int) {
        let turn = ComparisonTurn.renew(
            replica: replica, incarnation: replicas[replica].incarnation, provider: provider,
            execution: replicas[replica].courses[provider].execution)
        push(.compare(turn), after: World.comparisonLease.milliseconds / 3)
    }

    private mutating func renewRun(_ replica: Int, _ incarnation: Int, _ provider: Int, _ execution: UInt64) {
        guard carriesOn(replica, incarnation), replicas[replica].courses[provider].execution == execution,
            let run = replicas[replica].courses[provider].machine?.run
        else { return }
        keepLease(replica, provider)
        guard reachesStore(replica) else { return }
        let site = replicas[replica].site
        let comparisons = sites[site].store.comparisons
        guard comparisons.holds(run, replicas[replica].courses[provider].token), var lane = comparisons.lanes[run.lane]
        else { return letGo(replica, provider, after: 2_000) }
        lane.until = storeTime(site) + World.comparisonLease
        change(.lane(run.lane, lane), at: site)
    }

    /// Lets go of a run, wherever it is: what was recorded counts.
    mutating func letGo(_ replica: Int, _ provider: Int, after pause: Int64) {
        let course = replicas[replica].courses[provider]
        if let run = course.machine?.run, reachesStore(replica) {
            let site = replicas[replica].site
            if sites[site].store.comparisons.holds(run, course.token),
                var lane = sites[site].store.comparisons.lanes[run.lane]
            {
                lane.holder = ""
                change(.lane(run.lane, lane), at: site)
            }
        }
        replicas[replica].courses[provider].machine = nil
        replicas[replica].courses[provider].execution += 1
        armComparison(replica, provider, after: pause)
    }

    /// Something could not be read or written: tried again after a pause, from where the run was recorded last.
    mutating func failComparison(_ replica: Int, _ provider: Int) {
        let failures = min(replicas[replica].courses[provider].failures, 8)
        replicas[replica].courses[provider].failures += 1
        letGo(replica, provider, after: min(1_000 << failures, 300_000))
    }
}
