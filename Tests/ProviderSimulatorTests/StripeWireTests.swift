import Foundation
import ProviderSimulator
import Testing

/// Stripe's wire: routes, parameters, lists, and what separates it from other providers.
@Suite struct StripeWireTests {
    typealias F = StripeFixture

    @Test(arguments: [
        ("amount", "7.00", "parameter_invalid_integer"), ("amount", "", "parameter_invalid_integer"),
        ("amount", "0", "parameter_invalid_integer"), ("amout", "100", "parameter_unknown"),
    ])
    func `what cannot be read gives nothing back`(name: String, value: String, code: String) async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            let reply = try await stripe.send("POST", "refunds", [("payment_intent", id), (name, value)])
            #expect(reply.status == 400 && reply.code == code && reply.error?["param"]?.text == name)
            #expect(try await stripe.ledger().net == 1200)
            let held = try await stripe.charged("transfer-group-0002", method: "manual")
            let parameter = name == "amount" ? "amount_to_capture" : name
            let capture = try await stripe.act("capture", held, [(parameter, value)])
            #expect(capture.status == 400 && capture.code == code)
            #expect(try await stripe.ledger("transfer-group-0002").charges.isEmpty)
        }
    }

    @Test func `what Stripe does not know is refused`() async throws {
        try await withStripe { stripe async throws in
            for parameters in [
                [("confirm", "true")], [("capture_method", "later")], [("expand[]", "customer")],
                [("metadata[\(String(repeating: "k", count: 41))]", "v")], [("metadata", "v")], [("amount", "-1")],
            ] {
                let reply = try await stripe.register("transfer-group-0002", parameters)
                #expect(reply.status == 400 && reply.error?["type"]?.text == "invalid_request_error", "\(parameters)")
            }
            let incomplete = try await stripe.send("POST", "payment_intents", [("currency", "jpy")])
            #expect(incomplete.code == "parameter_missing" && incomplete.error?["param"]?.text == "amount")
            let reason = try await stripe.act("cancel", try await stripe.intent(), [("cancellation_reason", "mood")])
            #expect(reason.status == 400)
        }
    }

    @Test func `a stranger is told so in Stripe's words`() async throws {
        try await withStripe { stripe async throws in
            var stranger = stripe
            stranger.card.token = "bad-token"
            let reply = try await stranger.register(key: "register-key-0001")
            #expect(reply.status == 401 && reply.error?["type"]?.text == "invalid_request_error")
            #expect(reply.headers["idempotency-key"] == "register-key-0001" && reply.headers["request-id"] != nil)
            #expect(try await stripe.register(key: "register-key-0001").status == 200)
        }
    }

    @Test func `what there is not is 404 in Stripe's words`() async throws {
        try await withStripe { stripe async throws in
            for (method, path) in [
                ("GET", "payment_intents/pi_nowhere"), ("POST", "payment_intents/pi_nowhere/confirm"),
                ("GET", "refunds?charge=ch_nowhere"), ("GET", "disputes?charge=ch_nowhere"),
            ] {
                let reply = try await stripe.send(method, path)
                #expect(reply.status == 404 && reply.code == "resource_missing", "\(path)")
            }
            for (method, path) in [("GET", "customers"), ("POST", "payment_intents/pi_1/fly"), ("DELETE", "charges")] {
                let reply = try await stripe.send(method, path)
                #expect(reply.status == 404 && reply.error?["type"]?.text == "invalid_request_error", "\(path)")
            }
        }
    }

    @Test func `charges are listed newest first, page by page, past what was only registered`() async throws {
        try await withStripe { stripe async throws in
            let early = try await stripe.intent()
            var charged: [String] = []
            for _ in 1...4 { charged.append(try await stripe.charged()) }
            // Registered first, charged last.
            #expect(try await stripe.act("confirm", early).status == 200)
            charged.append(early)
            for _ in 1...3 { _ = try await stripe.intent() }
            for filter in [[("transfer_group", F.group)], []] {
                var (seen, last): ([String?], String?) = ([], nil)
                for isLast in [false, false, true] {
                    let page = try await stripe.send(
                        "GET", "charges", filter + [("limit", "2")] + (last.map { [("starting_after", $0)] } ?? []))
                    #expect(page.body["has_more"]?.flag == !isLast)
                    seen += page.body.data.map { $0["payment_intent"]?.text }
                    last = page.body.data.last?["id"]?.text
                    #expect(page.body.data.allSatisfy { !$0.has("refunds") }, "only where it is asked for")
                }
                #expect(seen == charged.reversed())
            }
            #expect(try await stripe.send("GET", "charges", [("starting_after", "ch_nowhere")]).status == 400)
        }
    }

    @Test func `refunds are listed newest first, page by page`() async throws {
        try await withStripe { stripe async throws in
            let id = try await stripe.charged()
            for value in 1...12 { #expect(try await stripe.refund(id, Int64(value)).status == 200) }
            let charge = try #require(try await stripe.charges().first)
            #expect(charge["refunds"]?.data.count == 10 && charge["refunds"]?["has_more"]?.flag == true)
            var (seen, last): ([Int64?], String?) = ([], nil)
            for isLast in [false, false, true] {
                let filter = [("charge", charge["id"]?.text ?? ""), ("limit", "5")]
                let page = try await stripe.send(
                    "GET", "refunds", filter + (last.map { [("starting_after", $0)] } ?? []))
                #expect(page.body["has_more"]?.flag == !isLast)
                seen += page.body.data.map { $0["amount"]?.number }
                last = page.body.data.last?["id"]?.text
            }
            #expect(seen == (1...12).reversed().map { $0 })
            let lost = [("payment_intent", id), ("starting_after", "re_nowhere")]
            #expect(try await stripe.send("GET", "refunds", lost).status == 400)
        }
    }

    @Test func `two providers share nothing, whatever their wires`() async throws {
        try await withStripe { stripe async throws in
            var spare = stripe
            spare.card.provider = "spare"
            var points = stripe.card
            points.provider = "points"
            let key = "register-key-0001"
            let first = try await stripe.register(key: key)
            let second = try await spare.register(key: key)
            #expect(!second.isReplay && first.body["id"] != second.body["id"])
            let id = try #require(first.body["id"]?.text)
            #expect(try await spare.act("confirm", id).code == "resource_missing")
            #expect(try await stripe.act("confirm", id).status == 200)
            #expect(try await points.pay(F.group, kind: "sale").status == 201)
            #expect(try await spare.charges().isEmpty)
            #expect(try await spare.control.ledger("spare").transactions.isEmpty)
            #expect(try await points.ledger(F.group).net == 1200)
            #expect(try await stripe.ledger().held == 1200)
            #expect(try await stripe.card.inquire(F.group).status == 404, "one wire to a provider")
            #expect(try await points.request("GET", "/points/v1/payment_intents/\(id)").status == 404)
        }
    }

    @Test func `a wire that there is not is refused with those that there are`() throws {
        let configuration = Data(#"{"providers":[{"name":"card","wire":"telex"}]}"#.utf8)
        let error = #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SimulatorConfiguration.self, from: configuration)
        }
        #expect("\(String(describing: error))".contains("reference or stripe"))
        let known = Data(#"{"providers":[{"name":"card","wire":"stripe"},{"name":"points"}]}"#.utf8)
        let wires = try JSONDecoder().decode(SimulatorConfiguration.self, from: known).providers.map(\.wire)
        #expect(wires == [.stripe, .reference])
    }
}
