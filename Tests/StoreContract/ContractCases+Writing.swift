internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let writing: [ContractCase] = [
        ContractCase("a new payment has version 1, the first lease, and reads back equal") { it in
            var order = Scenario.Order("k1")
            order.legs = [("cards", 700), ("wallet", 300), ("points", 200)]
            order.reference = "order 7/ü"
            order.metadata = ["a": "1", "b": "two \"quoted\"", "": "\u{1F4B4}"]
            let draft = try it.draft(order).work
            let change = draft.change(
                .creating(holder: "w", leaseFor: .minutes(1)), try it.record(draft.payment))
            let result = try await it.store.commit(change)
            try require(result, is: .committed(version: 1, lease: LeaseToken(1)), "the result")
            var expected = draft.machine
            expected.committed(version: 1)
            try require(try await it.stored(draft.payment.id), is: expected.payment, "the payment")
            try require(expected.payment.legs.count, is: 3, "the number of legs")
        },
        ContractCase("every change raises the version by one and reads back equal") { it in
            let work = try await it.settle(Scenario.Order("k1"))
            try require(work.payment.state, is: .succeeded, "the state")
            try require(work.payment.version, is: 3, "the version after create, authorize and capture")
            try require(try await it.stored(work.payment.id), is: work.payment, "the payment")
        },
        ContractCase("a payment with captures and refunds reads back equal") { it in
            var order = Scenario.Order("k1")
            order.legs = [("cards", 900), ("wallet", 300)]
            order.capture = .manual
            var work = try await it.settle(order)
            try require(work.payment.state, is: .authorized, "the state")
            let all = try work.machine.capture(key: IdempotencyKey("c1"), amounts: nil, it.context())
            try await it.save(&work)
            try await it.answer(&work, all)
            for key in ["r1", "r2"] {
                let part = try Money(100, work.payment.amount.currency)
                let actions = try work.machine.refund(
                    key: IdempotencyKey(key), amounts: [0: part, 1: part], reason: "returned", it.context())
                try await it.save(&work)
                try await it.answer(&work, actions)
            }
            try require(work.payment.refunds.map(\.state), is: [.succeeded, .succeeded], "the refunds")
            try require(try await it.stored(work.payment.id), is: work.payment, "the payment")
        },
        ContractCase("a quarantined payment reads back equal") { it in
            let work = try await quarantined(it)
            try require(work.payment.state, is: .quarantined, "the state")
            try require(try await it.stored(work.payment.id), is: work.payment, "the payment")
        },
        ContractCase("a canceled payment, and one in recovery, read back equal") { it in
            var order = Scenario.Order("k1")
            order.capture = .manual
            var work = try await it.settle(order)
            let request = CancelRequest(key: try IdempotencyKey("x1"), reason: "changed mind", at: it.clock.now())
            let actions = try work.machine.cancel(request, it.context())
            try await it.save(&work)
            try await it.answer(&work, actions)
            try require(work.payment.state, is: .canceled, "the state")
            try require(try await it.stored(work.payment.id), is: work.payment, "the canceled payment")
            var other = try await it.create(Scenario.Order("k2"))
            let window = RecoveryWindow(readsCountFrom: it.clock.now(), latestNotAfter: it.clock.now() + .days(1))
            try await it.save(&other, .recoveryOpened(window))
            try require(other.payment.recovery, is: window, "the window")
            try require(try await it.stored(other.payment.id), is: other.payment, "the payment in recovery")
        },
        ContractCase("a payment that is not known is not there") { it in
            let id = try it.draft(Scenario.Order("k1")).work.payment.id
            try require(try await it.store.payment(id), is: nil, "the payment")
            try require(try await it.store.auditTrail(of: id, after: 0, limit: 10), is: [], "the trail")
        },
        ContractCase("the probe works, again and again") { it in
            try await it.store.probe()
            it.clock.advance(by: .seconds(1))
            try await it.store.probe()
            try require(try await it.store.now(), is: it.clock.now(), "the store's clock")
        },
    ]

    /// A payment whose provider speaks of another amount.
    static func quarantined(_ it: Scenario, _ key: String = "k1") async throws -> Work {
        var (work, actions) = try await it.begin(Scenario.Order(key))
        guard case .send(let order)? = actions.first else {
            throw ContractViolation(description: "a new payment sends nothing")
        }
        let report = try work.contradiction(to: order, at: it.clock.now())
        try await it.save(&work, .attempted(leg: 0, effect: order.effect, number: order.number, report))
        return work
    }
}
