internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// Requests and inquiries between replicas and providers, and what becomes of them on the way.
extension World {
    /// A sender waits so long for an answer.
    static let answerTimeout: Int64 = 20_000

    mutating func perform(_ job: Job, _ action: PaymentAction) {
        switch action {
        case .send(let order):
            let name = AttemptName(
                payment: job.payment, leg: order.leg, effect: order.effect, number: order.number)
            guard sentEarly.remove(name) == nil else { return }
            send(job, sabotaged(order, job.payment))
        case .inquire(let order): inquire(job, sabotaged(order, job.payment))
        case .alert(let alert): emit(.alerted(alert))
        }
    }

    private mutating func send(_ job: Job, _ order: SendOrder) {
        guard let provider = providerPlaces[order.provider] else { return }
        let own = clock(job.replica)
        let (a, b, c) = World.words(job.payment, order)
        let right = settlesFor(job.replica)
        guard let engine = replicas[job.replica].engine,
            let order = engine.permitted(order, within: right, now: own)
        else { return tell(job, order, AttemptReport(.unsent, code: "site_not_active"), after: 1) }
        if right == nil { misconduct = "replica \(job.replica) sent a request though its site may not act" }
        guard own <= order.startBefore || does(.sendTimeNotBounded) else {
            return tell(job, order, AttemptReport(.unsent, code: "expired"), after: 1)
        }
        if strikes(.requestUnsent, a, b, c) != nil {
            return tell(job, order, AttemptReport(.unsent, code: "connect_timeout"), after: 500)
        }
        if outages[provider] > now, chance.bits(37, a, b, c) & 1 == 0 {
            return tell(job, order, AttemptReport(.unsent, code: "connection_refused"), after: 5)
        }
        judgeBeginning(order, job)
        emit(.sent(replica: job.replica, token: job.token, order))
        let wire = wires.put(
            Wire(
                replica: job.replica, incarnation: job.incarnation, payment: job.payment, token: job.token,
                order: order, began: own, copies: 0))
        launch(wire, provider, order, own, a, b, c)
    }

    /// What callers were told may be lost with rows: nothing is begun for them before they ask again.
    private mutating func judgeBeginning(_ order: SendOrder, _ job: Job) {
        let site = replicas[job.replica].site
        guard site == activeSite, unheard.contains(job.payment), order.effect == .primary,
            sites[site].store.rows[job.payment]?.payment.latch == Latch.none
        else { return }
        misconduct = "payment \(job.payment) was begun after lost rows, and its caller had not asked again"
    }

    /// Which attempt a fault is about.
    static func words(_ payment: Int, _ order: SendOrder) -> (UInt64, UInt64, UInt64) {
        let effect: UInt64 =
            switch order.effect {
            case .primary: 0
            case .capture: 1
            case .void: 2
            case .compensation: 3
            case .refund(let refundIndex): 16 + UInt64(refundIndex)
            }
        return (UInt64(payment) << 8 | UInt64(order.leg), effect, UInt64(order.number))
    }

    private mutating func launch(
        _ wire: Int, _ provider: Int, _ order: SendOrder, _ own: Timestamp, _ a: UInt64, _ b: UInt64, _ c: UInt64
    ) {
        let bits = chance.bits(41, a, b, c)
        push(.timeout(wire: wire), after: World.answerTimeout)
        let isDown = outages[provider] > now
        if isDown || strikes(.requestLost, a, b, c) != nil { return }
        var delay = 5 + span(150, bits)
        if let bits = strikes(.requestDelayed, a, b, c) {
            // Some at the last moment at which they are still executed: that is where proofs are wrong.
            let limit = longestDelay(order, own)
            let late = bits & 3 == 1 ? plan.longestRequestLife.milliseconds - span(5_000, bits) : span(60_000, bits)
            delay = min(max(delay, bits & 3 == 0 ? span(21_600_000, bits) : late), limit)
        }
        wires[wire]?.copies = 1
        push(.arrive(wire: wire, isCopy: false), after: delay)
        if let bits = strikes(.requestDuplicated, a, b, c) {
            let later = min(delay + span(bits & 3 == 0 ? 21_600_000 : 30_000, bits), longestDelay(order, own))
            wires[wire]?.copies = 2
            push(.arrive(wire: wire, isCopy: true), after: later)
        }
    }

