import Foundation
import ProviderSimulator
import Testing

/// Stripe's wire: the faults that the reference contract knows, and what they mean here.
@Suite struct StripeFaultTests {
    typealias F = StripeFixture

    static let key = "confirm-key-00001"

    @Test(arguments: [FaultKind.html, .truncated, .responseLost, .requestLost])
    func `an answer that nobody can read leaves what was done`(kind: FaultKind) async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            try stripe.order(Fault(kind), .authorize)
            let reply = try await stripe.raw("POST", "payment_intents/\(id)/confirm", key: Self.key)
            switch (kind, reply) {
            case (.html, .answer(200, let headers, _)): #expect(headers["content-type"]?.hasPrefix("text/html") == true)
            case (.truncated, .brokenOff), (.responseLost, .nothing), (.requestLost, .nothing): break
            default: Issue.record("\(kind): \(reply)")
            }
            let isDone = kind != .requestLost
            #expect(try await stripe.charges().count == (isDone ? 1 : 0))
            let again = try await stripe.act("confirm", id, key: Self.key)
            #expect(again.status == 200 && again.isReplay == isDone)
            #expect(try await stripe.ledger().holds.count == 1)
        }
    }

    @Test func `a status can be missing, in a replay as well`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            for isReplay in [false, true] {
                try stripe.order(Fault(.missingStatus), .authorize)
                let reply = try await stripe.act("confirm", id, [("expand[]", "latest_charge")], key: Self.key)
                #expect(reply.status == 200 && reply.isReplay == isReplay)
                #expect(!reply.body.has("status") && reply.body["latest_charge"]?.has("status") == false)
                #expect(reply.body["latest_charge"]?["amount"]?.number == 1200)
            }
        }
    }

    @Test(arguments: [Fault.Outcome.succeeded, .declined])
    func `a charge that is processing is decided later`(outcome: Fault.Outcome) async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent(method: "automatic")
            try stripe.order(F.fault(.pending) { ($0.delayMs, $0.outcome) = (30_000, outcome) }, .sale)
            #expect(try await stripe.act("confirm", id).state == "processing")
            #expect(try await stripe.charges().map { $0["status"]?.text } == ["pending"])
            #expect(try await stripe.act("cancel", id).code == "payment_intent_unexpected_state")
            stripe.clock.advance(30_000)
            let shown = try await stripe.shown(id)
            let isTaken = outcome == .succeeded
            #expect(shown["status"]?.text == (isTaken ? "succeeded" : "requires_payment_method"))
            #expect((shown["payment_method"] == nil) == !isTaken)
            #expect((shown["last_payment_error"] == nil) == isTaken)
            #expect(try await stripe.charges().map { $0["paid"]?.flag } == [isTaken])
        }
    }

    @Test func `a refund that is pending may fail later`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            try stripe.order(F.fault(.pending) { ($0.delayMs, $0.outcome) = (30_000, .declined) }, .refund)
            #expect(try await stripe.refund(id, 300).state == "pending")
            stripe.clock.advance(30_000)
            let refunds = try await stripe.send("GET", "refunds", [("payment_intent", id)]).body.data
            #expect(refunds.map { $0["status"]?.text } == ["failed"])
            #expect(try await stripe.ledger().net == 1200)
        }
    }

    @Test func `another amount is recorded, and shown`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent(method: "automatic")
            try stripe.order(Fault(.amountChanged), .sale)
            #expect(try await stripe.act("confirm", id).body["amount_received"]?.number == 1201)
            #expect(try await stripe.charges().first?["amount"]?.number == 1201)
            #expect(try await stripe.ledger().net == 1201)
        }
    }

    @Test func `reads can lag behind a confirm, whole`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.intent()
            try stripe.order(Fault(.staleInquiry), .authorize)
            #expect(try await stripe.act("confirm", id).state == "requires_capture")
            #expect(try await stripe.charges().isEmpty)
            // Whose it is, the ledger tells all the same: who judges by a stale list calls it nobody's.
            let group = StripeFixture.group
            #expect(try await stripe.metadata() == [group: ["reconciled_key": group]])
            let shown = try await stripe.shown(id)
            #expect(shown["status"]?.text == "requires_confirmation" && shown["latest_charge"] == nil)
            stripe.clock.advance(2000)
            #expect(try await stripe.charges().count == 1)
            #expect(try await stripe.shown(id)["status"]?.text == "requires_capture")
        }
    }

    @Test(arguments: ["capture", "cancel"])
    func `a read can show the state before the last change, whole`(action: String) async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged(method: "manual")
            let name = action == "capture" ? [("metadata[reconciled_capture]", "capture-key-0001")] : []
            #expect(try await stripe.act(action, id, name).status == 200)
            try stripe.order(Fault(.staleInquiry), .inquire)
            for _ in 1...2 {
                let charge = try #require(try await stripe.charges().first)
                let intent = charge["payment_intent"]
                #expect(charge["captured"]?.flag == false && charge["amount_refunded"]?.number == 0)
                #expect(intent?["status"]?.text == "requires_capture")
                #expect(intent?["metadata"]?["reconciled_capture"] == nil)
            }
            stripe.clock.advance(2000)
            let status = try await stripe.charges().first?["payment_intent"]?["status"]?.text
            #expect(status == (action == "capture" ? "succeeded" : "canceled"))
        }
    }

    @Test func `a confirm that arrives late charges, or meets a tombstone`() async throws {
        try await withStripe { stripe async throws in
            let ids = [try await stripe.intent(), try await stripe.intent("transfer-group-0002")]
            for id in ids {
                try stripe.order(F.fault(.lateDelivery) { $0.delayMs = 30_000 }, .authorize)
                #expect(try await stripe.raw("POST", "payment_intents/\(id)/confirm", key: id) == .nothing)
            }
            #expect(try await stripe.act("cancel", ids[1]).state == "canceled")
            stripe.clock.advance(30_000)
            try await stripe.card.eventually {
                try await stripe.control.journal("card", operation: .authorize).filter { $0.origin == .late }
                    .map(\.result) == [200, 400]
            }
            #expect(try await stripe.ledger().held == 1200)
            #expect(try await stripe.control.ledger("card").totals.map(\.held) == [1200])
            #expect(try await stripe.act("confirm", ids[0], key: ids[0]).isReplay)
        }
    }

    @Test func `what was late, and all objects and keys, survive a restart`() async throws {
        try await inTemporaryDirectory { directory in
            let file = directory.appendingPathComponent("ledger.sqlite").path
            let clock = ManualClock()
            var id = ""
            try await withStripe(database: file, clock: clock) { stripe async throws in
                id = try await stripe.intent()
                try stripe.order(F.fault(.lateDelivery) { $0.delayMs = 30_000 }, .authorize)
                #expect(try await stripe.raw("POST", "payment_intents/\(id)/confirm", key: Self.key) == .nothing)
            }
            clock.advance(30_000)
            try await withStripe(database: file, clock: clock) { stripe async throws in
                try await stripe.card.eventually { try await stripe.charges().count == 1 }
                #expect(try await stripe.act("confirm", id, key: Self.key).isReplay)
                #expect(try await stripe.ledger().held == 1200)
            }
        }
    }

    @Test func `a registration takes no money whatever befalls it`() async throws {
        let kinds: [FaultKind] = [.requestLost, .responseLost, .errorBefore, .errorAfter, .html, .duplicated]
        try await withStripe { stripe async throws in
            for kind in kinds {
                try stripe.order(Fault(kind), .register)
                let parameters = [("amount", "5"), ("currency", "jpy"), ("transfer_group", F.group)]
                _ = try await stripe.raw("POST", "payment_intents", parameters)
            }
            #expect(try await stripe.control.ledger("card").transactions.isEmpty)
            #expect(try await stripe.control.journal("card", operation: .register).count == kinds.count + 1)
            // It decides about no money, so there is nothing to decline, to keep waiting or to change.
            let order = Data(#"{"fault":"pending","operation":"register"}"#.utf8)
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(FaultOrder.self, from: order) }
        }
    }

    @Test func `a duplicated refund is made twice where no key protects it`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            try stripe.order(Fault(.duplicated), .refund)
            #expect(try await stripe.refund(id, 100, key: "refund-key-00001").status == 200)
            #expect(try await stripe.ledger().net == 1100)
            try stripe.order(Fault(.duplicated), .refund)
            #expect(try await stripe.refund(id, 100).status == 200)
            #expect(try await stripe.ledger().net == 900)
        }
    }
}
