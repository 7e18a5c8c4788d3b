import Foundation
import ProviderSimulator
import Testing

/// Stripe's wire: what is kept under an idempotency key, and what only a key prevents.
@Suite struct StripeKeyTests {
    typealias F = StripeFixture

    static let key = "confirm-key-00001"

    @Test func `an answer is given again, and says so`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            let first = try await stripe.act("confirm", id, key: Self.key)
            #expect(!first.isReplay && first.headers["idempotency-key"] == Self.key)
            #expect(try await stripe.act("capture", id).status == 200)
            let second = try await stripe.act("confirm", id, key: Self.key)
            #expect(second.isReplay && second.body == first.body, "it is the old answer")
            #expect(try await stripe.ledger().holds.count == 1)
        }
    }

    @Test(arguments: [FaultKind.errorBefore, .errorAfter])
    func `a stored error is replayed for as long as its key lives`(kind: FaultKind) async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent(method: "automatic")
            try stripe.order(Fault(kind), .sale)
            let first = try await stripe.act("confirm", id, key: Self.key)
            #expect(first.status == 500 && !first.isReplay)
            let second = try await stripe.act("confirm", id, key: Self.key)
            #expect(second.status == 500 && second.isReplay && second.headers["stripe-should-retry"] == "false")
            let other = try await stripe.act("confirm", id, key: "another-key-00001")
            #expect(other.status == (kind == .errorBefore ? 200 : 400))
            stripe.clock.advance(86_400_000)
            let late = try await stripe.act("confirm", id, key: Self.key)
            #expect(late.status == 400 && !late.isReplay, "the key is gone; the intent is not")
            #expect(try await stripe.ledger().charges.count == 1)
        }
    }

    @Test func `a key with other parameters or another path is refused`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            #expect(try await stripe.act("confirm", id, key: Self.key).status == 200)
            for (action, parameters) in [
                ("confirm", [("error_on_requires_action", "true")]), ("cancel", []), ("capture", []),
            ] {
                let reply = try await stripe.act(action, id, parameters, key: Self.key)
                #expect(reply.status == 400 && reply.error?["type"]?.text == "idempotency_error")
                #expect(reply.headers["idempotency-key"] == Self.key)
            }
            #expect(try await stripe.shown(id)["status"]?.text == "requires_capture")
        }
    }

    @Test func `what never began is not kept`() async throws {
        try await withStripe { stripe async throws in
            let key = "register-key-0001"
            #expect(try await stripe.register(card: "unknown-0001", key: key).code == "resource_missing")
            #expect(try await stripe.register(key: key, [("amout", "5")]).code == "parameter_unknown")
            try stripe.order(Fault(.throttled), .register)
            let throttled = try await stripe.register(key: key)
            #expect(throttled.status == 429 && throttled.code == "rate_limit")
            #expect(throttled.headers["retry-after"] == "1")
            try stripe.order(Fault(.unavailable), .register)
            #expect(try await stripe.register(key: key).status == 503)
            var stranger = stripe
            stranger.card.token = "bad-token"
            try stripe.order(Fault(.errorBefore), .register)
            #expect(try await stranger.register(key: key).status == 500)
            #expect(try await stripe.act("confirm", "pi_nowhere", key: key).status == 404)
            let registered = try await stripe.register(key: key)
            #expect(registered.status == 200 && !registered.isReplay)
        }
    }

    @Test func `a pruned key leads to two charges, and the ledger shows both`() async throws {
        try await withStripe { stripe async throws in
            let key = "register-key-0001"
            var intents: [String] = []
            for _ in 1...2 {
                try stripe.order(Fault(.keyForgotten), .register)
                let id = try #require(try await stripe.register(method: "automatic", key: key).body["id"]?.text)
                try stripe.order(Fault(.keyForgotten), .sale)
                #expect(try await stripe.act("confirm", id, key: Self.key).status == 200)
                intents.append(id)
            }
            let report = try await stripe.control.ledger("card")
            #expect(report.chargedTwice == [F.group] && report.totals.map(\.net) == [2400])
            let shown = try await stripe.charges().map { $0["payment_intent"]?["id"]?.text }
            #expect(shown == Array(intents.reversed()), "newest first")
            // Both are what they were: each is refunded for itself.
            for id in intents { #expect(try await stripe.refund(id).state == "succeeded") }
            #expect(try await stripe.control.ledger("card").totals.map(\.net) == [0])
        }
    }

    @Test func `forgetting prunes keys and keeps objects`() async throws {
        try await withStripe { stripe async throws in
            let first = try await stripe.register(key: "register-key-0001")
            let id = try #require(first.body["id"]?.text)
            #expect(try await stripe.act("confirm", id).status == 200)
            try await stripe.control.forget(F.group, at: "card")
            #expect(try await stripe.shown(id)["status"]?.text == "requires_capture")
            #expect(try await stripe.ledger().status == .authorized)
            #expect(try await stripe.register(key: "register-key-0001").body["id"] != first.body["id"])
        }
    }

    @Test func `only an idempotency key prevents a second refund`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            let name = "refund-key-00001"
            let first = try await stripe.refund(id, 100, name: name, key: name)
            #expect(try await stripe.refund(id, 100, name: name, key: name).body == first.body)
            #expect(try await stripe.ledger().net == 1100)
            // Metadata is for people: the same text does not make it the same refund.
            let second = try await stripe.refund(id, 100, name: name, key: "refund-key-00002")
            #expect(second.body["id"] != first.body["id"] && !second.isReplay)
            #expect(try await stripe.ledger().net == 1000)
            try stripe.order(Fault(.keyForgotten), .refund)
            #expect(try await stripe.refund(id, 100, name: name, key: name).state == "succeeded")
            #expect(try await stripe.ledger().net == 900)
            for _ in 1...2 { #expect(try await stripe.refund(id, 50).status == 200) }
            #expect(try await stripe.ledger().net == 800)
            #expect(Set(try await stripe.ledger().refunds.map(\.entryKey)).count == 5)
        }
    }

    @Test func `a stored error does not take the place of another request's answer`() async throws {
        try await withStripe { stripe async throws in
            let key = "register-key-0001"
            let first = try await stripe.register(key: key)
            try stripe.order(Fault(.errorAfter), .register)
            #expect(try await stripe.register(value: 7, key: key).status == 500)
            #expect(try await stripe.register(key: key).body == first.body)
        }
    }
}
