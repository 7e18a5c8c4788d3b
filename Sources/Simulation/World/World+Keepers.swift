internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// A step of whoever keeps a replica's part of its site.
enum KeeperStep {
    /// The pause between two readings is over.
    case tick
    /// A question reaches the store or the witness; it began at a moment.
    case reach(SiteKeeperMachine.Job, began: SteadyMoment)
    /// An answer arrives.
    case hear(SiteKeeperMachine.Input)

    /// Whether it is a question or its answer.
    var isOfQuestion: Bool {
        if case .tick = self { false } else { true }
    }
}

/// A step of a replica's keeper that is to come.
struct KeeperJob {
    let replica: Int
    let incarnation: Int
    let step: KeeperStep

    /// Whether it has left its process.
    var isOnItsWay: Bool {
        if case .reach = step { true } else { false }
    }
}

/// Time, databases and a witness for the shipped `SiteKeeperMachine`, and for the gate that `SiteRight` is.
///
/// While nothing happens to the sites, keepers read what they read before and renew what they have: these steps are
/// left out, for a run is days long. Before anything happens they are made up for.
extension World {
    /// How long a site's lease lasts.
    static let siteLease = Span.seconds(30)
    /// How often a keeper reads its row.
    static let readEvery = Span.seconds(4)

    var steadyNow: SteadyMoment { SteadyMoment(milliseconds: now) }

    /// The most by which the sites' clocks differ.
    var siteSkew: Span { plan.clockBound + plan.clockBound }

    func siteSettings(_ replica: Int) -> SiteMachine.Settings {
        let site = replicas[replica].site
        return SiteMachine.Settings(
            site: sites[site].name, proof: plan.proof, lease: former(replica)?.siteLease ?? World.siteLease,
            peer: sites.indices.first { $0 != site }.map { sites[$0].name })
    }

    // MARK: What a replica may do

    func standing(_ replica: Int) -> SiteStanding {
        guard !does(.oldSiteGoesOn) else { return .alone }
        // While nothing happens, what was told goes on: its renewals are left out.
        guard replicas[replica].isAwake else { return replicas[replica].right.told }
        return replicas[replica].right.standing(at: steadyNow)
    }

    /// For how long a replica may send.
    func settlesFor(_ replica: Int) -> Span? {
        let standing = standing(replica)
        guard standing.maySettle else { return nil }
        guard replicas[replica].isAwake, let until = standing.until else { return .days(1) }
        return until - steadyNow
    }

    /// Whether a replica says that its site is active: callers are sent to it.
    func isOpen(_ replica: Int) -> Bool { standing(replica).isActive }

    /// Whether somebody serves.
    var isServed: Bool {
        replicas.indices.contains { replicas[$0].isUp && replicas[$0].site == activeSite && standing($0).maySettle }
    }

    func refusal(_ standing: SiteStanding) -> OperationFailure {
        .notAccepting(reason: standing.refusal?.description ?? "the site is being drained", retryAfter: 5)
    }

    // MARK: Keeping

    /// A process starts to keep its part.
    mutating func beginKeeping(_ replica: Int) {
        let site = replicas[replica].site
        guard plan.sites > 1 else {
            replicas[replica].term = sites[site].row.epoch
            return enter(replica, sites[site].row.epoch, nil)
        }
        let settings = SiteKeeperMachine.Settings(
            machine: siteSettings(replica), recovery: nil,
            contracts: contracts(replica), readEvery: World.readEvery)
        replicas[replica].keeper = SiteKeeperMachine(settings)
        replicas[replica].right = SiteRight(siteSettings(replica))
        replicas[replica].term = nil
        enter(replica, nil, nil)
        keepAtOnce(.readingIsDue, replica, at: steadyNow)
        if !isCalm(replica) { wake(replica) }
    }

    private mutating func enter(_ replica: Int, _ term: Int64?, _ window: RecoveryWindow?) {
        tell(replica, .entered(term: term, window))
        if plan.sites == 1 { tell(replica, .look) }
    }

    private mutating func keep(_ step: KeeperStep, _ replica: Int, after milliseconds: Int64) {
        let job = KeeperJob(replica: replica, incarnation: replicas[replica].incarnation, step: step)
        push(.keep(keeping.put(job)), after: milliseconds)
    }

    /// A keeper hears something a little later.
    mutating func hear(_ input: SiteKeeperMachine.Input, _ replica: Int, after milliseconds: Int64) {
        keep(.hear(input), replica, after: milliseconds)
    }

    mutating func keep(_ slot: Int) {
        guard let job = keeping.take(slot) else { return }
        let replica = job.replica
        if case .reach(let question, let began) = job.step {
            // What left its process arrives, whatever became of the process.
            guard let input = reach(question, replica, began) else { return }
            let answer = KeeperJob(replica: replica, incarnation: job.incarnation, step: .hear(input))
            return push(.keep(keeping.put(answer)), after: latency(replica, 103))
        }
        guard carriesOn(replica, job.incarnation) else { return }
        switch job.step {
        case .tick:
            guard replicas[replica].isAwake else { return }
            restOrGoOn(replica)
        case .hear(let input):
            // What it has was not renewed while it rested.
            wakeKeepers(replica)
            tellKeeper(replica, input)
        case .reach: break
        }
    }

    /// Once nothing happens any more, everybody knows what there is, and no question is on its way, keepers rest: an
    /// answer that comes after the lease would end the right of one that rests (seed 24373384346156).
    private mutating func restOrGoOn(_ replica: Int) {
        let isAsking = keeping.contains { $0.replica == replica && $0.step.isOfQuestion }
        if isCalm(replica), !isAsking {
            replicas[replica].isAwake = false
            return
        }
        tellKeeper(replica, .readingIsDue)
        guard let keeper = replicas[replica].keeper else { return }
        let pause = keeper.pause(replicas[replica].right, at: steadyNow)
        keep(.tick, replica, after: pause.milliseconds)
    }

