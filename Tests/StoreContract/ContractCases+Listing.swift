internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let listing: [ContractCase] = [
        ContractCase("payments are listed newest first, and by id where they are as old") { it in
            for number in 0..<3 { try await it.create(Scenario.Order("same\(number)")) }
            it.clock.advance(by: .seconds(1))
            try await it.create(Scenario.Order("newest"))
            let page = try await it.store.payments(PaymentQuery())
            try require(page.next, is: nil, "the next place")
            let sorted = page.items.sorted { ($0.createdAt, $0.id) > ($1.createdAt, $1.id) }
            try require(page.items, is: sorted, "the order")
            try require(page.items.count, is: 4, "the number of payments")
            try require(page.items.first?.key.text, is: "newest", "the first")
            for item in page.items { try require(item, is: try await it.stored(item.id), "the item") }
        },
        ContractCase("pages follow each other without gap or repetition while payments arrive") { it in
            var expected: Set<String> = []
            for number in 0..<11 {
                try await it.create(Scenario.Order("k\(number)"))
                expected.insert("k\(number)")
                if number % 3 == 0 { it.clock.advance(by: .seconds(1)) }
            }
            it.clock.advance(by: .seconds(1))
            var query = PaymentQuery(limit: 3)
            var seen: [String] = []
            repeat {
                let page = try await it.store.payments(query)
                try require(page.items.count <= 3, "a page is no longer than asked")
                seen += page.items.map(\.key.text)
                query.after = page.next
                try require(seen.count <= 30, "the pages come to an end")
                try await it.create(Scenario.Order("new\(seen.count)"))
            } while query.after != nil
            try require(seen.count, is: 11, "the number of payments")
            try require(Set(seen), is: expected, "the payments")
        },
        ContractCase("a page that ends with the last payment is the last") { it in
            for number in 0..<3 { try await it.create(Scenario.Order("k\(number)")) }
            try require(try await it.store.payments(PaymentQuery(limit: 3)).next, is: nil, "the next place")
            try require(try await it.store.payments(PaymentQuery(limit: 2)).next != nil, "there is a next place")
        },
        ContractCase("a limit out of bounds is taken as the nearest in bounds") { it in
            for number in 0..<3 { try await it.create(Scenario.Order("k\(number)")) }
            try require(try await it.store.payments(PaymentQuery(limit: 0)).items.count, is: 1, "the number for 0")
            try require(
                try await it.store.payments(PaymentQuery(limit: .max)).items.count, is: 3, "the number for all")
        },
        ContractCase("each filter keeps what it says, and they combine") { it in
            try await fill(it)
            let third = it.clock.now() + Span(milliseconds: -2_000)
            let cases: [(String, (inout PaymentQuery) throws -> Void, [String])] = [
                ("caller", { $0.caller = try CallerID("market") }, ["m1"]),
                ("reference", { $0.reference = "order 1" }, ["m1", "s1"]),
                ("state", { $0.state = .succeeded }, ["s2"]),
                ("another state", { $0.state = .processing }, ["m1", "s3", "s1"]),
                ("provider", { $0.provider = try ProviderName("wallet") }, ["s3", "s2"]),
                ("time", { $0.createdAfter = third }, ["m1"]),
                ("no provider", { $0.provider = try ProviderName("unknown") }, []),
                (
                    "caller and reference",
                    {
                        $0.caller = try CallerID("shop")
                        $0.reference = "order 1"
                    }, ["s1"]
                ),
                (
                    "provider, state and caller",
                    {
                        $0.provider = try ProviderName("wallet")
                        $0.state = .processing
                        $0.caller = try CallerID("shop")
                    }, ["s3"]
                ),
            ]
            for (name, filter, expected) in cases {
                var query = PaymentQuery()
                try filter(&query)
                let found = try await it.store.payments(query).items.map(\.key.text)
                try require(found, is: expected, "what is found by \(name)")
            }
        },
        ContractCase("a payment is found by the keys of its requests, and by those of its effects") { it in
            try await fill(it)
            var work = try await it.settle(Scenario.Order("order-7"))
            _ = try work.machine.refund(key: IdempotencyKey("r1"), amounts: nil, reason: nil, try it.context())
            let claimed = try await it.store.claim(work.payment.id, holder: "worker", leaseFor: .minutes(1))
            work.token = try require(claimed, "the lease").token
            let record = try it.record(work.payment, key: "r1", .refund)
            _ = try await it.store.commit(work.change(.holding(work.token), record))
            var order = Scenario.Order("order-7")
            order.caller = "market"
            let (ours, other) = (work.payment.id, try await it.create(order).payment.id)
            let leg = work.payment.legs[0]
            let refund = try require(work.payment.refunds.first?.parts.first?.effect.key, "the key of the refund")
            let capture = try require(leg.capture?.key, "the key of the capture")
            let cases: [(String, (inout PaymentQuery) throws -> Void, Set<PaymentID>)] = [
                ("order-7", { _ in }, [ours, other]), ("r1", { _ in }, [ours]), ("order-8", { _ in }, []),
                (leg.primary.key.text, { _ in }, [ours]), (capture.text, { _ in }, [ours]),
                (refund.text, { _ in }, [ours]), ("order-7", { $0.caller = try CallerID("market") }, [other]),
                (refund.text, { $0.state = .failed }, []), (refund.text, { $0.provider = leg.provider }, [ours]),
                (refund.text, { $0.provider = try ProviderName("wallet") }, []),
            ]
            for (key, filter, expected) in cases {
                var query = PaymentQuery()
                query.key = try IdempotencyKey(key)
                try filter(&query)
                let found = try await it.store.payments(query).items.map(\.id)
                try require(Set(found), is: expected, "what is under \(key)")
                try require(found.count, is: expected.count, "the number of them")
            }
        },
        ContractCase("a filtered listing has pages, too, and names a payment with two legs at a provider once") { it in
            for number in 0..<5 {
                var order = Scenario.Order("k\(number)")
                order.legs = [("cards", 100), ("wallet", 100), ("wallet", 50)]
                try await it.create(order)
                try await it.create(Scenario.Order("other\(number)"))
                it.clock.advance(by: .seconds(1))
            }
            var query = PaymentQuery(limit: 2)
            query.provider = try ProviderName("wallet")
            var seen: [String] = []
            repeat {
                let page = try await it.store.payments(query)
                seen += page.items.map(\.key.text)
                query.after = page.next
                try require(seen.count <= 30, "the pages come to an end")
            } while query.after != nil
            try require(seen, is: ["k4", "k3", "k2", "k1", "k0"], "the payments")
        },
    ]

    /// s1 (cards, order 1, processing), s2 (cards and wallet, succeeded), s3 (wallet, processing), m1 (another
    /// caller's, order 1, processing), each a second or more after the one before; s3 is two seconds old at the
    /// end.
    private static func fill(_ it: Scenario) async throws {
        var order = Scenario.Order("s1")
        order.reference = "order 1"
        try await it.create(order)
        it.clock.advance(by: .seconds(1))
        order = Scenario.Order("s2")
        order.legs = [("cards", 100), ("wallet", 100)]
        try await it.settle(order)
        it.clock.advance(by: .seconds(1))
        order = Scenario.Order("s3")
        order.legs = [("wallet", 100)]
        try await it.create(order)
        it.clock.advance(by: .seconds(1))
        order = Scenario.Order("m1")
        order.caller = "market"
        order.reference = "order 1"
        try await it.create(order)
        it.clock.advance(by: .seconds(1))
    }
}
