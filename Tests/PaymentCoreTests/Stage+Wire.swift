import PaymentCore
import SeededChance

extension Stage {
    mutating func send(_ order: SendOrder, before: Latch) {
        sent.append(order)
        judge.sending(order, durable, before: before, policy)
        let delay = latency()
        let fault = nextSendFault(order)
        switch fault {
        case .none: put(order, after: delay, holder: holderNumber)
        case .lostRequest: answer(order, .indeterminate, "read_timeout", after: .seconds(10))
        case .lostAnswer: deliverUnanswered(order, after: delay, "read_timeout")
        case .late(let span): deliverUnanswered(order, after: span, "read_timeout")
        case .duplicated(let span):
            put(order, after: delay, holder: holderNumber)
            put(order, after: span)
        case .strayRefusal:
            put(order, after: delay)
            answer(order, .refused, "not_found", after: .seconds(1))
        case .unsent: answer(order, .unsent, "connect_refused", after: .milliseconds(20))
        case .throttled: answer(order, .throttled, "http_429", after: .milliseconds(20))
        case .throttledBeforeCopy(let span):
            put(order, after: span)
            answer(order, .throttled, "http_429", after: .milliseconds(20))
        case .refused: answer(order, .refused, "http_422", after: .milliseconds(20))
        case .credentialsRefused: answer(order, .refused, "http_401", after: .milliseconds(20))
        case .crashBefore: crash()
        case .crashAfter:
            put(order, after: delay)
            crash()
        }
    }

    private mutating func put(_ order: SendOrder, after span: Span, holder: Int? = nil) {
        wire.append(Copy(at: now + span, order: order, holder: holder, region: regions?.here))
    }

    private mutating func deliverUnanswered(_ order: SendOrder, after span: Span, _ code: String) {
        put(order, after: span)
        answer(order, .indeterminate, code, after: .seconds(10))
    }

    private mutating func answer(_ order: SendOrder, _ outcome: OutcomeClass, _ code: String, after span: Span) {
        let report = AttemptReport(
            outcome, code: code, credentialsRefused: code == "http_401", namesKey: code != "not_found")
        inbox.append(
            Result(
                at: now + span,
                event: .attempted(leg: order.leg, effect: order.effect, number: order.number, report)))
    }

    mutating func inquire(_ order: InquiryOrder) {
        let began = now
        let at = now + latency()
        guard let ledger = ledgers[order.provider] else { return }
        judge.require(ledger.contract.inquiry != .byResend, "a provider is asked that cannot be asked")
        var shown = ledger
        switch nextReadFault(ledger.contract) {
        case .none: shown.settle(at: now)
        case .unavailable:
            let failed = Observation(.unavailable, began: began, source: .inquiry, reason: "http_503")
            return inbox.append(Result(at: at, event: .inquired(leg: order.leg, failed)))
        case .crash: return crash()
        case .stale(let span):
            shown = history[order.provider]?.last { $0.at <= now + (.zero - span) }?.ledger ?? Ledger(ledger.contract)
        }
        let observation = shown.observe(order.transactionKey, began: began)
        inbox.append(Result(at: at, event: .inquired(leg: order.leg, observation)))
    }

    /// A copy reaches its provider.
    mutating func deliver(_ copy: Copy) {
        guard let report = execute(copy), let ledger = ledgers[copy.order.provider] else { return }
        if ledger.contract.visibilityLag > .zero {
            history[copy.order.provider, default: []].append((now, ledger))
        }
        judge.charges(self)
        guard let holder = copy.holder, holder == holderNumber, self.holder != nil else { return }
        let order = copy.order
        inbox.append(
            Result(
                at: now + .milliseconds(30),
                event: .attempted(leg: order.leg, effect: order.effect, number: order.number, report)))
    }

    private mutating func latency() -> Span {
        guard faults != nil else { return .milliseconds(50) }
        return .milliseconds(Int64(10 + (faults?.chance.below(400) ?? 0)))
    }

    private mutating func nextSendFault(_ order: SendOrder) -> SendFault {
        if !sendScript.isEmpty { return sendScript.removeFirst() }
        guard var drawn = faults, drawn.actionsLeft > 0, drawn.chance.happens(percent: drawn.percent) else {
            return .none
        }
        defer { faults = drawn }
        // Not longer than a request may live.
        let span = Span.milliseconds(Int64(drawn.chance.below(118_000)))
        let choices: [SendFault] = [
            .lostRequest, .lostAnswer, .lostAnswer, .late(span), .duplicated(span), .unsent, .throttled,
            drawn.mayCrash ? .crashBefore : .unsent, drawn.mayCrash ? .crashAfter : .lostAnswer,
        ]
        return drawn.chance.pick(choices, else: .none)
    }

