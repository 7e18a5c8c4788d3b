import Foundation
import ProviderSimulator
import Testing

/// PayPay's wire through the real daemon, with both ledgers compared: card holds first, balance takes at once.
@Suite struct PayPayTests {
    private static func settings() -> WorldSettings {
        var settings = WorldSettings()
        settings.wire = .paypay
        settings.reconcileLines = ["allow_plug: true"]
        return settings
    }

    /// A decline is not bound to its identifier: that it is final, only the end of every request's life shows.
    private static var shortLives: WorldSettings {
        var settings = settings()
        settings.contractLines = ["max_request_life: 3s", "clock_skew: 200ms"]
        settings.reconcileLines.append("send_within: 500ms")
        settings.total = "1s"
        return settings
    }

    private static func fault(_ kind: FaultKind) -> Fault { FaultTests.fault(kind) }

    @Test(arguments: FaultTests.answerLost + FaultTests.requestLost, FaultTests.taking)
    func `an answer that is lost is asked for, and money is taken once`(
        kind: FaultKind, at request: (ProviderSimulator.Operation, String)
    ) async throws {
        try await World.run(Self.settings()) { world, client in
            try world.simulator.order(FaultOrder(Self.fault(kind), operation: request.0), at: request.1)
            let created = try await client.create(Bodies.payment([(request.1, 1_200)]), key: "paypay-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: [FaultKind.responseLost, .errorAfter, .requestLost, .html, .unavailable])
    func `a refund whose answer is lost is made once`(kind: FaultKind) async throws {
        try await World.run(Self.settings()) { world, client in
            let created = try await client.create(Bodies.payment([("balance", 1_200)]), key: "paypay-1")
            try world.simulator.order(FaultOrder(Self.fault(kind), operation: .refund), at: "balance")
            let amount = "{\"amount\":{\"value\":300,\"currency\":\"JPY\"}}"
            let refund = try await client.operate(
                "/v1/payments/\(created.id)/refunds", body: amount, key: "paypay-2", wait: 20)
            #expect(refund.status == 201, "\(refund.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("balance").transactions.map(\.net) == [900])
        }
    }

    @Test func `a declined payer ends as failed, with PayPay's reason, and nothing is taken`() async throws {
        try await World.run(Self.shortLives) { world, client in
            let body = Bodies.payment([("balance", 1_200)], instruments: ["decline-payer"])
            let created = try await client.create(body, key: "paypay-1")
            let settled = try await client.settled(created.id)
            #expect(settled.state == "failed" && settled.text.contains("no_sufficient_fund"), "\(settled.text)")
            #expect(try await world.sends(.sale, to: "balance") == 1)
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a payer that PayPay does not know ends as failed`() async throws {
        try await World.run(Self.shortLives) { world, client in
            let body = Bodies.payment([("balance", 1_200)], instruments: ["unknown-payer"])
            let created = try await client.create(body, key: "paypay-1")
            #expect(try await client.settled(created.id).state == "failed")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: [FaultKind.responseLost, .errorAfter, .requestLost, .staleInquiry])
    func `a hold is released, although the answer to the cancel is lost`(kind: FaultKind) async throws {
        try await World.run(Self.settings()) { world, client in
            let held = try await client.create(Bodies.payment([("card", 1_200)], capture: "manual"), key: "paypay-1")
            var fault = Self.fault(kind)
            if kind == .staleInquiry { fault.staleMs = 800 }
            try world.simulator.order(FaultOrder(fault, operation: .void), at: "card")
            let canceled = try await client.operate(
                "/v1/payments/\(held.id)/cancel", body: "{}", key: "paypay-2", wait: 20)
            #expect(try await client.settled(held.id).state == "canceled", "\(canceled.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.held) == [0])
        }
    }

    @Test func `a sale is given back where the other leg is declined`() async throws {
        try await World.run(Self.settings()) { world, client in
            let body = Bodies.payment(
                [("balance", 700), ("points", 500)], instruments: ["user-1", "capture-decline-points"])
            let created = try await client.create(body, key: "paypay-1")
            let settled = try await client.settled(created.id)
            #expect(settled.state == "failed", "\(settled.text)")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("balance").transactions.allSatisfy { $0.net == 0 })
        }
    }

    @Test func `another currency is refused before anything is sent`() async throws {
        try await World.run(Self.settings()) { world, client in
            let amount = "{\"value\":1200,\"currency\":\"USD\"}"
            let body = """
                {"amount":\(amount),"legs":[{"provider":"balance","instrument":"user-1","amount":\(amount)}],\
                "capture":"automatic"}
                """
            let refused = try await client.create(body, key: "paypay-1")
            #expect(refused.status == 422, "\(refused.text)")
            #expect(try await world.simulator.journal("balance").isEmpty)
        }
    }
}
