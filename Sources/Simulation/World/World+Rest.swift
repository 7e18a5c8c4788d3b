internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// When everything has come to rest after the last fault.
extension World {
    mutating func checkRest(_ pause: Int64) {
        if unrest() == nil, uncompared() == nil {
            isAtRest = true
        } else {
            push(.restCheck(after: min(pause * 3 / 2, 86_400_000)), after: pause)
        }
    }

    /// What is due, waits or is on the way, but for what people must decide; nil if nothing is.
    func unrest() -> String? {
        if people.atWork > 0 { return "people are at work" }
        if newsUnderWay > 0 { return "a provider has not been heard yet" }
        guard isServed, !link.isChanging, link.isUp else { return "no site serves yet" }
        for (index, replica) in replicas.enumerated() {
            guard let engine = replica.engine, !engine.isIdle else { continue }
            return "replica \(index) still has \(engine.activeCount) payments in work"
        }
        for ask in asks where ask.isOpen && ask.machine != nil && carriesOn(ask.replica, ask.incarnation) {
            return "a request of payment \(tasks[ask.task].payment) that a replica took was never answered"
        }
        var stuck: Set<Int> = []
        for (paymentIndex, row) in sites[activeSite].store.rows.enumerated() {
            guard let payment = row?.payment else { continue }
            let isWaiting =
                payment.legs.contains { $0.quarantine != nil }
                || payment.refunds.contains { $0.state == .quarantined }
            if isWaiting { stuck.insert(paymentIndex) }
            guard let due = payment.dueAt else { continue }
            // A refund goes on beside one that people decide about (seed 16917166254220).
            let isUnderWay = payment.conclusion != nil && payment.refunds.contains { $0.state == .processing }
            if !isWaiting || isUnderWay {
                return "payment \(paymentIndex) is \(payment.state), and due at \(due.rfc3339)"
            }
            // What two people decided begins something new (seed 13140475516452).
            let since = max(faultsEndedAt, people.decidedAt[paymentIndex] ?? faultsEndedAt)
            guard now - since > Span.days(3).milliseconds else {
                return "payment \(paymentIndex) waits for people, and little time has passed"
            }
        }
        for task in tasks where !task.isDone && task.attempts > 0 && !stuck.contains(task.payment) {
            let what = task.isCreate ? "a create" : "an operation"
            return "\(what) of payment \(task.payment) was asked \(task.attempts) times without a final answer"
        }
        return nil
    }
}

/// When everything that came to rest was compared.
extension World {
    /// What of the comparison is not done yet; nil if all is.
    mutating func uncompared() -> String? {
        guard plan.isCompared else { return nil }
        let site = sites[activeSite].store
        let found = site.rows.flatMap { $0?.payment.bookedPositions ?? [] }.map(\.withoutItsTime)
        if found != sides { (sides, sidesSince) = (found, now) }
        for provider in providers where provider.contract.listing {
            let changed = provider.lastChange(at: time).map(\.milliseconds) ?? 0
            let since = Timestamp(milliseconds: max(faultsEndedAt, max(sidesSince, changed)))
            guard let head = site.comparisons.head(of: provider.name), head.state == .completed,
                head.horizon > since + plan.comparison.askAgainAfter + provider.contract.clockSkew
            else { return "\(provider.name) was not compared since \(since.rfc3339)" }
            let waiting = site.comparisons.discrepancies.values.contains { found in
                found.provider == provider.name && found.state == .open && found.suggestion != .tell
                    && (found.actsAt ?? head.createdAt) > head.createdAt
            }
            if waiting { return "a difference at \(provider.name) is yet to be settled" }
        }
        return nil
    }
}

extension BookedPosition {
    /// The same, whenever it was written.
    var withoutItsTime: BookedPosition {
        BookedPosition(
            payment: payment, leg: leg, provider: provider, key: key, amount: amount, captured: captured,
            refunds: refunds, standing: standing, work: work, state: state, updatedAt: Timestamp(milliseconds: 0))
    }
}
