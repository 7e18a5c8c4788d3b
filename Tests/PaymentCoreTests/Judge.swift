import PaymentCore

/// What must hold at every step of every story. It notes what does not.
struct Judge {
    private(set) var faults: [String] = []
    private var final: Conclusion?
    private var told: Set<Bool> = []
    private var proposals: [String: Leg] = [:]
    /// Whether an effect may not even leave by the change that moves the latch away.
    var isStrict = false

    mutating func require(_ holds: Bool, _ what: @autoclosure () -> String) {
        if !holds { faults.append(what()) }
    }

    /// Rows were lost: what was final may have to be found again.
    mutating func rowsWereLost() { final = nil }

    /// One durable change.
    mutating func step(from old: Payment, to new: Payment, entries: [AuditEntry]) {
        var latch = old.latch
        for case let next? in entries.filter({ $0.type == .latch }).map(Judge.latch) {
            require(latch.permits(next), "the latch moved from \(latch) to \(next)")
            latch = next
        }
        require(latch == new.latch, "the latch moved from \(latch) to \(new.latch) without an entry")
        if let final { require(new.conclusion == final, "a final state changed") }
        if let conclusion = new.conclusion {
            final = final ?? conclusion
            told.insert(conclusion.state == .succeeded)
            require(told.count == 1, "the caller was told both that it succeeded and that it did not")
        }
        var head = entries.first.map { _ in old.version == 0 ? AuditHead.empty(new.id) : old.auditHead }
        for entry in entries {
            require(entry.previous == head?.hash, "the trail is broken")
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
        }
        for entry in entries {
            for decision in ReplayedDecision.all(of: entry) {
                if case .same = decision { continue }
                require(false, "a recorded decision is not made again: \(decision)")
            }
        }
        for entry in entries where entry.type == .resolved { repaired(entry, old) }
        if let head { require(head == new.auditHead, "the payment forgot the head of its trail") }
        if new.conclusion?.state == .failed || new.conclusion?.state == .canceled {
            require(new.conclusion?.reason != nil, "turned back without a reason")
        }
    }

    /// Whoever asks why a payment is in its state is told what it waits for, until it ended.
    mutating func explained(_ explanation: PaymentExplanation) {
        require(!explanation.sentences.isEmpty, "nothing is said of the payment")
        let payment = explanation.payment
        guard payment.conclusion == nil else { return }
        let isHeldForCaller = payment.isResting
        let waitsForStandby = !payment.latchAcknowledged
        let waits = explanation.legs.contains { ![.nothing, .payment].contains($0.wait) }
        let isMoved = explanation.decision?.verdict.row.hasSuffix("complete") ?? false
        require(
            waits || isHeldForCaller || waitsForStandby || isMoved,
            "nobody knows what it waits for: \(payment.state), \(explanation.decision?.verdict.row ?? "-"), "
                + "\(explanation.legs.map(\.wait))")
    }

    /// Somebody proposed a repair of a leg as it was then.
    mutating func proposed(_ repair: Repair, about leg: Leg) { proposals[repair.id] = leg }

    /// A repair was carried out: by another person, with evidence, and on what was read.
    private mutating func repaired(_ entry: AuditEntry, _ before: Payment) {
        let value = entry.value
        let (asked, approved) = (value("requested_by"), value("approved_by"))
        require(asked != nil && approved != nil && asked != approved, "somebody approved their own proposal")
        require(value("evidence") != nil, "a repair without evidence")
        if ["charged", "undone_outside"].contains(value("resolution")) {
            require(value("reference") != nil, "a repair without the provider's reference")
        }
        guard let known = value("repair").flatMap({ proposals[$0] }), let index = entry.leg else {
            return require(false, "a repair that nobody proposed")
        }
        let leg = before.legs[index]
        require(
            leg.quarantine?.since == known.quarantine?.since && leg.knowledge?.status == known.knowledge?.status,
            "a repair of what is not any more as it was read")
    }

    private static func latch(_ entry: AuditEntry) -> Latch? {
        entry.value("latch").flatMap { Latch(rawValue: $0) }
    }

    /// A request is about to leave. `before` is the latch before the change that holds its intent.
    mutating func sending(_ order: SendOrder, _ durable: Payment, before: Latch, _ policy: SettlementPolicy) {
        let leg = durable.legs[order.leg]
        let effect: Effect? =
            switch order.effect {
            case .primary: leg.primary
            case .capture: leg.capture
            case .void: leg.void
            case .compensation: leg.compensation
            case .refund(let refundIndex): durable.refunds[refundIndex].parts.first { $0.leg == order.leg }?.effect
            }
        require(effect?.open?.number == order.number, "\(order.kind) left without a durable intent")
        require(effect?.key == order.key && effect?.amount == order.amount, "the order is not the effect's")
        // Whether the payment had this latch when the intent was decided.
        func permits(_ latch: Latch) -> Bool { durable.latch == latch || before == latch && !isStrict }
        require(order.amount.value > 0, "a \(order.kind) of nothing was sent")
        switch order.kind {
        case .authorize, .sale:
            require(
                permits(.none) || policy.plugAllowed && durable.latch == .back,
                "\(order.kind) was sent under \(durable.latch)")
        case .capture:
            // What is in doubt is sent again to learn of it, so that it can be given back.
            let isPlug = policy.plugAllowed && durable.latch == .compensate && order.number > 1
            require(permits(.forward) || isPlug, "a capture was sent under \(durable.latch)")
        case .void: require(durable.latch != .none, "a void was sent before any latch")
        case .refund:
            if case .refund = order.effect {
                require(durable.conclusion?.state == .succeeded, "a refund was sent before the payment succeeded")
            } else {
                require(durable.latchAcknowledged, "a compensation was sent under an unacknowledged latch")
            }
        }
    }

    /// The providers' books changed.
    mutating func charges(_ stage: Stage) {
        for leg in stage.durable.legs {
            let live = stage.ledgersEverywhere(leg.provider).map { $0.liveCount(leg.primary.key) }.reduce(0, +)
            require(live <= 1, "leg \(leg.index) is charged \(live) times")
        }
    }

    /// Everything came to rest, and nothing is on the wire.
    mutating func atRest(_ stage: Stage) {
        let payment = stage.durable
        var net: Int64 = 0
        for leg in payment.legs {
            for ledger in stage.ledgersEverywhere(leg.provider) {
                net += ledger.net(leg.primary.key)
                require(!ledger.isHeld(leg.primary.key), "leg \(leg.index) is still held after \(payment.state)")
            }
        }
        let books = payment.captured.value - payment.refunded.value
        switch payment.conclusion?.state {
        case .succeeded:
            let asked = payment.capture?.amounts.reduce(0) { $0 + $1.value } ?? payment.amount.value
            let given = payment.refunds.flatMap(\.parts).filter { $0.state == .succeeded }
            require(net == asked - given.reduce(0) { $0 + $1.effect.amount.value }, "succeeded with \(net) taken")
            require(books == net, "the books say \(books), the providers \(net)")
        case .failed, .canceled: require(net == 0, "\(payment.state) with \(net) taken")
        default: break
        }
        do {
            try AuditHead.verify(stage.trail, of: payment.id, head: payment.auditHead)
        } catch {
            require(false, "the trail is broken: \(error)")
        }
    }
}
