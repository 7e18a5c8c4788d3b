import Foundation
import ProviderSimulator
import Testing

/// PayPay's wire: signatures, payments and faults.
@Suite struct PayPayWireTests {
    typealias F = PayPayFixture

    // MARK: Signatures

    /// What is wrong with a signature, and what PayPay says to it.
    struct Flaw: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var code = "UNAUTHORIZED"
        let change: @Sendable (inout F.Signing) -> Void

        init(_ name: String, _ code: String = "UNAUTHORIZED", _ change: @escaping @Sendable (inout F.Signing) -> Void) {
            (testDescription, self.code, self.change) = (name, code, change)
        }

        static let all = [
            Flaw("another key") { $0.key = "key-2" }, Flaw("another secret") { $0.secret = "secret-2" },
            Flaw("a short nonce") { $0.nonce = "acd028a" }, Flaw("another path") { $0.path = "/v2/payments" },
            Flaw("another body") { $0.body = "{}" }, Flaw("too old") { $0.aheadMs = -121_000 },
            Flaw("too new") { $0.aheadMs = 121_000 },
            Flaw("another merchant", "OP_OUT_OF_SCOPE") { $0.merchant = "merchant-2" },
            Flaw("no merchant", "OP_OUT_OF_SCOPE") { $0.merchant = nil },
        ]
    }

    @Test(arguments: Flaw.all)
    func `what is not signed well is refused, and executes nothing`(flaw: Flaw) async throws {
        try await withPayPay { payPay async throws in
            var stranger = payPay
            flaw.change(&stranger.signing)
            let refused = try await stranger.pay()
            #expect(refused.status == 401 && refused.code == flaw.code && refused.data == nil)
            #expect(try await payPay.shown().code == "RESOURCE_NOT_FOUND")
            #expect(try await payPay.control.journal("card").map(\.result) == [401, 404])
        }
    }

    @Test func `within two minutes a signature is good`() async throws {
        try await withPayPay { payPay async throws in
            for ahead in [Int64(-119_000), 119_000] {
                var caller = payPay
                caller.signing.aheadMs = ahead
                #expect(try await caller.pay().status < 300)
            }
        }
    }

    @Test func `without a token any signature of the right form is good`() async throws {
        try await withPayPay { payPay async throws in
            var caller = payPay
            caller.card.provider = "spare"
            caller.signing.secret = "whatever"
            #expect(try await caller.pay().status == 201)
            #expect(try await caller.card.request("GET", "/spare/v2/payments/\(F.id)").status == 401)
        }
    }

    @Test func `a token of another form is refused at the start, and not repeated`() {
        let configuration = SimulatorConfiguration(providers: [
            ProviderConfiguration("card", wire: .paypay, token: "only-a-word")
        ])
        do {
            _ = try ProviderSimulatorServer(configuration)
            Issue.record("it was taken")
        } catch {
            let text = "\(error)"
            #expect(text.contains("API_KEY:API_SECRET:MERCHANT_ID") && !text.contains("only-a-word"), "\(text)")
        }
    }

    // MARK: Payments

    @Test func `a payment takes at once, and is shown under both identifiers`() async throws {
        try await withPayPay { payPay async throws in
            let paid = try await payPay.pay()
            #expect(paid.status == 201 && paid.code == "SUCCESS" && paid.state == "COMPLETED")
            #expect(paid.data?["merchantPaymentId"]?.text == F.id)
            #expect(paid.data?["amount"]?["amount"]?.number == 1200 && paid.data?["metadata"]?["order"]?.text == "4711")
            #expect(paid.data?["paymentId"]?.text?.utf8.count == 20)
            #expect(try await payPay.shown().data == paid.data)
            #expect(try await payPay.ledger().charges.map(\.amount.value) == [1200])
        }
    }

    @Test func `the same id is answered with the earlier result, whatever is asked for`() async throws {
        try await withPayPay { payPay async throws in
            let first = try await payPay.pay()
            let again = try await payPay.pay(value: 1300, payer: "user-2")
            #expect(again.status == 200 && again.data == first.data)
            _ = try await payPay.cancel()
            #expect(try await payPay.pay().state == "CANCELED")
            #expect(try await payPay.ledger().charges.count == 1)
        }
    }

    @Test func `what is declined has failed`() async throws {
        try await withPayPay { payPay async throws in
            for _ in 0..<2 {
                let declined = try await payPay.pay(payer: "decline-1")
                #expect(declined.status == 400 && declined.code == "NO_SUFFICIENT_FUND" && declined.data == nil)
            }
            #expect(try await payPay.shown().state == "FAILED")
            #expect(try await payPay.cancel().code == "ORDER_NOT_REVERSIBLE")
            let unknown = try await payPay.pay("payments", "payment-id_0002", payer: "unknown-1")
            #expect(unknown.status == 401 && unknown.code == "INVALID_USER_AUTHORIZATION_ID")
            #expect(try await payPay.shown("payment-id_0002").status == 404)
        }
    }

    @Test(arguments: [
        ("{}", "MISSING_REQUEST_PARAMS"), ("no JSON", "INVALID_REQUEST_PARAMS"),
        (F.body("a b"), "INVALID_REQUEST_PARAMS"), (F.body("a", currency: "USD"), "INVALID_REQUEST_PARAMS"),
        (F.body("a", value: 0), "INVALID_REQUEST_PARAMS"), (F.body("a", more: #","at":1"#), "INVALID_REQUEST_PARAMS"),
    ])
    func `a body that is not understood is refused`(body: String, code: String) async throws {
        try await withPayPay { payPay async throws in
            let refused = try await payPay.send("POST", "payments", body)
            #expect(refused.status == 400 && refused.code == code)
            #expect(try await payPay.control.ledger("card").transactions.isEmpty)
        }
    }

    @Test func `a route that there is not is told in PayPay's shape`() async throws {
        try await withPayPay { payPay async throws in
            #expect(try await payPay.send("PUT", "payments").code == "RESOURCE_NOT_FOUND")
            #expect(try await payPay.send("GET", "codes/1").status == 404)
        }
    }

    // MARK: Faults

    @Test(arguments: [
        (FaultKind.errorBefore, 500, "INTERNAL_SERVER_ERROR", false), (.errorAfter, 500, "INTERNAL_SERVER_ERROR", true),
        (.throttled, 429, "RATE_LIMIT", false), (.unavailable, 503, "MAINTENANCE_MODE", false),
        (.missingStatus, 201, "SUCCESS", true), (.duplicated, 201, "SUCCESS", true),
        (.declineBound, 400, "NO_SUFFICIENT_FUND", false),
    ])
    func `faults are answered in PayPay's shape`(
        kind: FaultKind, status: Int, code: String, isPaid: Bool
    ) async throws {
        try await withPayPay { payPay async throws in
            try payPay.card.order(Fault(kind), .sale)
            let reply = try await payPay.pay()
            #expect(reply.status == status && reply.code == code)
            if kind == .missingStatus { #expect(reply.data?["amount"] != nil && reply.data?.has("status") == false) }
            let charges = try await payPay.control.ledger("card", key: F.id).transaction(F.id)?.charges.count ?? 0
            #expect(charges == (isPaid ? 1 : 0))
        }
    }

    @Test(arguments: [FaultKind.html, .truncated, .responseLost, .requestLost])
    func `an answer that nobody can read leaves what was done`(kind: FaultKind) async throws {
        try await withPayPay { payPay async throws in
            try payPay.card.order(Fault(kind), .sale)
            let reply = try await payPay.raw("POST", "payments", F.body(F.id))
            switch (kind, reply) {
            case (.html, .answer(200, let headers, _)): #expect(headers["content-type"]?.hasPrefix("text/html") == true)
            case (.truncated, .brokenOff), (.responseLost, .nothing), (.requestLost, .nothing): break
            default: Issue.record("\(kind): \(reply)")
            }
            #expect(try await payPay.shown().status == (kind == .requestLost ? 404 : 200))
        }
    }

    @Test func `a late request arrives by itself, and a stale read shows what was before`() async throws {
        try await withPayPay { payPay async throws in
            try payPay.card.order(Fault(.lateDelivery), .sale)
            _ = try await payPay.raw("POST", "payments", F.body(F.id))
            #expect(try await payPay.shown().status == 404)
            payPay.clock.advance(2_001)
            try await payPay.card.eventually { try await payPay.shown().state == "COMPLETED" }
            try payPay.card.order(Fault(.staleInquiry), .void)
            #expect(try await payPay.cancel().status == 202)
            #expect(try await payPay.shown().state == "COMPLETED")
            payPay.clock.advance(2_001)
            #expect(try await payPay.shown().state == "CANCELED")
        }
    }

    @Test func `whose each payment is, the control says`() async throws {
        try await withPayPay { payPay async throws in
            _ = try await payPay.pay()
            #expect(try await payPay.control.metadata(at: "card") == [F.id: ["order": "4711"]])
            let reply = try await payPay.card.request("GET", "/_control/card/metadata")
            guard case .answer(200, _, let body) = reply else { throw SocketFailure(step: "answer", code: 0) }
            let shown = try JSONDecoder().decode(ShownValue.self, from: body)
            #expect(shown["data"]?[F.id]?["order"]?.text == "4711")
        }
    }

    @Test func `the journal knows calls by their operation, and a refund by its payment`() async throws {
        try await withPayPay { payPay async throws in
            let payment = try await payPay.paid()
            _ = try await payPay.refund(payment, value: 100)
            _ = try await payPay.shown()
            let lines = try await payPay.control.journal("card")
            #expect(lines.map(\.operation) == [.sale, .refund, .inquire])
            #expect(lines.map(\.key) == [F.id, F.id, F.id] && lines.map(\.entryKey) == ["", "refund-1", ""])
        }
    }
}