    /// Where a verdict holds only if requests live no longer than assumed, they live no longer.
    private func longestDelay(_ order: SendOrder, _ own: Timestamp) -> Int64 {
        guard let contract = plan.contracts[order.provider] else { return 0 }
        let isRefusedLate = order.notAfter != nil && contract.enforcesNotAfter
        // Without a tombstone a decline that may change, and for every contract a refund that was refused, ends by the
        // longest life of its requests.
        let endsByLife = order.kind == .refund || contract.cancel != .tombstoning && !isRefusedLate
        let isHarmless = !endsByLife && (contract.keyRetention == nil || isRefusedLate)
        if isHarmless, plan.replication != .asynchronous { return 21_600_000 }
        let sinceIntent = (own - order.startBefore) + plan.policy.sendWithin
        return max(5, (contract.maxRequestLife - sinceIntent).milliseconds - 1_000)
    }

    mutating func arrive(_ slot: Int, isCopy: Bool) {
        guard let wire = wires[slot], let provider = providerPlaces[wire.order.provider] else { return }
        wires[slot]?.copies -= 1
        let (a, b, c) = World.words(wire.payment, wire.order)
        let report = receive(wire, provider, isCopy: isCopy, a, b, c)
        emit(.arrived(wire.order, outcome: report.outcome, code: report.code))
        guard !isCopy, !wire.isEnded else { return free(slot) }
        if carriesOn(wire.replica, wire.incarnation) {
            if let bits = strikes(.crashAtAnswer, a, b, c) {
                crash(wire.replica, restartAfter: downtime(bits))
                return free(slot)
            }
            if let bits = strikes(.replicaPaused, a, b, c, 1) { pause(wire.replica, bits) }
        }
        if strikes(.answerLost, a, b, c) != nil { return free(slot) }
        wires[slot]?.isEnded = true
        answerSender(wire, report, after: 1 + span(120, chance.bits(43, a, b, c)))
        free(slot)
    }

    /// The providers of a run; what no contract says of them is drawn.
    static func providers(of plan: RunPlan, _ chance: Chance) -> [SimulatedProvider] {
        plan.providers.enumerated().map { index, planned in
            var provider = SimulatedProvider(name: planned.name, contract: planned.contract)
            provider.saysWhenRecorded = chance.draw("says when recorded", index, below: 4) > 0
            if chance.draw("replays first", index, below: 3) == 0 { provider.replaysFirst = true }
            return provider
        }
    }

