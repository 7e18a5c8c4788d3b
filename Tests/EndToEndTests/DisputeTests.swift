import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Disputes of charges, through a real daemon.
@Suite struct DisputeTests {
    /// The wires that show disputes. PayPay's knows none.
    private static let wires: [ProviderConfiguration.Wire] = [.reference, .stripe]

    private func dispute(_ status: DisputeStatus, _ world: World) async throws -> DisputeReceipt {
        let charge = try await world.simulator.ledger("card").transactions.first { $0.net != 0 }
        return try await world.simulator.dispute(
            DisputeOrder(status, key: #require(charge).key), at: "card")
    }

    private func disputes(of id: String, _ client: APIClient) async throws -> [[String: Any]] {
        let legs = try await client.send(.get, "/v1/payments/\(id)").json["legs"] as? [[String: Any]]
        return legs?.first?["disputes"] as? [[String: Any]] ?? []
    }

    private func states(of id: String, _ client: APIClient) async throws -> [String?] {
        try await disputes(of: id, client).map { $0["state"] as? String }
    }

    /// A payment that rests asks nobody: the comparison finds it, and nobody has to look.
    @Test func `a charge is disputed, no refund is taken meanwhile, and after it is won one is`() async throws {
        var settings = WorldSettings()
        settings.comparison = "{window: 1m, settle_delay: 1s}"
        settings.contractLines = ["max_request_life: 3s", "clock_skew: 200ms"]
        settings.reconcileLines = ["send_within: 500ms"]
        settings.total = "1s"
        try await World.run(settings) { world, client in
            let created = try await client.create(Bodies.card(), key: "disputed-1", wait: 10)
            try #require(created.state == "succeeded", "\(created.text)")
            #expect(try await disputes(of: created.id, client).isEmpty)
            let opened = try await dispute(.open, world)
            try await Polling.until("the payment shows the dispute", within: .seconds(150)) {
                try await states(of: created.id, client) == ["open"]
            }
            #expect(try await disputes(of: created.id, client).first?["id"] as? String == opened.id)
            #expect(try await client.send(.get, "/v1/payments/\(created.id)").json["state"] as? String == "succeeded")

            func refund(_ key: String) async throws -> APIClient.Answer {
                try await client.send(
                    .post, "/v1/payments/\(created.id)/refunds",
                    body: #"{"legs":[{"index":0,"amount":{"value":500,"currency":"JPY"}}]}"#, key: key, wait: 10)
            }
            let refused = try await refund("disputed-1-refund")
            #expect(refused.status == 409, "\(refused.text)")
            #expect(refused.json["type"] as? String == "/problems/disputed")
            #expect((refused.json["detail"] as? String)?.contains(opened.id) == true)
            let log = world.log()
            #expect(log.contains("its payer disputes the charge"), "\(log.suffix(2_000))")

            _ = try await dispute(.won, world)
            try await Polling.until("the payment shows its end", within: .seconds(150)) {
                try await states(of: created.id, client) == ["won"]
            }
            let taken = try await refund("disputed-1-refund")
            #expect(taken.status == 201 && taken.json["state"] as? String == "succeeded", "\(taken.text)")
            try await world.expectBooksAgree(client)
        }
    }

    /// Won: it is given back then, once. Lost: the payer has it, and nothing is given back beside it.
    @Test(arguments: Self.wires, [DisputeStatus.won, .lost])
    func `what is turned back waits for the end of a dispute`(
        wire: ProviderConfiguration.Wire, outcome: DisputeStatus
    ) async throws {
        var settings = WorldSettings()
        settings.wire = wire
        settings.inquirySchedule = "100ms, 300ms, 1s"
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .capture), at: "points")
            try world.simulator.order(FaultOrder(Fault(.unavailable), operation: .refund, times: 10_000), at: "card")
            let created = try await client.create(
                Bodies.payment([("card", 700), ("points", 500)]), key: "disputed-2", wait: 1)
            try await Polling.until("its refund is tried", within: .seconds(20)) {
                try await !world.simulator.journal("card", operation: .refund).isEmpty
            }
            _ = try await dispute(.open, world)
            try await Polling.until("the payment waits for the dispute", within: .seconds(30)) {
                try await client.explanation(of: created.id).text.contains("undo.disputed")
            }
            try world.simulator.clearOrders(at: "card")
            let asked = try await world.simulator.journal("card", operation: .refund).count
            let reads = try await world.simulator.journal("card", operation: .inquire).count
            try await Polling.until("it is read several times more", within: .seconds(30)) {
                try await world.simulator.journal("card", operation: .inquire).count >= reads + 3
            }
            #expect(try await world.simulator.journal("card", operation: .refund).count == asked)
            _ = try await dispute(outcome, world)
            #expect(try await client.settled(created.id).state == "failed")
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [0])
            let sent = try await world.simulator.journal("card", operation: .refund).count
            #expect(outcome == .won ? sent > asked : sent == asked)
            let verdict = try await world.command(["payments", "verify"])
            #expect(verdict.status == 0, "\(verdict.output)")
            try await world.expectBooksAgree(client)
        }
    }
}
