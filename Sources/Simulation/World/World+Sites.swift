internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// A step in a change of the active site.
enum SiteStep {
    /// The site's lease, which only the standby can prolong, ran out.
    case fence(site: Int, since: Int64)
    /// The link works again.
    case heal(since: Int64)
    /// The other site takes over.
    case promote(from: Int, loss: RecoveryWindow.Loss?)
    /// The other site takes over, once this one is drained.
    case drained(from: Int, until: Int64)
    /// The site that was lost follows the other one again.
    case rejoin
    /// The two sides' listings over the window are compared.
    case compared(Timestamp)
}

/// Sites: partitions between them, promotions, and giving back.
extension World {
    /// A site's lease: proven by the standby, or it runs out.
    static let siteLease: Int64 = 30_000

    mutating func changeSites(_ step: SiteStep) {
        switch step {
        case .fence(let site, let since): fence(site, since)
        case .heal(let since): heal(since)
        case .promote(let old, let loss): promote(from: old, loss)
        case .drained(let old, let until): drained(from: old, until)
        case .rejoin: rejoin()
        case .compared(let window):
            guard recovery?.readsCountFrom == window else { return }
            recovery?.listingCompared = true
            for replica in replicas.indices where replicas[replica].site == activeSite { enterTerm(replica) }
        }
    }

    var canChangeSites: Bool { plan.sites > 1 && link.hasStandby && !link.isChanging }

    /// The active site is lost at once. What the standby has not is lost with it.
    mutating func loseSite(losingRows: Bool, _ bits: UInt64) {
        link.isChanging = true
        let old = activeSite
        let isProven = !losingRows && bits & 1 == 0
        stopSite(old)
        if !losingRows { ship(upTo: link.log.count) }
        link.isCut = losingRows
        let loss: RecoveryWindow.Loss? = losingRows ? .asynchronousPromotion : isProven ? nil : .promotion
        push(.site(.promote(from: old, loss: loss)), after: World.siteLease + plan.clockBound.milliseconds * 2)
    }

    private mutating func stopSite(_ site: Int) {
        sites[site].isServing = false
        for replica in replicas.indices where replicas[replica].site == site { crash(replica, restartAfter: nil) }
    }

    /// Everything is brought to the other site in good order.
    mutating func drain() {
        link.isChanging = true
        for replica in replicas.indices where replicas[replica].site == activeSite && replicas[replica].isUp {
            replicas[replica].isDraining = true
            emit(.stopping(replica: replica))
            tell(replica, .drain)
        }
        push(.site(.drained(from: activeSite, until: now + 5_400_000)), after: 500)
    }

    private mutating func drained(from old: Int, _ until: Int64) {
        let busy = replicas.indices.filter {
            replicas[$0].site == old && replicas[$0].isUp && replicas[$0].isDraining
                && replicas[$0].engine?.isIdle == false
        }
        guard busy.isEmpty || now >= until, link.isUp, !does(.drainNeverEnds) else {
            return push(.site(.drained(from: old, until: until)), after: 1_000)
        }
        for replica in replicas.indices where replicas[replica].site == old {
            // One that does nothing at all, or lost its store, is killed in the end.
            if replicas[replica].isUp, replicas[replica].isDraining, replicas[replica].engine?.isIdle == true {
                emit(.stopped(replica: replica, leasesKept: leasesKept(by: replica)))
            }
            crash(replica, restartAfter: nil)
        }
        sites[old].isServing = false
        ship(upTo: link.log.count)
        promote(from: old, nil)
    }

    /// How many payments a replica keeps from everybody else, but for those that it could not let go.
    private func leasesKept(by replica: Int) -> Int {
        let site = replicas[replica].site
        return sites[site].store.rows.count { row in
            guard let row, row.lease?.holder == replicas[replica].holder, row.isLeased(at: storeTime(site)) else {
                return false
            }
            return !replicas[replica].leftLeases.contains(row.payment.id)
        }
    }

