import Foundation
import ProviderSimulator
import Testing

/// Stripe's wire: what an intent goes through, and what its charge shows of it.
@Suite struct StripeLifecycleTests {
    typealias F = StripeFixture

    @Test func `a hold is registered, confirmed, captured and given back`() async throws {
        try await withStripe { stripe async throws in
            let registered = try await stripe.register(key: "register-key-0001")
            #expect(registered.status == 200 && registered.state == "requires_confirmation")
            #expect(registered.headers["idempotency-key"] == "register-key-0001")
            #expect(registered.headers["request-id"]?.hasPrefix("req_") == true)
            #expect(registered.body["currency"]?.text == "jpy" && registered.body["livemode"]?.flag == false)
            #expect(registered.body["latest_charge"] == nil)
            #expect(try await stripe.charges().isEmpty, "a registration takes nothing")
            let id = try #require(registered.body["id"]?.text)

            let held = try await stripe.act("confirm", id, [("expand[0]", "latest_charge")])
            let hold = held.body["latest_charge"]
            #expect(held.state == "requires_capture" && held.body["amount_capturable"]?.number == 1200)
            #expect(hold?["captured"]?.flag == false && hold?["status"]?.text == "succeeded")
            let end = hold?["payment_method_details"]?["card"]?["capture_before"]?.number
            #expect(end == (stripe.clock.now + ContractOptions().authorizationLifeMs) / 1_000)
            #expect(try await stripe.ledger().held == 1200)

            let taken = try await stripe.act("capture", id, [("metadata[reconciled_capture]", "capture-key-0001")])
            #expect(taken.state == "succeeded" && taken.body["amount_received"]?.number == 1200)
            #expect(taken.body["metadata"]?["reconciled_capture"]?.text == "capture-key-0001")
            let refund = try await stripe.refund(id, 500, name: "refund-key-00001")
            #expect(refund.state == "succeeded" && refund.body["amount"]?.number == 500)
            #expect(try await stripe.charges().first?["amount_refunded"]?.number == 500)
            let ledger = try await stripe.ledger()
            #expect(ledger.net == 700 && ledger.charges.map(\.entryKey) == ["capture-key-0001"])
        }
    }

    @Test func `a decline is final for the payment method, and another one can be given`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent(card: "decline-0001")
            let declined = try await stripe.act("confirm", id)
            #expect(declined.status == 402 && declined.error?["type"]?.text == "card_error")
            #expect(declined.code == "card_declined" && declined.error?["decline_code"]?.text == "insufficient_funds")
            let shown = declined.error?["payment_intent"]
            #expect(shown?["status"]?.text == "requires_payment_method" && shown?["payment_method"] == nil)
            #expect(shown?["last_payment_error"]?["decline_code"]?.text == "insufficient_funds")
            #expect(try await stripe.act("confirm", id).code == "payment_intent_unexpected_state")
            #expect(try await stripe.charges().map { $0["status"]?.text } == ["failed"])
            #expect(try await stripe.charges().first?["failure_message"] != nil)
            #expect(try await stripe.ledger().held == 0)

