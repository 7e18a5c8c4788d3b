import Foundation
import HTTPTransport
import PaymentCore
import ProviderSimulator
import Testing

/// A card whose holder has to confirm the payment first, through the real daemon.
@Suite struct PayerActionTests {
    private static let wires: [ProviderConfiguration.Wire] = [.reference, .stripe]

    private func run(
        _ wire: ProviderConfiguration.Wire, failpoint: String? = nil,
        _ body: @Sendable (World, APIClient) async throws -> Void
    ) async throws {
        var settings = WorldSettings()
        settings.wire = wire
        try await World.run(settings, failpoint: failpoint, body)
    }

    private func body(
        _ legs: [(provider: String, value: Int)] = [("card", 1_200)], capture: String = "automatic",
        deadline: Date? = nil, isPresent: Bool = true
    ) -> String {
        Bodies.payment(
            legs, instruments: legs.map { $0.provider == "card" ? "action-1" : "member-1" }, capture: capture,
            deadline: deadline.map { $0.formatted(.iso8601) },
            returnURL: isPresent ? "https://shop.example/back?order=1" : nil)
    }

    /// Creates a payment whose payer is asked; where the payer goes.
    private func asked(_ client: APIClient, _ body: String, key: String = "payer-1") async throws -> APIClient.Answer {
        let created = try await client.create(body, key: key)
        let action = created.json["next_action"] as? [String: Any]
        try #require(created.state == "requires_action" && created.status == 202, "\(created.text)")
        #expect(action?["type"] as? String == "redirect")
        #expect((action?["url"] as? String)?.hasPrefix("https://payer.example/") == true, "\(created.text)")
        return created
    }

    private func act(_ world: World, _ outcome: PayerOrder.Outcome) async throws {
        let keys = try await world.simulator.ledger("card").transactions.map(\.key)
        try await world.simulator.payerActs(PayerOrder(outcome, key: try #require(keys.last)), at: "card")
    }

    private func nothingIsLeft(_ world: World, at provider: String = "card") async throws {
        let transactions = try await world.simulator.ledger(provider).transactions
        #expect(transactions.allSatisfy { $0.held == 0 && $0.net == 0 }, "\(transactions)")
    }

    @Test(arguments: wires)
    func `the caller is told at once, and repeats the create when the payer is back`(
        wire: ProviderConfiguration.Wire
    ) async throws {
        try await run(wire) { world, client in
            let created = try await asked(client, body())
            try await act(world, .approved)
            let repeated = try await client.create(body(), key: "payer-1", wait: 15)
            #expect(repeated.id == created.id && repeated.state == "succeeded", "\(repeated.text)")
            #expect(repeated.json["next_action"] == nil, "\(repeated.text)")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: wires)
    func `a payer who refuses ends it, and the other leg is given back`(wire: ProviderConfiguration.Wire) async throws {
        try await run(wire) { world, client in
            let created = try await asked(client, body([("card", 700), ("points", 500)]))
            try await act(world, .declined)
            let ended = try await client.settled(created.id)
            #expect(ended.state == "failed", "\(ended.text)")
            try await nothingIsLeft(world)
            try await nothingIsLeft(world, at: "points")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: wires)
    func `a payer who never comes back is waited for until the deadline`(
        wire: ProviderConfiguration.Wire
    ) async throws {
        try await run(wire) { world, client in
            let created = try await asked(client, body(deadline: Date(timeIntervalSinceNow: 6)))
            let ended = try await client.settled(created.id)
            #expect(ended.state == "failed" && ended.text.contains("deadline_passed"), "\(ended.text)")
            // Canceled at the provider, so that it is too late to confirm.
            await #expect(throws: SimulatorError.self) { try await act(world, .approved) }
            try await nothingIsLeft(world)
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: wires)
    func `a caller that gives up leaves nothing behind`(wire: ProviderConfiguration.Wire) async throws {
        try await run(wire) { world, client in
            let created = try await asked(client, body())
            let canceled = try await client.operate(
                "/v1/payments/\(created.id)/cancel", body: "{}", key: "payer-2", wait: 15)
            #expect(canceled.state == "canceled", "\(canceled.text)")
            try await nothingIsLeft(world)
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: wires, [FaultKind.requestLost, .responseLost, .errorAfter])
    func `a lost answer asks the payer once, and charges once`(
        wire: ProviderConfiguration.Wire, kind: FaultKind
    ) async throws {
        try await run(wire) { world, client in
            try world.simulator.order(FaultOrder(FaultTests.fault(kind), operation: .authorize), at: "card")
            let created = try await client.create(body(), key: "payer-1")
            try await Polling.until("the payer is asked") {
                try await client.send(.get, "/v1/payments/\(created.id)").state == "requires_action"
            }
            try await act(world, .approved)
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net).filter { $0 != 0 } == [1_200])
        }
    }

    @Test(arguments: wires, ["before-call:authorize", "after-call:authorize", "after-outcome:authorize"])
    func `a daemon that is killed while the payer is asked goes on, also if no caller comes back`(
        wire: ProviderConfiguration.Wire, failpoint: String
    ) async throws {
        try await run(wire, failpoint: failpoint) { world, client in
            _ = try? await client.create(body(), key: "payer-1")
            try await world.diedByItself()
            let next = try await world.start()
            let created = try await next.create(body(), key: "payer-1", wait: 10)
            try await Polling.until("the payer is asked") {
                try await next.send(.get, "/v1/payments/\(created.id)").state == "requires_action"
            }
            try await act(world, .approved)
            #expect(try await next.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(next)
        }
    }

    @Test(arguments: wires)
    func `a hold that its payer confirmed rests until it is captured`(wire: ProviderConfiguration.Wire) async throws {
        try await run(wire) { world, client in
            let created = try await asked(client, body(capture: "manual"))
            try await act(world, .approved)
            let held = try await client.create(body(capture: "manual"), key: "payer-1", wait: 15)
            #expect(held.state == "authorized", "\(held.text)")
            let taken = try await client.operate(
                "/v1/payments/\(created.id)/capture", body: "{}", key: "payer-2", wait: 15)
            #expect(taken.state == "succeeded", "\(taken.text)")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: wires)
    func `without a way back for the payer it is declined`(wire: ProviderConfiguration.Wire) async throws {
        try await run(wire) { world, client in
            let created = try await client.create(body(isPresent: false), key: "payer-1")
            #expect(try await client.settled(created.id).state == "failed")
            try await nothingIsLeft(world)
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `where the payer goes is for the caller alone`() async throws {
        try await run(.reference) { world, client in
            let created = try await asked(client, body())
            for path in ["/v1/payments/\(created.id)", "/v1/payments", "/v1/payments/\(created.id)/events"] {
                var operators = client
                operators.token = World.operatorToken
                let seen = try await operators.send(.get, path, admin: true)
                #expect(seen.status == 200 && !seen.text.contains("payer.example"), "\(path): \(seen.text)")
            }
            #expect(!world.log().contains("payer.example"))
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").text.contains("payer.example"))
        }
    }

    @Test(arguments: ["http://shop.example", "shop.example", "https://", "javascript:alert(1)"])
    func `a way back that is no address is refused, with what is allowed`(address: String) async throws {
        try await run(.reference) { _, client in
            let body = Bodies.payment([("card", 1_200)], returnURL: address)
            let refused = try await client.create(body, key: "payer-1")
            #expect(refused.status == 400 && refused.text.contains("https://"), "\(refused.text)")
            #expect(refused.json["field"] as? String == "return_url", "\(refused.text)")
        }
    }
}
