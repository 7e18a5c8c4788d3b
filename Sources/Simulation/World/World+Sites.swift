internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// A step in a change of the active site.
enum SiteStep {
    /// The link works again.
    case heal(since: Int64)
    /// Somebody wants the other site to be active.
    case promote
    /// The next step of a promotion is due.
    case promoting
    /// Somebody who drains the active site looks how far it is.
    case drain(Drain)
    /// The site that was lost follows the other one again.
    case rejoin
    /// Whoever watches over losses looks how far the comparison over them is.
    case review
    /// Somebody founds the witness anew, which lost what it knew.
    case found
}

/// A site that is brought to its end in good order.
struct Drain {
    let site: Int
    let began: Int64
    let until: Int64
    /// Whether its processes are stopped in order as well.
    let stopsProcesses: Bool
}

/// Sites: partitions between them, losses, and giving back.
extension World {
    mutating func changeSites(_ step: SiteStep) {
        switch step {
        case .heal(let since): heal(since)
        case .promote: beginPromotion()
        case .promoting: goOn()
        case .drain(let drain): look(at: drain)
        case .rejoin: rejoin()
        case .review: reviewLosses()
        case .found: foundWitness()
        }
    }

    var canChangeSites: Bool { plan.sites > 1 && link.hasStandby && !link.isChanging }

    // MARK: The witness

    var witnessTime: Timestamp { Timestamp(milliseconds: now + witnessOffset) }

    /// Whether a site reaches the witness: not every partition cuts both off.
    func seesWitness(_ site: Int) -> Bool { witnessAwayUntil <= now && (link.isUp || witnessSeenBy[site]) }

    /// The witness answers nobody for a time. Sometimes it is made anew meanwhile, and knows nothing.
    mutating func loseWitness(_ bits: UInt64) {
        guard plan.proof.isWitness else { return }
        wakeKeepers()
        witnessAwayUntil = now + 2_000 + span(bits & 1 == 0 ? 20_000 : 300_000, bits)
        guard bits >> 32 & 3 == 0 else { return }
        witness = WitnessModel()
        push(.site(.found), after: witnessAwayUntil - now + span(120_000, bits >> 8))
    }

    /// Somebody at the active site founds it. No other site acts then: their right has ended, or they were stopped.
    mutating func foundWitness() {
        let site = sites[activeSite]
        let seen = seenByWitness(activeSite)
        if case .unreachable = seen { return push(.site(.found), after: 10_000) }
        guard case .unproven = seen else { return }
        guard promotion == nil, site.isUp, site.isWritable, !site.row.phase.isOver else {
            return push(.site(.found), after: 10_000)
        }
        wakeKeepers()
        witnessesFounded += 1
        guard let identity = World.witnessID(witnessesFounded) else { return }
        witness.found(as: identity)
        guard let there = witness.look(skew: siteSkew, at: witnessTime).identity else { return }
        change(
            .witness(
                KnownWitness(
                    identity: there, since: storeTime(activeSite), by: "the operator", fencedBy: "nobody else acts")),
            at: activeSite)
    }

    static func witnessID(_ number: Int) -> WitnessID? {
        WitnessID(text: "wit_" + String(repeating: "0", count: 28) + String(1_000 + number))
    }

    // MARK: Losses

    /// The active site is lost at once. What the standby has not is lost with it.
    mutating func loseSite(losingRows: Bool, _ bits: UInt64) {
        wakeKeepers()
        link.isChanging = true
        stopSite(activeSite)
        if !losingRows { ship(upTo: link.log.count) }
        link.isCut = losingRows
        push(.site(.promote), after: 2_000 + span(40_000, bits))
    }

    /// A site loses its power, or somebody takes it: nothing of it runs, and nothing leaves it.
    mutating func stopSite(_ site: Int) {
        sites[site].isUp = false
        for replica in replicas.indices where replicas[replica].site == site { crash(replica, restartAfter: nil) }
    }

    /// A site runs again.
    mutating func startSite(_ site: Int) {
        sites[site].isUp = true
        for replica in replicas.indices where replicas[replica].site == site { start(replica) }
    }

