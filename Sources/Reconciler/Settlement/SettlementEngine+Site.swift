internal import Logging
public import PaymentCore

extension SettlementEngine {
    /// Takes in for which term this process works from now on, and in which window of recovery. What was under way in
    /// another term is left: its rows are due for whoever is active, and what was sent without a recorded outcome is
    /// inquired then.
    public func enter(_ epoch: Int64?, recovery: RecoveryWindow?) {
        self.recovery = recovery
        guard term != epoch else { return }
        term = epoch
        leaveAll()
        guard epoch != nil else { return }
        // Leases from before would keep the payments from being taken up until they run out. A new term has ended them.
        for (id, token) in left.sorted(by: { $0.key < $1.key }) { jobSink.yield(.release(id, token)) }
        left.removeAll()
    }

    /// Looks for what is due now: this process has just got the right to act.
    public func look() { wakeSink.yield() }

    private func leaveAll() {
        guard !runners.isEmpty else { return }
        logger.warning("payments in work were left: the term is over", metadata: ["payments": "\(runners.count)"])
        for (id, runner) in runners {
            left[id] = runner.lease
            for ticket in runner.unansweredTickets { answer(ticket, .lost) }
            _ = sweep.finished(id)
        }
        runners.removeAll()
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

    /// Sends, if this process may do so still, and not a byte after that ends.
    func send(_ order: SendOrder, to provider: any PaymentProvider) async -> AttemptReport {
        guard let span = settings.gate.settlesFor else { return AttemptReport(.unsent, code: "site_not_active") }
        var order = order
        order.startBefore = min(order.startBefore, clock.now() + span)
        return await provider.send(order)
    }

    func inquire(_ order: InquiryOrder, at provider: any PaymentProvider) async -> Observation {
        guard settings.gate.settlesFor != nil else {
            return Observation(.unavailable, began: clock.now(), source: .inquiry, reason: "site_not_active")
        }
        return await provider.inquire(order)
    }
}