            let unknown = try await stripe.act("confirm", id, [("payment_method", "unknown-0001")])
            #expect(unknown.status == 400 && unknown.code == "resource_missing")
            #expect(try await stripe.act("confirm", id, [("payment_method", "pm_card_visa")]).status == 200)
            #expect(try await stripe.charges().map { $0["status"]?.text } == ["succeeded", "failed"])
            #expect(try await stripe.ledger().held == 1200)
        }
    }

    @Test func `a canceled intent is a tombstone`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            let canceled = try await stripe.act("cancel", id, [("cancellation_reason", "abandoned")])
            #expect(canceled.state == "canceled" && canceled.body["cancellation_reason"]?.text == "abandoned")
            let late = try await stripe.act("confirm", id)
            #expect(late.status == 400 && late.code == "payment_intent_unexpected_state")
            #expect(late.error?["payment_intent"]?["status"]?.text == "canceled")
            #expect(try await stripe.ledger().status == .tombstoned)
            #expect(try await stripe.charges().isEmpty)
        }
    }

    @Test func `a cancel releases a hold, and shows it as a refund without a key`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged(method: "manual")
            #expect(try await stripe.act("cancel", id).state == "canceled")
            let charge = try #require(try await stripe.charges().first)
            #expect(charge["amount_refunded"]?.number == 1200 && charge["refunded"]?.flag == true)
            #expect(charge["refunds"]?.data.map { $0["metadata"] } == [.object([:])])
            #expect(try await stripe.ledger().held == 0)
            #expect(try await stripe.act("cancel", id).code == "payment_intent_unexpected_state")
        }
    }

    @Test func `a capture of a part releases the rest, once`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged(method: "manual")
            #expect(try await stripe.act("capture", id, [("amount_to_capture", "1201")]).code == "amount_too_large")
            #expect(try await stripe.act("capture", id, [("amount_to_capture", "700")]).status == 200)
            let charge = try #require(try await stripe.charges().first)
            #expect(charge["amount_captured"]?.number == 700 && charge["amount_refunded"]?.number == 500)
            let released = charge["refunds"]?.data ?? []
            #expect(released.map { $0["amount"]?.number } == [500] && released.first?["metadata"] == .object([:]))
            #expect(try await stripe.act("capture", id).code == "payment_intent_unexpected_state")
            let ledger = try await stripe.ledger()
            #expect(ledger.net == 700 && ledger.held == 0)
            #expect(try await stripe.refund(id, 701).error?["param"]?.text == "amount")
            #expect(try await stripe.refund(id).body["amount"]?.number == 700)
            #expect(try await stripe.refund(id, 1).code == "charge_already_refunded")
        }
    }

    @Test func `a hold that runs out is canceled by itself`() async throws {
        var contract = ContractOptions()
        contract.authorizationLifeMs = 60_000
        try await withStripe(contract) { stripe async throws in
            let id = try await stripe.charged(method: "manual")
            stripe.clock.advance(60_000)
            let shown = try await stripe.shown(id)
            #expect(shown["status"]?.text == "canceled" && shown["cancellation_reason"]?.text == "automatic")
            #expect(try await stripe.act("capture", id).code == "payment_intent_unexpected_state")
            #expect(try await stripe.ledger().held == 0)
        }
    }

    @Test func `a capture or a refund that is declined leaves the money where it was`() async throws {
        try await withStripe { stripe async throws in
            let held = try await stripe.charged(method: "manual", card: "capture-decline-01")
            let name = [("metadata[reconciled_capture]", "capture-key-0001")]
            for key in ["attempt-key-00001", "attempt-key-00002"] {
                let declined = try await stripe.act("capture", held, name, key: key)
                #expect(declined.status == 402 && declined.code == "card_declined")
                #expect(declined.error?["payment_intent"]?["status"]?.text == "requires_capture")
            }
            #expect(try await stripe.ledger().held == 1200)
            let other = "transfer-group-0002"
            let taken = try await stripe.charged(other, card: "refund-decline-01")
            let failed = try await stripe.refund(taken, 100)
            #expect(failed.status == 200 && failed.state == "failed")
            #expect(failed.body["failure_reason"]?.text == "declined")
            #expect(try await stripe.charges(other).first?["amount_refunded"]?.number == 0)
            #expect(try await stripe.ledger(other).net == 1200)
        }
    }

    @Test func `what is disputed is not refunded, and what was lost is no refund`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            try await stripe.control.dispute(DisputeOrder(.open, key: F.group), at: "card")
            let charge = try #require(try await stripe.charges().first?["id"]?.text)
            let disputes = try await stripe.send("GET", "disputes", [("charge", charge)]).body.data
            #expect(disputes.map { $0["status"]?.text } == ["needs_response"])
            #expect(try await stripe.refund(id, 1).code == "charge_disputed")
            try await stripe.control.dispute(DisputeOrder(.lost, key: F.group), at: "card")
            let shown = try #require(try await stripe.charges().first)
            #expect(shown["disputed"]?.flag == true && shown["amount_refunded"]?.number == 0)
            #expect(shown["refunds"]?.data == [])
            #expect(try await stripe.refund(id, 1).code == "charge_disputed")
            #expect(try await stripe.ledger().net == 0, "the payer has it all the same")
        }
    }
}
