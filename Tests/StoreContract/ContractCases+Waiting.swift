internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let waiting: [ContractCase] = [
        ContractCase("what is under way, rests or is over waits for nothing") { it in
            try await it.create(Scenario.Order("k1"))
            try await it.settle(Scenario.Order("k2"))
            var manual = Scenario.Order("k3")
            manual.capture = .manual
            try await it.settle(manual)
            try require(try await it.store.statistics().waiting, is: [:], "what waits")
            for waitsFor in WaitsFor.allCases {
                try require(try await found(waitsFor, it), is: [], "what is found that waits for \(waitsFor)")
            }
        },
        ContractCase("a payment in doubt waits for time, until it is known") { it in
            var (work, actions) = try await it.begin(Scenario.Order("k1"))
            let order = try sent(actions)
            let lost = AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 512)
            try await it.save(&work, .attempted(leg: 0, effect: order.effect, number: order.number, lost))
            let expected = [WaitingOperation(.create, for: .time): 1]
            try require(try await it.store.statistics().waiting, is: expected, "what waits")
            try require(try await found(.time, it), is: ["k1"], "what is found")
            try require(try await found(.people, it), is: [], "what is found for people")
            it.clock.advance(by: .minutes(1))
            let report = work.acceptance(of: order, at: it.clock.now())
            let observation = try require(report.observation, "what was seen")
            var seen = observation
            seen.source = .inquiry
            try await it.answer(&work, try await it.save(&work, .inquired(leg: 0, seen)))
            try require(work.payment.state, is: .succeeded, "the state")
            try require(try await it.store.statistics().waiting, is: [:], "what waits when it is known")
            try require(try await found(.time, it), is: [], "what is found when it is known")
        },
        ContractCase("a payment in quarantine waits for people") { it in
            _ = try await quarantined(it, "k1")
            let expected = [WaitingOperation(.create, for: .people): 1]
            try require(try await it.store.statistics().waiting, is: expected, "what waits")
            try require(try await found(.people, it), is: ["k1"], "what is found")
        },
        ContractCase("a refund in doubt and one in quarantine are counted and found, though their payments succeeded") {
            it in
            try await refundInDoubt(it, "k1")
            try require(
                try await it.store.statistics().waiting, is: [WaitingOperation(.refund, for: .time): 1],
                "what waits while one is in doubt")
            it.clock.advance(by: .seconds(1))
            try await quarantinedRefund(it, "k2")
            let counts = try await it.store.statistics()
            let expected = [WaitingOperation(.refund, for: .time): 1, WaitingOperation(.refund, for: .people): 1]
            try require(counts.waiting, is: expected, "what waits")
            try require(counts.paymentsByState, is: [.succeeded: 2], "the counts by state")
            try require(try await found(.people, it), is: ["k2"], "what is found for people")
            try require(try await found(.time, it), is: ["k1"], "what is found for time")
        },
        ContractCase("what waits is found together with other filters, in pages, newest first") { it in
            var expected: [String] = []
            for number in 0..<5 {
                _ = try await quarantined(it, "k\(number)")
                expected.insert("k\(number)", at: 0)
                try await it.settle(Scenario.Order("other\(number)"))
                it.clock.advance(by: .seconds(1))
            }
            for provider in [nil, try ProviderName("cards")] {
                var query = PaymentQuery(limit: 2)
                (query.waitsFor, query.provider) = (.people, provider)
                var seen: [String] = []
                repeat {
                    let page = try await it.store.payments(query)
                    seen += page.items.map(\.key.text)
                    query.after = page.next
                    try require(seen.count <= 30, "the pages come to an end")
                } while query.after != nil
                try require(seen, is: expected, "the payments at \(provider?.name ?? "any provider")")
            }
            var none = PaymentQuery()
            (none.waitsFor, none.caller) = (.people, try CallerID("market"))
            try require(try await it.store.payments(none).items.count, is: 0, "the payments of another caller")
        },
    ]

    private static func found(_ waitsFor: WaitsFor, _ it: Scenario) async throws -> [String] {
        var query = PaymentQuery()
        query.waitsFor = waitsFor
        return try await it.store.payments(query).items.map(\.key.text)
    }

    private static func sent(_ actions: [PaymentAction]) throws -> SendOrder {
        guard case .send(let order)? = actions.first else {
            throw ContractViolation(description: "nothing is sent")
        }
        return order
    }

    /// A payment that succeeded, and a refund of it that is on the wire.
    private static func refunding(_ it: Scenario, _ key: String) async throws -> (work: Work, order: SendOrder) {
        var work = try await it.settle(Scenario.Order(key))
        let order = try sent(
            work.machine.refund(key: IdempotencyKey("refund-\(key)"), amounts: nil, reason: nil, it.context()))
        try await it.save(&work)
        it.clock.advance(by: .milliseconds(1))
        return (work, order)
    }

    /// A refund that may or may not have been made.
    private static func refundInDoubt(_ it: Scenario, _ key: String) async throws {
        var (work, order) = try await refunding(it, key)
        let lost = AttemptReport(.indeterminate, code: "read_timeout", bytesWritten: 512)
        try await it.save(&work, .attempted(leg: 0, effect: order.effect, number: order.number, lost))
        try require(work.payment.refunds.first?.state, is: .processing, "the refund")
    }

    /// The provider says that it made the refund, and does not show it.
    private static func quarantinedRefund(_ it: Scenario, _ key: String) async throws {
        var (work, order) = try await refunding(it, key)
        let accepted = AttemptReport(.accepted, code: "ok", bytesWritten: 512)
        try await it.save(&work, .attempted(leg: 0, effect: order.effect, number: order.number, accepted))
        for _ in 0..<8 where work.payment.refunds.first?.state != .quarantined {
            it.clock.advance(by: .days(1))
            var without = try require(work.acceptance(of: order, at: it.clock.now()).observation, "what is shown")
            (without.refunds, without.source) = ([], .inquiry)
            try await it.save(&work, .inquired(leg: 0, without))
        }
        try require(work.payment.refunds.first?.state, is: .quarantined, "the refund")
        try require(work.payment.state, is: .succeeded, "the payment")
    }
}
