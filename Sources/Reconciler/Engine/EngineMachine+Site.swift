public import PaymentCore

/// The site's term, and the end of the process.
extension EngineMachine {
    /// Takes in for which term this process works from now on, and in which window of recovery. What was under way in
    /// another term is left: its rows are due for whoever is active, and what was sent without a recorded outcome is
    /// inquired then.
    mutating func enter(_ epoch: Int64?, _ recovery: RecoveryWindow?) {
        self.recovery = recovery
        guard term != epoch else { return }
        term = epoch
        resting = nil
        // Another database's log: what waits is registered again when it is taken up.
        unconfirmed.latches.removeAll()
        if !rules.breaks(.endedTermIgnored) { leaveAll() }
        guard epoch != nil else { return }
        // Leases from before would keep the payments from being taken up until they run out. A new term has ended them.
        for (id, token) in left.sorted(by: { $0.key < $1.key }) { release(id, token) }
        left.removeAll()
    }

    private mutating func leaveAll() {
        guard !runners.isEmpty else { return }
        jobs.append(.note(.termOver(payments: runners.count)))
        for id in active {
            guard let runner = runners.removeValue(forKey: id) else { continue }
            left[id] = runner.lease
            for ticket in runner.unansweredTickets { answer(ticket, .lost) }
            _ = sweep.finished(id)
        }
    }

    mutating func stop() {
        isDraining = true
        isStopped = true
        claims.removeAll()
        insertions.removeAll()
        writes.removeAll()
        for ticket in tickets.sorted() { answer(ticket, .lost) }
    }

    /// Why nothing is taken, in words.
    static func reason(_ standing: SiteStanding) -> String {
        if let refusal = standing.refusal { return refusal.description }
        if standing.isDraining { return "the site is being drained" }
        switch standing.mode {
        case .full: return "shutting down"
        case .settleOnly: return "the site takes no new payments: it is in the mode settle-only"
        case .readOnly: return "the site only reads: it is in the mode read-only"
        }
    }

    /// A request as it may leave now: not a byte of it after the right to act ends. `nil` if it may not leave at all.
    ///
    /// - Parameter right: For how long the site may go on; `nil` if it may not (``SiteGate/settlesFor``).
    public func permitted(_ order: SendOrder, within right: Span?, now: Timestamp) -> SendOrder? {
        guard let right else { return rules.breaks(.closedGateIgnored) ? order : nil }
        var order = order
        order.startBefore = min(order.startBefore, now + right)
        return order
    }
}