    /// What a provider makes of a request; a second copy of one meets no faults of its own.
    private mutating func receive(
        _ wire: Wire, _ provider: Int, isCopy: Bool, _ a: UInt64, _ b: UInt64, _ c: UInt64
    ) -> AttemptReport {
        let order = wire.order
        var choices = ProviderChoices.none
        if providers[provider].isErring(order.key, at: time) {
            return AttemptReport(.indeterminate, code: "http_500", bytesWritten: 500)
        }
        if isCopy, planned(.requestRefused, a, b) != nil {
            // What is wrong with a request is wrong with every copy of it, and with every attempt.
            return AttemptReport(.refused, code: "http_400", bytesWritten: 500)
        }
        if !isCopy {
            if storms[provider] > now { return throttled(wire, chance.bits(47, a, b, c)) }
            if let bits = strikes(.throttled, a, b, c) { return throttled(wire, bits) }
            if strikes(.requestRefused, a, b) != nil { return AttemptReport(.refused, code: "http_400") }
            if strikes(.credentialsRefused, a, b, c) != nil {
                return AttemptReport(.refused, code: "http_401", credentialsRefused: true, bytesWritten: 500)
            }
            if let bits = strikes(.serverError, a, b, c) {
                if bits & 1 == 0 { _ = providers[provider].execute(order, at: time, began: wire.began) }
                return AttemptReport(.indeterminate, code: "http_500", bytesWritten: 500)
            }
            if let bits = strikes(.errorStored, a, b, c) {
                if bits & 1 == 0 { _ = providers[provider].execute(order, at: time, began: wire.began) }
                providers[provider].storeError(order.key, at: time)
                return AttemptReport(.indeterminate, code: "http_500", bytesWritten: 500)
            }
            choices.declines = strikes(.declined, a, b, c) != nil
            if let bits = strikes(.transactionPending, a, b, c) {
                choices.pendingFor = pendingTime(bits)
                choices.ending = bits >> 8 & 7 == 0 ? .declined : bits >> 8 & 7 == 1 ? .lost : .done
                // What it told that it had received, a provider that cannot be asked does not lose.
                let isTold = providers[provider].contract.inquiry == .byResend
                if !isTold, order.returnURL != nil, bits >> 12 & 1 == 0 {
                    choices.asksPayer = true
                    if choices.ending == .lost { choices.ending = .declined }
                }
                if isTold, choices.ending == .lost || order.kind != .authorize && order.kind != .sale {
                    choices.ending = .done
                }
            }
            choices.contradicts = strikes(.contradiction, a, b, c) != nil
        }
        let execution = providers[provider].execute(order, at: time, began: wire.began, choices: choices)
        if execution.changed { notify(wire, a, b, c) }
        planNews(wire, provider, execution, a, b, c)
        if execution.changed { notifyAstray(wire, provider, a, b, c) }
        return execution.report
    }

    /// For how long a provider is undecided: mostly seconds, at times hours, and now and then longer than some of them
    /// keep a status.
    private func pendingTime(_ bits: UInt64) -> Span {
        let longest = bits & 3 == 0 ? (bits & 12 == 0 ? 864_000_000 : 7_200_000) : 60_000
        return .milliseconds(1_000 + span(longest, bits >> 16))
    }

    private func throttled(_ wire: Wire, _ bits: UInt64) -> AttemptReport {
        AttemptReport(
            .throttled, code: "http_429", retryAfter: wire.began + .milliseconds(1_000 + span(30_000, bits)),
            bytesWritten: 500)
    }

    private mutating func answerSender(_ wire: Wire, _ report: AttemptReport, after: Int64) {
        var report = report
        if does(.answersPassForInquiries) { report.observation?.source = .inquiry }
        let job = Job(
            replica: wire.replica, incarnation: wire.incarnation, payment: wire.payment, token: wire.token,
            work: .told(.attempt(wire.order, report)))
        push(.job(jobs.put(job)), after: after)
    }

    private mutating func tell(_ job: Job, _ order: SendOrder, _ report: AttemptReport, after: Int64) {
        put(.told(.attempt(order, report)), job.replica, ids[job.payment], job.token, after: after)
    }

    /// A sender has no answer: anything may have become of its request.
    mutating func timedOut(_ slot: Int) {
        guard let wire = wires[slot] else { return }
        if !wire.isEnded {
            wires[slot]?.isEnded = true
            answerSender(wire, AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 500), after: 0)
        }
        if wires[slot]?.copies == 0 { _ = wires.take(slot) }
    }

    private mutating func free(_ slot: Int) {
        // The timer of its sender frees it otherwise.
        guard let wire = wires[slot], wire.isEnded, wire.copies == 0, wire.began + .seconds(25) < time else { return }
        _ = wires.take(slot)
    }

    mutating func learn(_ job: Job, _ news: AttemptOrInquiry) {
        let event: PaymentEvent
        switch news {
        case .attempt(let order, var report):
            if does(.outcomeBestInsteadOfWorst), report.outcome == .indeterminate, order.number > 1 {
                report.outcome = .unsent
            }
            event = .attempted(leg: order.leg, effect: order.effect, number: order.number, report)
        case .inquiry(let order, var observation):
            if does(.readsJudgedByTheirEnd) { observation.began = clock(job.replica) }
            event = .inquired(leg: order.leg, observation)
        }
        emit(.learned(replica: job.replica, token: job.token, event, payment: ids[job.payment]))
        tell(job.replica, .learned(ids[job.payment], job.token, event))
    }
}
