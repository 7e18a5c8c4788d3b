internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// Timers of the engines. A look that would find nothing, and a question whose answer would be the same, change
/// nothing in an engine; they are left out, for a run is days long.
extension World {
    /// A replica's engine wants to look at this moment of its own clock.
    mutating func wake(_ replica: Int, at moment: Timestamp) {
        replicas[replica].wanted = moment
        let wait = max(1, (moment - clock(replica)).milliseconds)
        var at = now + wait
        let site = replicas[replica].site
        guard standing(replica).maySettle else { return }
        if !reachesStore(replica) { at = max(at, replicas[replica].partitionedUntil) }
        guard let due = sites[site].store.nextDue(in: .everywhere) else { return }
        schedule(replica, max(at, now + (due - storeTime(site)).milliseconds))
    }

    /// An engine may set its timer while its right has run out for a moment; no look is planned then. The right came
    /// back, and the timer goes off.
    mutating func wakeAgain(_ replica: Int) {
        guard replicas[replica].isUp, let wanted = replicas[replica].wanted, standing(replica).maySettle else { return }
        if let planned = replicas[replica].lookAt, planned >= now { return }
        wake(replica, at: wanted)
    }

    private mutating func schedule(_ replica: Int, _ at: Int64) {
        if let planned = replicas[replica].lookAt, planned <= at, planned >= now { return }
        replicas[replica].lookAt = at
        heap.push(.look(replica: replica, incarnation: replicas[replica].incarnation), at: at)
    }

    /// A row changed. Every sweep looks again after a pause, whatever it knows: a row that is due for whoever looks is
    /// found by the others within a pause of that moment, and never before.
    mutating func wakeOtherReplicas(_ site: Int, _ payment: Int, except writer: Int?) {
        guard let row = sites[site].store.rows[payment], let dueAt = row.payment.dueAt else { return }
        let at = row.lease.map { max(dueAt, $0.until) } ?? dueAt
        let moment = max(now, now + (at - storeTime(site)).milliseconds)
        for replica in replicas.indices
        where replicas[replica].site == site && replicas[replica].isUp && replicas[replica].wanted != nil {
            let bits = chance.bits(19, UInt64(replica), UInt64(payment), UInt64(row.payment.version))
            let pause = replica == writer ? limits.longestPause.milliseconds : 0
            schedule(replica, moment + 1 + pause + span(Int(limits.longestPause.milliseconds), bits))
        }
    }

    mutating func look(_ replica: Int, _ incarnation: Int) {
        guard carriesOn(replica, incarnation), let at = replicas[replica].lookAt, at <= now else { return }
        replicas[replica].lookAt = nil
        guard let wanted = replicas[replica].wanted else { return }
        replicas[replica].wanted = nil
        tell(replica, .woke(wanted))
    }

    /// Prolongs the leases of everything in work.
    mutating func renew(_ replica: Int, _ incarnation: Int) {
        guard carriesOn(replica, incarnation) else { return }
        tell(replica, .renewalIsDue)
    }

    // MARK: The standby

    /// A replica's engine asks how much the standby has.
    mutating func askStandby(_ replica: Int, after pause: Span) {
        guard reachesStore(replica), link.isUp, link.hasStandby, link.source == replicas[replica].site else {
            replicas[replica].asksStandby = true
            return
        }
        put(.askStandby, replica, nil, after: max(1, pause.milliseconds))
    }

    mutating func standbyReading(_ replica: Int) -> Result<StandbyReading, StoreFailure> {
        guard reachesStore(replica) else { return .failure(World.unreachable) }
        let follows = link.isUp && link.hasStandby && link.source == replicas[replica].site
        return .success(
            StandbyReading(
                written: LogPosition(offset: UInt64(link.before + link.log.count)),
                flushed: follows ? LogPosition(offset: UInt64(link.before + link.applied)) : nil))
    }

    /// The standby follows again, or a store is reached again: who asked meanwhile asks now.
    mutating func askStandbyAgain() {
        for replica in replicas.indices where replicas[replica].asksStandby && replicas[replica].isUp {
            replicas[replica].asksStandby = false
            askStandby(replica, after: .milliseconds(20))
        }
    }
}