    /// The sites cannot see each other.
    mutating func partitionSites(_ bits: UInt64) {
        wakeKeepers()
        link.isUp = false
        // A third place may be cut off from one of them, too.
        witnessSeenBy = [[true, true], [true, false], [false, true], [true, true]][Int(bits >> 8 & 3)]
        let lengths = [10_000, 60_000, 600_000, 3_600_000]
        push(.site(.heal(since: now)), after: 2_000 + span(lengths[Int(bits >> 4 & 3)], bits))
        guard bits & 1 == 0 else { return }
        link.isChanging = true
        push(.site(.promote), after: 2_000 + span(60_000, bits))
    }

    private mutating func heal(_ since: Int64) {
        guard !link.isUp else { return }
        wakeKeepers()
        link.isUp = true
        witnessSeenBy = [true, true]
        guard link.hasStandby else { return rejoin() }
        ship(upTo: link.log.count)
        askStandbyAgain()
    }

    /// The site that was lost takes a whole copy of the other one and follows it.
    mutating func rejoin() {
        guard link.isUp, !link.hasStandby, promotion == nil else { return }
        wakeKeepers()
        let standby = 1 - activeSite
        stopSite(standby)
        sites[standby].store = sites[activeSite].store
        sites[standby].store.endLeases()
        sites[standby].row = sites[activeSite].row
        sites[standby].isWritable = false
        link.source = activeSite
        link.hasStandby = true
        link.begin()
        startSite(standby)
        askStandbyAgain()
    }

    // MARK: In good order

    /// Everything is brought to the other site in good order.
    mutating func drain(_ bits: UInt64) {
        wakeKeepers()
        link.isChanging = true
        let drain = Drain(site: activeSite, began: now, until: now + 5_400_000, stopsProcesses: bits & 3 != 0)
        if drain.stopsProcesses {
            for replica in replicas.indices where replicas[replica].site == activeSite && replicas[replica].isUp {
                replicas[replica].isDraining = true
                emit(.stopping(replica: replica))
                tell(replica, .drain)
            }
        }
        change(.phase(.draining), at: activeSite)
        push(.site(.drain(drain)), after: 500)
    }

    private mutating func change(_ change: SiteChange, at site: Int) {
        let position = LogPosition(offset: UInt64(link.before + link.log.count))
        guard let row = sites[site].row.changed(by: change, at: position) else { return }
        write(row, at: site)
    }

    private mutating func look(at drain: Drain) {
        guard sites[drain.site].isUp, link.source == drain.site else { return }
        let isBusy =
            drain.stopsProcesses
            ? replicas.contains { $0.site == drain.site && $0.isUp && $0.isDraining && $0.engine?.isIdle == false }
            : sites[drain.site].store.leasedCount(at: storeTime(drain.site)) > 0
        // Within a second and a half every process has read that the site is being drained.
        let isHeard = now - drain.began >= 1_500 + 2 * World.readEvery.milliseconds
        guard !isBusy && isHeard || now >= drain.until, link.isUp, !does(.drainNeverEnds) else {
            return push(.site(.drain(drain)), after: 1_000)
        }
        if drain.stopsProcesses { stopProcesses(of: drain.site) }
        change(.phase(isBusy ? .demoted : .drained), at: drain.site)
        witness.release(sites[drain.site].name, epoch: sites[drain.site].row.epoch)
        push(.site(.promote), after: 500)
    }

    private mutating func stopProcesses(of site: Int) {
        for replica in replicas.indices where replicas[replica].site == site {
            // One that does nothing at all, or lost its store, is killed in the end.
            if replicas[replica].isUp, replicas[replica].isDraining, replicas[replica].engine?.isIdle == true {
                emit(.stopped(replica: replica, leasesKept: leasesKept(by: replica)))
            }
            crash(replica, restartAfter: 2_000)
        }
    }

    /// The payments that a replica keeps from everybody else, but for those that it could not let go.
    private func leasesKept(by replica: Int) -> [PaymentID] {
        let site = replicas[replica].site
        return sites[site].store.rows.compactMap { row in
            guard let row, row.lease?.holder == replicas[replica].holder, row.isLeased(at: storeTime(site)),
                !replicas[replica].leftLeases.contains(row.payment.id),
                replicas[replica].engine?.isLeft(row.payment.id) != true
            else { return nil }
            return row.payment.id
        }
    }
}