    /// The sites cannot see each other.
    mutating func partitionSites(_ bits: UInt64) {
        link.isUp = false
        let since = now
        let lengths = [10_000, 60_000, 600_000, 3_600_000]
        push(.site(.heal(since: since)), after: 2_000 + span(lengths[Int(bits >> 4 & 3)], bits))
        if !does(.oldSiteGoesOn) {
            push(.site(.fence(site: activeSite, since: since)), after: World.siteLease)
        }
        guard bits & 1 == 0 else { return }
        link.isChanging = true
        let isLossy = plan.replication == .asynchronous
        push(
            .site(.promote(from: activeSite, loss: isLossy ? .asynchronousPromotion : .promotion)),
            after: World.siteLease + plan.clockBound.milliseconds * 2 + span(30_000, bits))
    }

    /// Unrenewed: it stops sending and answers that it takes nothing.
    private mutating func fence(_ site: Int, _ since: Int64) {
        guard !link.isUp, site == activeSite else { return }
        sites[site].isServing = false
        for replica in replicas.indices where replicas[replica].site == site { enterTerm(replica) }
    }

    private mutating func heal(_ since: Int64) {
        guard !link.isUp else { return }
        if link.isChanging { return push(.site(.heal(since: since)), after: 5_000) }
        link.isUp = true
        guard link.hasStandby else { return rejoin() }
        if !sites[activeSite].isServing {
            sites[activeSite].isServing = true
            for replica in replicas.indices where replicas[replica].site == activeSite {
                if replicas[replica].isUp { enterTerm(replica) } else { start(replica) }
            }
        }
        ship(upTo: link.log.count)
        askStandbyAgain()
    }

    private mutating func promote(from old: Int, _ loss: RecoveryWindow.Loss?) {
        guard old == activeSite else { return }
        let new = 1 - old
        var lost: [Int] = []
        for case .changed(_, let place) in link.log[link.applied...] where !lost.contains(place) {
            lost.append(place)
        }
        if !does(.oldSiteGoesOn) { stopSite(old) }
        let epoch = sites[old].epoch + 1
        activeSite = new
        sites[new].epoch = epoch
        sites[new].isServing = true
        link.begin()
        link.isCut = false
        link.hasStandby = false
        link.isChanging = false
        if let loss { openWindow(loss) }
        emit(.promoted(site: new, epoch: epoch, rowsLost: lost.count))
        for replica in replicas.indices where replicas[replica].site == new { start(replica) }
        if !lost.isEmpty { repeatAll(lost) }
        if link.isUp { push(.site(.rejoin), after: 1_000 + span(600_000, chance.bits(31, UInt64(epoch)))) }
    }

    private mutating func openWindow(_ loss: RecoveryWindow.Loss) {
        guard !does(.recoverySkipped) else { return }
        var window = RecoveryWindow.opened(by: loss, at: time, contracts: plan.providers.map(\.contract))
        let always = Timestamp(milliseconds: 0)
        if does(.staleReadsCountInRecovery) { window.readsCountFrom = always }
        if does(.lostNotAfterForgotten) { window.latestNotAfter = always }
        recovery = window
        // Somebody compares the two sides' listings once they show everything.
        let bits = chance.bits(73, UInt64(sites[activeSite].epoch))
        let after = max(0, (window.readsCountFrom - time).milliseconds) + 30_000 + span(600_000, bits)
        push(.site(.compared(window.readsCountFrom)), after: after)
    }

    /// The site that was lost takes a whole copy of the other one and follows it.
    private mutating func rejoin() {
        guard link.isUp, !link.hasStandby else { return }
        let standby = 1 - activeSite
        stopSite(standby)
        sites[standby].store = sites[activeSite].store
        sites[standby].store.endLeases()
        link.hasStandby = true
        link.begin()
        askStandbyAgain()
    }
}
