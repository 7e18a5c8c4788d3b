internal import PaymentCore

/// When everything has come to rest after the last fault.
extension World {
    mutating func checkRest(_ pause: Int64) {
        if unrest() == nil {
            isAtRest = true
        } else {
            push(.restCheck(after: min(pause * 3 / 2, 86_400_000)), after: pause)
        }
    }

    /// What is due, waits or is on the way, but for what people must decide; nil if nothing is.
    func unrest() -> String? {
        guard sites[activeSite].isServing, !link.isChanging, link.isUp else { return "no site serves yet" }
        let hadTime = now - faultsEndedAt > Span.days(3).milliseconds
        for (index, replica) in replicas.enumerated() where !replica.active.isEmpty {
            return "replica \(index) still has \(replica.active.count) payments in work"
        }
        var stuck: Set<Int> = []
        for (place, row) in sites[activeSite].store.rows.enumerated() {
            guard let payment = row?.payment else { continue }
            let isWaiting =
                payment.legs.contains { $0.quarantine != nil }
                || payment.refunds.contains { $0.state == .quarantined }
            if isWaiting { stuck.insert(place) }
            guard let due = payment.dueAt else { continue }
            if !isWaiting { return "payment \(place) is \(payment.state), and due at \(due.rfc3339)" }
            if !hadTime { return "payment \(place) waits for people, and little time has passed" }
        }
        for task in tasks where !task.isDone && task.attempts > 0 && !stuck.contains(task.payment) {
            let what = task.isCreate ? "a create" : "an operation"
            return "\(what) of payment \(task.payment) was asked \(task.attempts) times without a final answer"
        }
        return nil
    }
}
