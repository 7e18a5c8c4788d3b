public import PaymentCore
public import Reconciler

/// One sentence of the contract of stores that keep webhooks, and how a store is held to it.
public struct WebhookContractCase: Sendable, CustomStringConvertible {
    /// A store that reports the payments of `shop` and of `kiosk`, as seen by a case.
    struct Reporting: Sendable {
        let store: any PaymentStore & WebhookStore
        let clock: ManualClock
        let shop: CallerID
        var scenario: Scenario { Scenario(store: store, clock: clock) }

        /// A payment that succeeded.
        @discardableResult
        func succeeded(_ key: String, of caller: String = "shop") async throws -> Payment {
            var order = Scenario.Order(key)
            order.caller = caller
            clock.advance(by: .seconds(1))
            let payment = try await scenario.settle(order).payment
            try require(payment.state, is: .succeeded, "the state")
            return payment
        }

        func webhook(_ payment: Payment) async throws -> Webhook {
            try require(try await store.webhook(of: payment.id), "the webhook of \(payment.id)")
        }

        func claim(_ limit: Int = 10, of caller: CallerID? = nil) async throws -> [ClaimedWebhook] {
            try await store.claimWebhooks(
                WebhookClaimRequest(caller: caller ?? shop, limit: limit, leaseFor: .minutes(1)))
        }

        func claimOne() async throws -> ClaimedWebhook { try require(try await claim(1).first, "a claimed webhook") }

        func listed(_ change: (inout WebhookQuery) -> Void = { _ in }) async throws -> [PaymentID] {
            var query = WebhookQuery()
            change(&query)
            return try await store.webhooks(query).items.map(\.payment)
        }

        /// A payment that rests for its caller, whose report was delivered.
        func deliveredHold(_ key: String) async throws -> Work {
            var order = Scenario.Order(key)
            order.capture = .manual
            let work = try await scenario.settle(order)
            let claimed = try await claimOne()
            try require(try await store.settleWebhook(WebhookSettlement(of: claimed, .accepted)), is: true, "settled")
            return work
        }

        /// The caller captures a payment, and its provider does it.
        func capture(_ work: inout Work) async throws {
            clock.advance(by: .seconds(1))
            let actions = try work.machine.capture(
                key: IdempotencyKey("capture-\(work.payment.key)"), amounts: nil, try scenario.context())
            try await scenario.save(&work)
            try await scenario.answer(&work, actions)
            try require(work.payment.state, is: .succeeded, "the state")
        }
    }

    /// The sentence.
    public let name: String
    private let body: @Sendable (Reporting) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Reporting) async throws -> Void) {
        self.name = name
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh store to it. The store has to report the payments of these callers.
    ///
    /// - Throws: ``ContractViolation``, or what the store threw.
    public func check(
        _ withStore: (
            ManualClock, Set<CallerID>, @Sendable (any PaymentStore & WebhookStore) async throws -> Void
        ) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let shop = try CallerID("shop")
        try await withStore(clock, [shop, try CallerID("kiosk")]) { store in
            try await body(Reporting(store: store, clock: clock, shop: shop))
        }
    }

    /// The whole contract.
    public static let all: [WebhookContractCase] = raising + delivering + listing
}

