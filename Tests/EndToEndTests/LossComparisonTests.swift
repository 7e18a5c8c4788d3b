import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// Real daemons at two sites: the comparison over the time of a loss ends by itself, and only with its evidence.
@Suite(.serialized) struct LossComparisonTests {
    private static let site =
        "lease: 3s, replication: asynchronous, count_unconfirmed_after: 2s, callers_repeat_for: 5s"

    private static func compared(_ settings: inout WorldSettings) {
        settings.contractLines = ["max_request_life: 5s", "clock_skew: 500ms"]
        settings.reconcileLines = ["send_within: 1s", "accept_one_phase_on_asynchronous_store: true"]
        settings.comparison =
            "{window: 1h, settle_delay: 0s, ask_again_after: 1s, policy: {orphan: undo after 0s}}"
    }

    /// Loses east with payments that its standby never heard of, and makes west active.
    private static func lose(_ sites: TwoSites) async throws {
        try await sites.leaveStandbyBehind()
        #expect(try await sites.east.create(Bodies.card(700), key: "lost-1").status == 201)
        try await sites.loseEast()
        let promoted = try await sites.site([
            "promote", "--reason", "east is lost", "--by", "hana", "--fenced-by", "the power is off",
            "--accept-data-loss", "the replica was behind", "--wait", "15s",
        ])
        #expect(promoted.status == 0, "\(promoted.output)")
        try await sites.untilActive(sites.west)
    }

    private static func loss(_ sites: TwoSites) async throws -> [String: Any]? {
        (TwoSites.json(try await sites.site(["status"]).output)["recoveries"] as? [[String: Any]])?.first
    }

    private static func net(_ sites: TwoSites, _ provider: String) async throws -> Int64 {
        try await sites.world.simulator.ledger(provider).transactions.map(\.net).reduce(0, +)
    }

    @Test func `a loss is closed once every provider was compared and its orphans are undone, and not before`()
        async throws
    {
        try await TwoSites.run(Self.site, isSynchronous: false, Self.compared) { sites in
            // One provider's listing fails, so that it cannot be compared.
            try sites.world.simulator.order(
                FaultOrder(Fault(.errorBefore), operation: .list, times: 100_000), at: "points")
            try await Self.lose(sites)
            let lost = try #require(try await Self.loss(sites))
            #expect(lost["listing_compared"] as? Bool == false && lost["kept_until"] is String, "\(lost)")
            // Of a sale nothing is found; it may have been made and be listed only, so that it waits.
            let sale = try await sites.west.create(Bodies.payment([("balance", 300)]), key: "sale-1", wait: 0)
            #expect(sale.status == 202, "\(sale.text)")
            try await Polling.until("the orphan is undone", within: .seconds(60)) {
                try await Self.net(sites, "card") == 1200
            }
            try await Polling.until("no orphan is open", within: .seconds(30)) {
                try await sites.command(["discrepancies", "list", "--output", "json"]).output.isEmpty
            }
            // Longer than between two looks, and than callers repeat: time alone closes nothing.
            try await Polling.hold(for: .seconds(7))
            #expect(try await Self.loss(sites)?["listing_compared"] as? Bool == false)
            #expect(try await sites.world.sends(.sale, to: "balance") == 0)
            #expect(try await sites.west.send(.get, "/v1/payments/\(sale.id)").state == "processing")

            try sites.world.simulator.clearOrders(at: "points")
            try await Polling.until("the loss is closed", within: .seconds(90)) { try await Self.loss(sites) == nil }
            let settled = try await sites.west.settled(sale.id, within: .seconds(30))
            #expect(settled.state == "succeeded", "\(settled.text)")
            #expect(sites.world.log().contains("points was not compared from"))
            try await sites.world.expectBooksAgree(sites.west)
        }
    }

    @Test func `after lost rows nothing begins before its caller asks again, and nothing is refused for an old row`()
        async throws
    {
        try await TwoSites.run(Self.site, isSynchronous: false, Self.compared) { sites in
            // Begun and held before the loss; the first two have no effect, because their provider fails.
            try sites.world.simulator.order(
                FaultOrder(Fault(.errorBefore), operation: .authorize, times: 100_000), at: "points")
            let deadline = ISO8601DateFormatter().string(from: Date(timeIntervalSinceNow: 60))
            let asked = Bodies.payment([("points", 500)])
            let repeated = try await sites.east.create(asked, key: "begun-1", wait: 0)
            let left = try await sites.east.create(
                Bodies.payment([("points", 600)], deadline: deadline), key: "begun-2", wait: 0)
            let held = try await sites.east.create(Bodies.payment([("card", 900)], capture: "manual"), key: "held-1")
            #expect([repeated.state, left.state, held.state] == ["processing", "processing", "authorized"])
            try await Self.lose(sites)
            try sites.world.simulator.clearOrders(at: "points")
            let sent = try await sites.world.sends(.authorize, to: "points")

            let capture = "/v1/payments/\(held.id)/capture"
            let early = try await sites.west.send(.post, capture, key: "capture-1", wait: 0)
            #expect(early.status == 503 && early.json["retryable"] as? Bool == true, "\(early.text)")
            #expect(early.json["type"] as? String == "/problems/being-confirmed", "\(early.text)")
            let shown = try await sites.west.send(.get, "/v1/payments/\(held.id)")
            let recovery = shown.json["recovery"] as? [String: Any]
            #expect(recovery?["step"] as? String == "being_confirmed", "\(shown.text)")
            let captured = try await sites.west.send(.post, capture, key: "capture-1", wait: 30)
            #expect(captured.status == 200 && captured.state == "succeeded", "\(captured.text)")

            for payment in [repeated, left] {
                try await Polling.until("its caller is awaited", within: .seconds(30)) {
                    let recovery = try await sites.west.send(.get, "/v1/payments/\(payment.id)").json["recovery"]
                    return (recovery as? [String: Any])?["step"] as? String == "awaits_request"
                }
            }
            #expect(try await sites.world.sends(.authorize, to: "points") == sent, "something was begun by itself")
            let again = try await sites.west.create(asked, key: "begun-1", wait: 30)
            #expect(again.state == "succeeded" && again.json["id"] as? String == repeated.id, "\(again.text)")
            let ended = try await sites.west.settled(left.id, within: .seconds(90))
            #expect(ended.state == "failed", "\(ended.text)")
            #expect(try await sites.world.sends(.authorize, to: "points") == sent + 1)
            try await Polling.until("the loss is closed", within: .seconds(90)) { try await Self.loss(sites) == nil }
            try await sites.world.expectBooksAgree(sites.west)
        }
    }
}