    private mutating func nextReadFault(_ contract: ProviderContract) -> ReadFault {
        if !readScript.isEmpty { return readScript.removeFirst() }
        guard var drawn = faults, drawn.actionsLeft > 0, drawn.chance.happens(percent: drawn.percent) else {
            return .none
        }
        defer { faults = drawn }
        let failed: ReadFault = drawn.mayFailReads ? .unavailable : .none
        var choices: [ReadFault] = [failed, failed, drawn.mayCrash ? .crash : failed]
        if contract.visibilityLag > .zero {
            let span = Int64(drawn.chance.below(Int(contract.visibilityLag.milliseconds)))
            choices += [.stale(.milliseconds(span)), .stale(.milliseconds(span))]
        }
        return drawn.chance.pick(choices, else: .none)
    }
}

extension Payment {
    /// Where it stands, for the message of a failed test.
    var summary: String {
        let refunds = refunds.map { "\($0.state) after \($0.parts.map(\.effect.attempts))" }
        let quarantined = legs.compactMap { $0.quarantine.map { "\($0.effect) by \($0.row)" } }
        return "\(state), latch \(latch), due \(dueAt?.rfc3339 ?? "never"), refunds \(refunds), \(quarantined)"
    }
}

extension Stage {
    /// Whether nothing more will happen before people decide.
    var awaitsPeople: Bool {
        guard wire.isEmpty else { return false }
        let hasQuarantinedRefund = durable.refunds.contains { $0.state == .quarantined }
        return durable.state == .quarantined
            || durable.state.isFinal && hasQuarantinedRefund && durable.refunds.allSatisfy { $0.state != .processing }
    }

    /// Whether nothing more will happen without the caller.
    var isAtRest: Bool {
        durable.state.isFinal && durable.refunds.allSatisfy(\.state.isFinal) && wire.isEmpty && news.isEmpty
    }

    /// Lets the next thing happen; `false` if nothing ever will.
    mutating func step() -> Bool {
        var next: Timestamp?
        func consider(_ moment: Timestamp?) {
            guard let moment else { return }
            next = next.map { min($0, moment) } ?? moment
        }
        consider(wire.map(\.at).min())
        consider(inbox.map(\.at).min())
        consider(news.map(\.at).min())
        consider(ledgers.keys.flatMap(ledgersEverywhere).compactMap(\.nextNews).min())
        let isIdle = holder.map(\.busy.isEmpty) ?? true
        if isIdle { consider(durable.dueAt.map { holder == nil ? $0 + .seconds(1) : $0 }) }
        guard let next else { return false }
        now = max(now, next)
        for provider in ledgers.keys { settle(provider) }
        if let index = news.firstIndex(where: { $0.at <= now }) {
            if holder == nil { _ = restarted() }
            handle(news.remove(at: index).event)
        } else if let index = wire.firstIndex(where: { $0.at <= now }) {
            deliver(wire.remove(at: index))
        } else if let index = inbox.indices.filter({ inbox[$0].at <= now }).min(by: { inbox[$0].at < inbox[$1].at }) {
            handle(inbox.remove(at: index).event)
        } else if holder == nil {
            _ = restarted()
        } else {
            handle(.woke)
        }
        return true
    }

    /// Time passes at a provider, and it tells what it decided meanwhile: at some later time, and perhaps twice.
    private mutating func settle(_ provider: ProviderName) {
        guard let before = ledgers[provider] else { return }
        ledgers[provider]?.settle(at: now)
        guard let leg = durable.legs.first(where: { $0.provider == provider })?.index else { return }
        var told = ledgers[provider]?.news(since: before, at: now) ?? []
        if let there = regions?.ledgersThere[provider] {
            regions?.ledgersThere[provider]?.settle(at: now)
            told += regions?.ledgersThere[provider]?.news(since: there, at: now) ?? []
        }
        for told in told {
            let copies = 1 + (faults?.chance.below(2) ?? 0)
            for _ in 0..<copies {
                let late = Span.milliseconds(Int64(faults?.chance.below(90_000) ?? 100))
                news.append(Result(at: now + late, event: .notified(leg: leg, told)))
            }
        }
    }

    /// Lets things happen until `isDone`, at most so many of them; `false` if it did not come to that.
    @discardableResult
    mutating func run(
        steps: Int = 600, until end: Timestamp? = nil, while goesOn: (Stage) -> Bool = { !$0.isAtRest }
    ) -> Bool {
        for _ in 0..<steps {
            if !goesOn(self) { return true }
            guard step() else { return !goesOn(self) }
            if let end, now >= end { return true }
        }
        return !goesOn(self)
    }
}
