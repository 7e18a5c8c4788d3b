internal import MemoryStore
internal import PaymentCore
internal import Reconciler

@testable internal import StoreContract

/// Payments in every place that a payment can come to, each through the real machine, the same at every run.
struct GoldenPayments {
    private let it: Scenario

    private init() {
        let clock = ManualClock()
        it = Scenario(store: MemoryStore(clock: { clock.now() }), clock: clock)
    }

    /// A payment as it would be stored, by the name of its place.
    static func all() async throws -> [(name: String, payment: Payment)] {
        let makers: [(String, (GoldenPayments) async throws -> Payment)] = [
            ("created", { try await $0.it.create($0.twoLegs()).payment }),
            ("in-doubt", { try await $0.inDoubt() }),
            ("requires-action", { try await $0.requiresAction() }),
            ("authorized", { try await $0.it.settle($0.manual()).payment }),
            ("capturing-a-part", { try await $0.capturingAPart() }),
            ("succeeded", { try await $0.it.settle($0.twoLegs()).payment }),
            ("declined", { try await $0.declined(settles: true) }),
            ("turning-back", { try await $0.declined(settles: false) }),
            ("canceled", { try await $0.canceled() }),
            ("compensating", { try await $0.compensated(settles: false) }),
            ("compensated", { try await $0.compensated(settles: true) }),
            ("quarantined", { try await ContractCase.quarantined($0.it).payment }),
            ("refunding", { try await $0.refunding().payment }),
            ("refunded-in-part", { try await $0.refunded() }),
            ("refund-declined", { try await $0.refundDeclined() }),
            ("refund-quarantined", { try await $0.refundQuarantined() }),
            ("in-recovery", { try await $0.inRecovery() }),
        ]
        var made: [(name: String, payment: Payment)] = []
        for (name, make) in makers { made.append((name, try await make(GoldenPayments()))) }
        return made
    }

    private func twoLegs() -> Scenario.Order {
        var order = Scenario.Order("golden")
        order.legs = [("cards", 700), ("wallet", 300)]
        order.reference = "order 1"
        order.metadata = ["cart": "c-5512", "ü": "日本"]
        return order
    }

    private func manual() -> Scenario.Order {
        var order = twoLegs()
        order.capture = .manual
        return order
    }

    private func orders(_ actions: [PaymentAction]) -> [SendOrder] {
        actions.compactMap { if case .send(let order) = $0 { order } else { nil } }
    }

    private func end(
        _ order: SendOrder, _ report: AttemptReport, _ work: inout Work
    ) async throws -> [PaymentAction] {
        it.clock.advance(by: .milliseconds(7))
        return try await it.save(
            &work, .attempted(leg: order.leg, effect: order.effect, number: order.number, report))
    }

    private func accept(_ order: SendOrder, _ work: inout Work) async throws -> [PaymentAction] {
        it.clock.advance(by: .milliseconds(7))
        return try await end(order, work.acceptance(of: order, at: it.clock.now()), &work)
    }