    private mutating func tellKeeper(_ replica: Int, _ input: SiteKeeperMachine.Input) {
        for job in keeperJobs(replica, input, at: steadyNow) {
            switch job {
            case .read, .askWitness, .askPeer, .renew, .noteAlive:
                var began = steadyNow
                if case .renew(_, let before?) = job { began = before }
                keep(.reach(job, began: began), replica, after: latency(replica, 105))
            case .apply(let standing, let window): apply(standing, window, replica)
            case .look: tell(replica, .look)
            case .note, .noteKeySpaces: break
            }
        }
        wakeAgain(replica)
    }

    private mutating func keeperJobs(
        _ replica: Int, _ input: SiteKeeperMachine.Input, at moment: SteadyMoment
    ) -> [SiteKeeperMachine.Job] {
        var right = replicas[replica].right
        let jobs = replicas[replica].keeper?.handle(input, &right, at: moment) ?? []
        replicas[replica].right = right
        return jobs
    }

    private mutating func apply(_ standing: SiteStanding, _ window: RecoveryWindow?, _ replica: Int) {
        let incarnation = replicas[replica].incarnation
        replicas[replica].term = standing.epoch
        tell(replica, .entered(term: standing.epoch, sabotaged(window)))
        guard carriesOn(replica, incarnation) else { return }
        tellKeeper(replica, .applied(standing, window))
        if replicas[replica].site != activeSite { judgeRight(of: replica) }
    }

    /// Two sites may never act at once, whether they have something to send or not.
    mutating func judgeRight(of replica: Int) {
        guard replicas[replica].isUp, settlesFor(replica) != nil else { return }
        misconduct = "replica \(replica) of site \(replicas[replica].site) may act while site \(activeSite) is active"
    }

    private func sabotaged(_ window: RecoveryWindow?) -> RecoveryWindow? {
        guard var window else { return nil }
        let always = Timestamp(milliseconds: 0)
        if does(.staleReadsCountInRecovery) { window.readsCountFrom = always }
        if does(.lostNotAfterForgotten) { window.latestNotAfter = always }
        return window
    }

    /// How long a question or its answer is on its way: mostly moments, now and then seconds.
    private mutating func latency(_ replica: Int, _ what: UInt64) -> Int64 {
        replicas[replica].draws += 1
        let bits = chance.bits(what, UInt64(replica), replicas[replica].draws)
        return 1 + (bits >> 40 & 15 == 0 ? span(8_000, bits) : span(40, bits))
    }

    // MARK: Calm

    /// Something is about to happen to the sites: whoever keeps one is awake from now on.
    mutating func wakeKeepers() {
        for replica in replicas.indices { wakeKeepers(replica) }
    }

    /// Something is about to happen to a replica's part of its site.
    mutating func wakeKeepers(_ replica: Int) {
        guard plan.sites > 1, replicas[replica].isUp, !replicas[replica].isAwake else { return }
        let bits = chance.bits(107, UInt64(now), UInt64(replica))
        let ago = 200 + span(Int(World.siteLease.milliseconds / 3), bits)
        keepAtOnce(.readingIsDue, replica, at: SteadyMoment(milliseconds: now - ago))
        wake(replica)
    }

    private mutating func wake(_ replica: Int) {
        guard replicas[replica].isUp else { return }
        replicas[replica].isAwake = true
        let bits = chance.bits(113, UInt64(now), UInt64(replica))
        keep(.tick, replica, after: 1 + span(Int(World.readEvery.milliseconds), bits))
    }

    /// What a keeper asks is answered at once, as of a moment: nothing happened since.
    private mutating func keepAtOnce(_ first: SiteKeeperMachine.Input, _ replica: Int, at moment: SteadyMoment) {
        var inputs = [first]
        while !inputs.isEmpty, replicas[replica].isUp {
            for job in keeperJobs(replica, inputs.removeFirst(), at: moment) {
                switch job {
                case .read, .askWitness, .askPeer, .renew, .noteAlive:
                    if let input = reach(job, replica, moment) { inputs.append(input) }
                case .apply(let standing, let window): apply(standing, window, replica)
                case .look: tell(replica, .look)
                case .note, .noteKeySpaces: break
                }
            }
        }
        wakeAgain(replica)
    }

    /// Whether nothing happens to the sites.
    private var isQuiet: Bool {
        guard link.isUp, link.hasStandby, !link.isChanging, link.source == activeSite, witnessAwayUntil <= now
        else { return false }
        let epoch = sites[activeSite].row.epoch
        return sites[activeSite].row.phase == .active
            && sites.indices.allSatisfy { sites[$0].isUp && sites[$0].row.epoch == epoch }
    }

    /// Whether nothing happens to the sites, and a replica knows what there is.
    private func isCalm(_ replica: Int) -> Bool {
        guard isQuiet, replicas[replica].partitionedUntil <= now, replicas[replica].pausedUntil <= now,
            replicas[replica].right.change(at: steadyNow) == nil
        else { return false }
        let told = replicas[replica].right.told
        guard replicas[replica].site == activeSite else { return told.refusal != nil }
        let row = sites[activeSite].row
        // What a witness that was founded anew proves is still to be asked (seed 654192569281).
        return told.isActive && told.epoch == row.epoch && told.recoveries == row.recoveries
            && replicas[replica].right.row?.witness == row.witness
    }
}
