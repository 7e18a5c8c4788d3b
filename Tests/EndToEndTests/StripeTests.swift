import Crypto
import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Stripe's wire through the real daemon, with both ledgers compared: what a newcomer to it falls into.
@Suite struct StripeTests {
    private static func settings(_ change: (inout WorldSettings) -> Void = { _ in }) -> WorldSettings {
        var settings = WorldSettings()
        settings.wire = .stripe
        change(&settings)
        return settings
    }

    private static func fault(_ kind: FaultKind) -> Fault { FaultTests.fault(kind) }

    private static func body(_ value: Int, _ currency: String) -> String {
        let amount = "{\"value\":\(value),\"currency\":\"\(currency)\"}"
        return """
            {"amount":\(amount),"legs":[{"provider":"card","instrument":"pm_card_visa","amount":\(amount)}],\
            "capture":"automatic"}
            """
    }

    @Test(arguments: FaultTests.answerLost, FaultTests.taking)
    func `an answer that is lost, or stored as an error, is asked for and nothing is sent again`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await World.run(Self.settings()) { world, client in
            try world.simulator.order(FaultOrder(Self.fault(kind), operation: request.0), at: request.1)
            let created = try await client.create(Bodies.payment([(request.1, 1_200)]), key: "stripe-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
            #expect(try await world.sends(request.0, to: request.1) == 1)
        }
    }

