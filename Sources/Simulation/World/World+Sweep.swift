internal import PaymentCore
internal import Reconciler

/// The sweep and the leases, as the engine does them.
extension World {
    /// Sees to it that the sweep looks at `moment` of true time or before.
    mutating func arm(_ replica: Int, at moment: Int64) {
        guard replicas[replica].isUp, !replicas[replica].isDraining else { return }
        // A look and what comes of it takes its time; without that, one whose clock is behind its store's would look
        // again and again at the same moment.
        let at = max(moment, now, replicas[replica].lookedAt + 50)
        if let armed = replicas[replica].armed, armed <= at, armed >= now { return }
        replicas[replica].armed = at
        heap.push(.look(replica: replica, incarnation: replicas[replica].incarnation), at: at)
    }

    /// Every sweep looks again after a pause, whatever it knows. Looks that would find nothing are left out: a row
    /// that is due for whoever looks is found by the others within a pause of that moment, and never before.
    mutating func nudge(_ site: Int, _ payment: Int, except writer: Int?) {
        guard let row = sites[site].store.rows[payment], let dueAt = row.payment.dueAt else { return }
        let at = row.holder.isEmpty ? dueAt : max(dueAt, row.until)
        let moment = max(now, now + (at - storeTime(site)).milliseconds)
        for replica in replicas.indices where replicas[replica].site == site && replica != writer {
            let bits = chance.bits(19, UInt64(replica), UInt64(payment), UInt64(row.payment.version))
            arm(replica, at: moment + span(Int(limits.longestPause.milliseconds), bits))
        }
    }

    mutating func look(_ replica: Int, _ incarnation: Int) {
        guard carriesOn(replica, incarnation), let armed = replicas[replica].armed, armed <= now else { return }
        replicas[replica].armed = nil
        replicas[replica].lookedAt = now
        guard !replicas[replica].isDraining else { return }
        replicas[replica].sweep.woke()
        lookOn(replica, incarnation)
    }

    private mutating func lookOn(_ replica: Int, _ incarnation: Int) {
        while carriesOn(replica, incarnation) {
            switch replicas[replica].sweep.next() {
            case .claim(let request):
                let claimed = claim(replica, request)
                replicas[replica].sweep.claimed(
                    claimed.map { ($0.payment.id, $0.payment.dueProvider) }, asked: request)
                for payment in claimed { begin(replica, payment, isDue: true) }
                if claimed.count >= request.limit { return arm(replica, at: now) }
            case .pause(let longest):
                return arm(replica, at: nextLook(replica, longest))
            }
        }
    }

    private mutating func claim(_ replica: Int, _ request: ClaimRequest) -> [ClaimedPayment] {
        guard reachesStore(replica) else { return [] }
        let site = replicas[replica].site
        let oldest = does(.overdueHasLowerBound) ? storeTime(site) + .hours(-24) : nil
        let claimed = sites[site].store.claimDue(request, at: storeTime(site), overlooking: oldest)
        guard does(.pollsOnlyEvents) || does(.givesUpAfterTries) else { return claimed }
        return claimed.filter { payment in
            guard let place = places[payment.payment.id] else { return false }
            if does(.pollsOnlyEvents) { return replicas[replica].known.contains(place) }
            return payment.payment.legs.allSatisfy { $0.inquiries < 4 }
        }
    }

    private mutating func nextLook(_ replica: Int, _ longest: Span) -> Int64 {
        guard reachesStore(replica) else {
            return max(now + longest.milliseconds, replicas[replica].partitionedUntil)
        }
        let own = clock(replica)
        guard let due = sites[replicas[replica].site].store.nextDue() else { return now + Span.days(400).milliseconds }
        return due <= own ? now + longest.milliseconds : now + (due - own).milliseconds
    }

    mutating func keepLeases(_ replica: Int) {
        guard !replicas[replica].keepsLeases else { return }
        replicas[replica].keepsLeases = true
        push(
            .renew(replica: replica, incarnation: replicas[replica].incarnation), after: limits.lease.milliseconds / 3)
    }

    /// Prolongs the leases of everything in work.
    mutating func renew(_ replica: Int, _ incarnation: Int) {
        guard carriesOn(replica, incarnation) else { return }
        replicas[replica].keepsLeases = false
        guard !replicas[replica].active.isEmpty else { return }
        keepLeases(replica)
        guard reachesStore(replica) else { return }
        let site = replicas[replica].site
        for payment in replicas[replica].active {
            guard let token = replicas[replica].runners[payment]?.lease else { continue }
            let isHeld = sites[site].store.renew(
                ids[payment], token, leaseFor: limits.lease, at: storeTime(site))
            if !isHeld { feed(replica, payment, token, .committed(.leaseLost)) }
        }
    }
}
