import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Declines, contradictions, outages and providers that forget.
@Suite struct RefusalTests {
    @Test func `a bound decline fails the payment and undoes the other leg`() async throws {
        try await World.run { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .authorize), at: "card")
            let created = try await client.create(Bodies.payment([("card", 700), ("points", 500)]), key: "decline-1")
            #expect(created.status == 201)
            #expect(created.state == "failed")
            let reason = created.json["reason"] as? [String: Any]
            #expect(reason?["code"] as? String == "declined")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `an unbound decline is tombstoned before the caller is told`() async throws {
        var settings = WorldSettings()
        settings.simulated.declinesBound = false
        settings.contractLines = ["declines_bound: false"]
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineUnbound), operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "decline-2")
            #expect(created.state == "failed")
            let statuses = try await world.simulator.ledger("card").transactions.map { $0.status?.rawValue }
            #expect(statuses == ["tombstoned"])
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a capture that is declined gives back what the other leg took`() async throws {
        try await World.run { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .capture), at: "card")
            let created = try await client.create(Bodies.payment([("card", 700), ("points", 500)]), key: "decline-3")
            let settled = try await client.settled(created.id)
            #expect(settled.state == "failed")
            let reason = settled.json["reason"] as? [String: Any]
            #expect(reason?["code"] as? String == "capture_unavailable")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: [("card", ProviderSimulator.Operation.authorize), ("balance", .sale)])
    func `another amount than asked is quarantined and never sent again`(
        provider: String, operation: ProviderSimulator.Operation
    ) async throws {
        try await World.run { world, client in
            try world.simulator.order(FaultOrder(Fault(.amountChanged), operation: operation), at: provider)
            let created = try await client.create(Bodies.payment([(provider, 1_200)]), key: "amount-1")
            #expect(created.status == 202)
            let settled = try await client.settled(created.id)
            #expect(settled.state == "quarantined")
            #expect(try await world.sends(operation, to: provider) == 1)
            #expect(try await world.simulator.ledger(provider).chargedTwice.isEmpty)
        }
    }

    @Test func `a stale status leads to no second charge`() async throws {
        try await World.run { world, client in
            var fault = Fault(.responseLost)
            fault.staleMs = 1_500
            try world.simulator.order(FaultOrder(fault, operation: .sale), at: "balance")
            let created = try await client.create(Bodies.payment([("balance", 900)]), key: "stale-1")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `an inquiry that shows the state before the capture leads to no second capture`() async throws {
        try await World.run { world, client in
            var stale = Fault(.staleInquiry)
            stale.staleMs = 700
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .capture), at: "card")
            try world.simulator.order(FaultOrder(stale, operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "stale-2")
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    @Test(arguments: [DownMode.close, .unavailable])
    func `an outage is waited out`(mode: DownMode) async throws {
        try await World.run { world, client in
            try world.simulator.takeDown("card", forMs: 1_500, mode: mode)
            let created = try await client.create(Bodies.card(), key: "down-1", wait: 0)
            #expect(created.status == 202)
            #expect(try await client.settled(created.id).state == "succeeded")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a forgotten key is not sent again past its retention`() async throws {
        var settings = WorldSettings()
        // Safe to send again for one second: 126 s - 120 s - 5 s.
        settings.contractLines = ["key_retention: 126s", "enforces_not_after: false"]
        settings.reconcileLines = []
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .sale), at: "balance")
            try world.simulator.order(FaultOrder(Fault(.errorBefore), operation: .inquire, times: 4), at: "balance")
            try world.simulator.order(FaultOrder(Fault(.keyForgotten), operation: .inquire), at: "balance")
            let created = try await client.create(Bodies.payment([("balance", 900)]), key: "forgotten-1", wait: 0)
            let settled = try await client.settled(created.id)
            #expect(settled.state == "quarantined")
            let detail = (settled.json["reason"] as? [String: Any])?["detail"] as? String
            #expect(detail?.contains("key_too_old") == true)
            #expect(try await world.sends(.sale, to: "balance") == 1)
        }
    }

    @Test func `a payment past its deadline is turned back`() async throws {
        try await World.run { world, client in
            try world.simulator.takeDown("card", forMs: 2_500)
            let deadline = Date().addingTimeInterval(1.2).ISO8601Format(.init(includingFractionalSeconds: true))
            let body = Bodies.payment([("card", 700), ("points", 500)], deadline: deadline)
            let created = try await client.create(body, key: "deadline-1", wait: 0)
            let settled = try await client.settled(created.id)
            #expect(settled.state == "failed")
            let reason = settled.json["reason"] as? [String: Any]
            #expect(reason?["code"] as? String == "deadline_passed")
            try await world.expectBooksAgree(client)
        }
    }

    @Test func `a provider that is down delays nobody else`() async throws {
        try await World.run { world, client in
            try world.simulator.takeDown("card", forMs: 60_000)
            for index in 0..<100 {
                let stuck = try await client.create(Bodies.card(), key: "stuck-\(index)", wait: 0)
                #expect(stuck.status == 202)
            }
            let began = ContinuousClock.now
            for index in 0..<20 {
                let answer = try await client.create(Bodies.payment([("points", 100)]), key: "free-\(index)")
                #expect(answer.state == "succeeded")
            }
            #expect(ContinuousClock.now - began < .seconds(10))
        }
    }
}