    @Test(arguments: [FaultKind.responseLost, .errorAfter, .requestLost, .html])
    func `a refund whose answer is lost is made once`(kind: FaultKind) async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Bodies.card(), key: "stripe-1")
            try world.simulator.order(FaultOrder(Self.fault(kind), operation: .refund), at: "card")
            let amount = "{\"amount\":{\"value\":300,\"currency\":\"JPY\"}}"
            let refund = try await client.operate(
                "/v1/payments/\(created.id)/refunds", body: amount, key: "stripe-2", wait: 20)
            #expect(refund.status == 201, "\(refund.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [900])
        }
    }

    @Test func `a stored error that executed nothing ends as a failure at the deadline, and charges nothing`()
        async throws
    {
        try await World.run(Self.settings()) { world, client in
            try world.simulator.order(FaultOrder(Fault(.errorBefore), operation: .authorize), at: "card")
            let deadline = Date().addingTimeInterval(3).formatted(.iso8601)
            let created = try await client.create(
                Bodies.payment([("card", 1_200)], deadline: deadline), key: "stripe-1", wait: 0)
            let settled = try await client.settled(created.id)
            #expect(settled.state == "failed" || settled.state == "canceled", "\(settled.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.allSatisfy { $0.holds.isEmpty })
        }
    }

    @Test func `a stored error of the registration keeps nobody from paying`() async throws {
        try await World.run(Self.settings()) { world, client in
            for kind in [FaultKind.errorBefore, .errorAfter] {
                try world.simulator.order(FaultOrder(Fault(kind), operation: .register), at: "card")
                let created = try await client.create(Bodies.card(), key: "stripe-\(kind.rawValue)")
                #expect(try await client.settled(created.id).state == "succeeded")
            }
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a declined card ends as failed, with Stripe's reason, and is not tried again`() async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Bodies.card(instrument: "decline-card"), key: "stripe-1")
            #expect(created.state == "failed" && created.text.contains("insufficient_funds"), "\(created.text)")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }

    /// What has to be canceled was never registered, and cannot be: people have nothing to decide.
    @Test(arguments: ["before-call", "after-call"])
    func `a payment method that Stripe does not know ends as failed after a kill and a deadline, too`(
        failpoint: String
    ) async throws {
        try await World.run(Self.settings(), failpoint: "\(failpoint):authorize") { world, client in
            let deadline = Date().addingTimeInterval(2)
            let body = Bodies.payment(
                [("card", 1_200)], instruments: ["unknown-card"], deadline: deadline.formatted(.iso8601))
            _ = try? await client.create(body, key: "stripe-1", wait: 5)
            try await world.diedByItself()
            try await Polling.until("the deadline is over", within: .seconds(10)) { Date() > deadline }
            let next = try await world.start()
            let created = try await next.create(body, key: "stripe-1", wait: 10)
            #expect(try await next.settled(created.id).state == "failed")
            let words = try await next.explanation(of: created.id).text
            #expect(words.contains("deadline_passed"), "\(words)")
            #expect(try await world.simulator.ledger("card").transactions.allSatisfy { $0.holds.isEmpty })
            try await world.expectBooksAgree(next)
        }
    }

    @Test func `a confirm that arrives after the cancel charges nothing`() async throws {
        try await World.run(Self.settings()) { world, client in
            var late = Fault(.lateDelivery)
            late.delayMs = 2_500
            try world.simulator.order(FaultOrder(late, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "stripe-1", wait: 0)
            let canceled = try await client.operate(
                "/v1/payments/\(created.id)/cancel", body: "{}", key: "stripe-2", wait: 20)
            #expect(canceled.state == "canceled", "\(canceled.text)")
            try await Polling.until("the late confirm arrived") {
                try await world.simulator.journal("card", operation: .authorize).contains { $0.origin == .late }
            }
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `what a capture of a part gives free is no refund in the books`() async throws {
        try await World.run(Self.settings()) { world, client in
            let held = try await client.create(
                Bodies.payment([("card", 1_200)], capture: "manual"), key: "stripe-1")
            let part = "{\"legs\":[{\"index\":0,\"amount\":{\"value\":700,\"currency\":\"JPY\"}}]}"
            let taken = try await client.operate(
                "/v1/payments/\(held.id)/capture", body: part, key: "stripe-2", wait: 20)
            #expect(taken.state == "succeeded", "\(taken.text)")
            let all = try await client.operate("/v1/payments/\(held.id)/refunds", body: "{}", key: "stripe-3", wait: 20)
            #expect(all.status == 201, "\(all.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [0])
        }
    }

    @Test func `currencies are counted as Stripe counts them, and what it cannot charge is refused first`()
        async throws
    {
        try await World.run(Self.settings()) { world, client in
            let odd = try await client.create(Self.body(5_124, "KWD"), key: "stripe-1")
            #expect(odd.status == 422 && odd.text.contains("legs[0].amount.value"), "\(odd.text)")
            let even = try await client.create(Self.body(5_120, "KWD"), key: "stripe-2")
            #expect(even.state == "succeeded", "\(even.text)")
            let krona = try await client.create(Self.body(5, "ISK"), key: "stripe-3")
            #expect(krona.state == "succeeded", "\(krona.text)")
            let charged = try await world.simulator.ledger("card").transactions.flatMap(\.charges).map(\.amount)
            #expect(Set(charged.map { "\($0.value) \($0.currency)" }) == ["5120 KWD", "500 ISK"])
        }
    }

    @Test func `a signed notification ends a doubt long before its next inquiry`() async throws {
        let settings = Self.settings { $0.inquirySchedule = "10m" }
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .sale), at: "balance")
            try world.simulator.order(FaultOrder(Fault(.requestLost), operation: .inquire), at: "balance")
            let created = try await client.create(Bodies.payment([("balance", 1_200)]), key: "stripe-1", wait: 0)
            try await Polling.until("the answer is lost") {
                try await client.send(.get, "/v1/payments/\(created.id)/events").text.contains("indeterminate")
            }
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").state == "processing")
            var stranger = client
            stranger.token = nil
            let path = "/v1/providers/balance/notifications"
            let event = """
                {"id":"evt_1","object":"event","type":"charge.succeeded","data":{"object":\
                {"object":"charge","metadata":{"reconciled_payment":"\(created.id)"}}}}
                """
            let forged = try await stranger.send(
                .post, path, body: event, headers: [("Stripe-Signature", Self.signature(event, secret: "whsec_guess"))])
            #expect(forged.status == 401)
            // The first inquiry is lost. Another event about the same payment makes another one.
            for id in 1...2 {
                let body = event.replacing("evt_1", with: "evt_\(id)")
                let signature = Self.signature(body, secret: WorldSettings.notificationSecret)
                let answer = try await stranger.send(
                    .post, path, body: body, headers: [("Stripe-Signature", signature)])
                #expect(answer.status == 202 && answer.text.contains("inquired"), "\(answer.text)")
                try await Polling.until("notification \(id) made an inquiry") {
                    try await world.sends(.inquire, to: "balance") >= id
                }
            }
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    private static func signature(_ body: String, secret: String) -> String {
        let moment = Int(Date().timeIntervalSince1970)
        let code = HMAC<SHA256>.authenticationCode(
            for: Data("\(moment).\(body)".utf8), using: SymmetricKey(data: Data(secret.utf8)))
        return "t=\(moment),v1=" + code.map { String(format: "%02x", $0) }.joined()
    }
}