extension WebhookContractCase {
    static let raising: [WebhookContractCase] = [
        WebhookContractCase("a payment that comes to rest is reported in the commit that brought it there") { it in
            var order = Scenario.Order("a")
            order.capture = .manual
            let (begun, actions) = try await it.scenario.begin(order)
            var work = begun
            try require(try await it.store.webhook(of: work.payment.id) == nil, "a report of a payment under way")
            try await it.scenario.answer(&work, actions)
            let held = try await it.webhook(work.payment)
            try require(held.state, is: .waiting)
            try require(held.reported, is: try require(work.payment.reportedState, "the reported state"))
            try require(held.raised, is: 1)
            try require(held.raisedAt, is: work.payment.updatedAt)
            try require(held.dueAt, is: work.payment.updatedAt)
        },
        WebhookContractCase("a change that shows the caller nothing raises nothing") { it in
            let payment = try await it.succeeded("a")
            let before = try await it.webhook(payment)
            it.clock.advance(by: .minutes(1))
            let claimed = try require(
                try await it.store.claim(payment.id, holder: "w", leaseFor: .minutes(1)), "the claim")
            let change = PaymentChange(payment: claimed.payment, entries: [], lease: .releasing(claimed.token))
            guard case .committed = try await it.store.commit(change) else {
                throw ContractViolation(description: "the change was not committed")
            }
            try require(try await it.webhook(payment), is: before)
        },
        WebhookContractCase("the next state raises a report with the next number, which begins anew") { it in
            var work = try await it.deliveredHold("a")
            try await it.capture(&work)
            let webhook = try await it.webhook(work.payment)
            try require(webhook.raised, is: 2)
            try require(webhook.delivered, is: 1)
            try require(webhook.state, is: .waiting)
            try require(webhook.reported, is: try require(work.payment.reportedState, "the reported state"))
        },
        WebhookContractCase("while a payment is under way its report is forgotten, and its next state is one") { it in
            var work = try await it.deliveredHold("a")
            _ = try work.machine.capture(
                key: IdempotencyKey("capture"), amounts: nil, try it.scenario.context())
            try await it.scenario.save(&work)
            try require(work.payment.state, is: .processing)
            let under = try await it.webhook(work.payment)
            try require(under.reported == nil, "the report was kept")
            try require(under.state, is: .delivered)
            try require(under.raised, is: 1)
        },
        WebhookContractCase("payments of callers without webhooks raise none") { it in
            let payment = try await it.succeeded("a", of: "stall")
            try require(try await it.store.webhook(of: payment.id) == nil, "a report to nobody")
            try require(try await it.store.webhookCounts(), is: [])
        },
        WebhookContractCase("a change that is refused raises nothing") { it in
            let payment = try await it.succeeded("a")
            let before = try await it.webhook(payment)
            let claimed = try await it.claimOne()
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed, .accepted))
            let late = PaymentChange(payment: payment, entries: [], lease: .holding(LeaseToken(99)))
            let result = try await it.store.commit(late)
            try require(result == .leaseLost || result == .versionConflict, "it was committed: \(result)")
            try require(try await it.webhook(payment).raised, is: before.raised)
        },
    ]

    static let listing: [WebhookContractCase] = [
        WebhookContractCase("webhooks are listed newest first, page by page, by caller and by state") { it in
            var payments: [PaymentID] = []
            for index in 0..<5 { payments.append(try await it.succeeded("p\(index)").id) }
            let other = try await it.succeeded("k", of: "kiosk").id
            try require(try await it.listed(), is: [other] + payments.reversed(), "all")
            try require(try await it.listed { $0.caller = it.shop }, is: payments.reversed(), "the shop's")
            var query = WebhookQuery(limit: 2)
            query.caller = it.shop
            var pages: [[PaymentID]] = []
            repeat {
                let page = try await it.store.webhooks(query)
                pages.append(page.items.map(\.payment))
                query.after = page.next
            } while query.after != nil
            try require(pages, is: [[payments[4], payments[3]], [payments[2], payments[1]], [payments[0]]], "pages")
            let claimed = try await it.claim(2)
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed[0], .accepted))
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed[1], .givenUp(failure: "http_410")))
            try require(try await it.listed { $0.state = .delivered }, is: [payments[0]], "delivered")
            try require(try await it.listed { $0.state = .givenUp }, is: [payments[1]], "given up")
            try require(
                try await it.listed { ($0.state, $0.caller) = (.waiting, it.shop) },
                is: Array(payments[2...].reversed()), "waiting")
        },
        WebhookContractCase("what is not accepted is counted by caller") { it in
            let first = try await it.succeeded("a")
            for key in ["b", "c"] { try await it.succeeded(key) }
            let other = try await it.succeeded("k", of: "kiosk")
            let claimed = try await it.claim(3)
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed[1], .accepted))
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed[2], .givenUp(failure: "http_500")))
            let kiosk = try CallerID("kiosk")
            try require(
                try await it.store.webhookCounts(),
                is: [
                    WebhookCount(caller: kiosk, waiting: 1, givenUp: 0, oldestWaiting: other.updatedAt),
                    WebhookCount(caller: it.shop, waiting: 1, givenUp: 1, oldestWaiting: first.updatedAt),
                ])
        },
    ]
}