    private func inDoubt() async throws -> Payment {
        var (work, actions) = try await it.begin(twoLegs())
        let sent = orders(actions)
        _ = try await end(sent[0], AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 512), &work)
        _ = try await end(sent[1], AttemptReport(.unsent, code: "connect_refused"), &work)
        return work.payment
    }

    /// The card's holder has to confirm it.
    private func requiresAction() async throws -> Payment {
        var order = twoLegs()
        order.returnURL = WebAddress("https://shop.example/back")
        var (work, actions) = try await it.begin(order)
        _ = try await end(orders(actions)[0], work.question(about: orders(actions)[0], at: it.clock.now()), &work)
        return work.payment
    }

    private func capturingAPart() async throws -> Payment {
        var work = try await it.settle(manual())
        let yen = work.payment.amount.currency
        _ = try work.machine.capture(
            key: IdempotencyKey("capture"), amounts: [0: Money(400, yen)], it.context())
        try await it.save(&work)
        return work.payment
    }

    /// The wallet declines; the card, which is held, is voided.
    private func declined(settles: Bool) async throws -> Payment {
        var (work, actions) = try await it.begin(twoLegs())
        let sent = orders(actions)
        _ = try await accept(sent[0], &work)
        let decline = AttemptReport(
            .declined, code: "insufficient_funds",
            observation: Observation(
                .declined, began: it.clock.now(), source: .answer, key: sent[1].key, reason: "insufficient_funds"))
        let next = try await end(sent[1], decline, &work)
        if settles { try await settle(next, &work) }
        return work.payment
    }

    /// Does all that is asked, and reads what is asked about as the provider has it.
    private func settle(_ actions: [PaymentAction], _ work: inout Work) async throws {
        var waiting = actions
        var last: [Int: Observation] = [:]
        for _ in 0..<40 {
            if waiting.isEmpty {
                if work.payment.conclusion != nil { return }
                it.clock.advance(by: .minutes(1))
                waiting = try await it.save(&work, .latchAcknowledged(work.payment.latch))
                if waiting.isEmpty { waiting = try await it.save(&work, .woke) }
                continue
            }
            switch waiting.removeFirst() {
            case .send(let order):
                last[order.leg] = work.acceptance(of: order, at: it.clock.now()).observation
                waiting += try await accept(order, &work)
            case .inquire(let order):
                it.clock.advance(by: .milliseconds(7))
                var seen = last[order.leg] ?? Observation(.notFound, began: it.clock.now(), source: .inquiry)
                (seen.began, seen.source) = (it.clock.now(), .inquiry)
                waiting += try await it.save(&work, .inquired(leg: order.leg, seen))
            case .alert: break
            }
        }
    }

    private func canceled() async throws -> Payment {
        var work = try await it.settle(manual())
        let actions = try work.machine.cancel(
            CancelRequest(key: IdempotencyKey("cancel"), reason: "changed my mind", at: it.clock.now()), it.context())
        try await it.save(&work)
        try await settle(actions, &work)
        return work.payment
    }

    /// The card is captured, the wallet's hold has run out.
    private func compensated(settles: Bool) async throws -> Payment {
        var (work, actions) = try await it.begin(twoLegs())
        var captures: [SendOrder] = []
        for order in orders(actions) { captures += orders(try await accept(order, &work)) }
        _ = try await accept(captures[0], &work)
        let expired = AttemptReport(
            .refused, code: "conflict_expired",
            observation: Observation(
                .expired, began: it.clock.now(), source: .answer, key: captures[1].transactionKey,
                amount: work.payment.legs[1].amount))
        let next = try await end(captures[1], expired, &work)
        if settles { try await settle(next, &work) }
        return work.payment
    }

    private func refunding(_ amounts: [Int: Int64] = [0: 200]) async throws -> Work {
        var work = try await it.settle(twoLegs())
        let yen = work.payment.amount.currency
        _ = try work.machine.refund(
            key: IdempotencyKey("refund-1"), amounts: amounts.mapValues { try Money($0, yen) }, reason: "broken",
            it.context())
        try await it.save(&work)
        return work
    }

    private func refundOrder(_ work: Work) throws -> SendOrder {
        let part = try require(work.payment.refunds.first?.parts.first, "a refund")
        let leg = work.payment.legs[part.leg]
        return SendOrder(
            payment: work.payment.id, leg: part.leg, effect: .refund(0), number: part.effect.attempts,
            provider: leg.provider, kind: .refund, transactionKey: leg.primary.key, key: part.effect.key,
            amount: part.effect.amount, instrument: leg.instrument, caller: work.payment.caller,
            reference: work.payment.reference, notAfter: nil, startBefore: it.clock.now())
    }

    private func refunded() async throws -> Payment {
        var work = try await refunding()
        _ = try await accept(try refundOrder(work), &work)
        return work.payment
    }

    private func refundDeclined() async throws -> Payment {
        var work = try await refunding()
        let order = try refundOrder(work)
        it.clock.advance(by: .milliseconds(7))
        var shown = try require(work.acceptance(of: order, at: it.clock.now()).observation, "what is shown")
        shown.refunds = [
            .init(key: order.key, amount: order.amount, state: .declined, reason: "account_closed")
        ]
        _ = try await end(order, AttemptReport(.declined, code: "account_closed", observation: shown), &work)
        return work.payment
    }

    /// The provider says that it made the refund, and does not show it.
    private func refundQuarantined() async throws -> Payment {
        var work = try await refunding()
        let order = try refundOrder(work)
        _ = try await end(order, AttemptReport(.accepted, code: "captured", bytesWritten: 512), &work)
        for _ in 0..<4 where work.payment.refunds.first?.state != .quarantined {
            it.clock.advance(by: .days(1))
            var shown = try require(work.acceptance(of: order, at: it.clock.now()).observation, "what is shown")
            (shown.refunds, shown.source) = ([], .inquiry)
            try await it.save(&work, .inquired(leg: 0, shown))
        }
        return work.payment
    }

    private func inRecovery() async throws -> Payment {
        var (work, actions) = try await it.begin(twoLegs())
        _ = try await accept(orders(actions)[0], &work)
        let now = it.clock.now()
        let window = RecoveryWindow(readsCountFrom: now + .minutes(3), latestNotAfter: now + .minutes(2))
        try await it.save(&work, .recoveryOpened(window))
        return work.payment
    }
}
