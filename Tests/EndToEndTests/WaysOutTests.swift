import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

/// Causes of quarantine, met by a real daemon, and what is taken out of it by two people with the runbook's commands.
/// (A contradiction is in ``RepairTests``.)
@Suite struct WaysOutTests {
    /// Where nothing is read for an hour once the first questions are over, so that a version that was read is the
    /// newest.
    private static func settings(_ change: (inout WorldSettings) -> Void = { _ in }) -> WorldSettings {
        var settings = WorldSettings()
        settings.inquirySchedule = "100ms, 300ms, 1s, 2s, 3s, 4s, 1h"
        settings.contractLines = ["max_request_life: 3s", "clock_skew: 200ms"]
        settings.reconcileLines = ["send_within: 500ms"]
        settings.total = "1s"
        change(&settings)
        return settings
    }

    /// The same, where a decline may yet change.
    private static let unbound = settings {
        $0.simulated.declinesBound = false
        $0.contractLines.append("declines_bound: false")
    }

    /// Waits until a leg or a refund is quarantined for that cause. From then on it is read once a day.
    private func wait(
        for cause: String, of id: String, _ client: APIClient, within limit: Duration = .seconds(30)
    ) async throws {
        try await Polling.until("\(id) is quarantined as \(cause)", within: limit) {
            let waits = try await client.send(.get, "/v1/payments?waiting_for=people").text
            guard waits.contains(id) else { return false }
            return try await client.explanation(of: id).text.contains(cause)
        }
    }

    /// The trail holds, its decisions are those of the tables, and both sides agree.
    private func expectProof(_ id: String, _ world: World, _ client: APIClient) async throws {
        let verdict = try await world.command(["payments", "verify"])
        #expect(verdict.status == 0, "\(verdict.output)")
        let replayed = try await world.command(["payments", "explain", id, "--replay", "--output", "text"])
        #expect(replayed.status == 0, "\(replayed.output)")
        try await world.expectBooksAgree(client)
    }

    @Test func `undo_refused: the provider gave it back by hand`() async throws {
        try await World.run(WaysOutTests.settings()) { world, client in
            try world.simulator.order(FaultOrder(Fault(.declineBound), operation: .capture), at: "points")
            try world.simulator.order(FaultOrder(Fault(.declineUnbound), operation: .refund), at: "card")
            let body = Bodies.payment([("card", 700), ("points", 500)])
            let created = try await client.create(body, key: "out-1", wait: 1)
            try await wait(for: "undo_refused", of: created.id, client)
            try await giveBackByHand(700, world)
            let desk = try RepairDesk(world)
            let words = ["propose", created.id, "--action", "undone_outside", "--evidence", "Their mail of today."]
            let bare = try await desk.run(
                words + ["--reference", "RV-881", "--version", try await client.version(of: created.id)],
                as: desk.onCall, at: client)
            #expect(bare.status == 1 && bare.output.contains("newest answer says something else"), "\(bare.output)")
            let known = ["--reference", "RV-881", "--against-provider"]
            try await desk.repair(created.id, "undone_outside", known, at: client)
            #expect(try await client.settled(created.id).state == "failed")
            try await expectProof(created.id, world, client)
        }
    }

    /// Somebody gives back what the provider's card took, at its own console.
    private func giveBackByHand(_ value: Int, _ world: World) async throws {
        try await byHand("refunds/given-back-by-hand", value, world)
    }

    /// Somebody changes the only transaction of the provider's card, at its own console.
    private func byHand(_ what: String, _ value: Int, _ world: World) async throws {
        let key = try #require(try await world.simulator.ledger("card").transactions.first).key
        let console = APIClient(port: world.simulatorPort, adminPort: 0, token: "provider-key:token:merchant")
        let answer = try await console.send(
            .put, "/card/transactions/\(key)/\(what)", body: #"{"amount":{"value":\#(value),"currency":"JPY"}}"#)
        try #require(answer.status == 201, "\(answer.text)")
    }

    @Test(arguments: [
        ("undo", [], "failed"),
        ("charged", ["--reference", "CH-4711", "--amount", "900", "--currency", "JPY"], "succeeded"),
    ])
    func `capture_request_lost: somebody captured it, and it is given back or kept`(
        _ action: String, _ words: [String], _ end: String
    ) async throws {
        // A hold that rests is read by nobody until a comparison finds that it was captured.
        let settings = WaysOutTests.settings { $0.comparison = "{window: 1m, settle_delay: 1s}" }
        try await World.run(settings) { world, client in
            let body = Bodies.payment([("card", 900)], capture: "manual")
            let created = try await client.create(body, key: "out-5", wait: 10)
            try #require(created.state == "authorized", "\(created.text)")
            try await byHand("captures/captured-by-hand", 900, world)
            try await wait(for: "capture_request_lost", of: created.id, client, within: .seconds(120))
            try await RepairDesk(world).repair(created.id, action, words, at: client)
            #expect(try await client.settled(created.id).state == end)
            let kept = try await world.simulator.ledger("card").transactions.map(\.net)
            #expect(kept == [end == "succeeded" ? 900 : 0])
            try await expectProof(created.id, world, client)
        }
    }

    @Test func `refund_in_doubt: the provider says that it was never made`() async throws {
        try await World.run(WaysOutTests.unbound) { world, client in
            let created = try await client.create(Bodies.card(), key: "out-2")
            try world.simulator.order(FaultOrder(Fault(.declineUnbound), operation: .refund), at: "card")
            try world.simulator.order(FaultOrder(Fault(.keyForgotten), operation: .inquire), at: "card")
            let refund = try await client.send(
                .post, "/v1/payments/\(created.id)/refunds",
                body: #"{"legs":[{"index":0,"amount":{"value":500,"currency":"JPY"}}]}"#,
                key: "out-2-refund", wait: 1)
            try await wait(for: "refund_in_doubt", of: created.id, client)
            let words = ["--refund", refund.id]
            try await RepairDesk(world).repair(created.id, "never_charged", words, at: client)
            let after = try await client.send(.get, "/v1/payments/\(created.id)").json
            let refunds = after["refunds"] as? [[String: Any]] ?? []
            #expect(after["state"] as? String == "succeeded", "\(after)")
            #expect(refunds.map { $0["state"] as? String } == ["failed"], "\(after)")
            try await expectProof(created.id, world, client)
        }
    }

    @Test func `accepted_but_missing: it never was, and never will be`() async throws {
        try await World.run(WaysOutTests.settings()) { world, client in
            var pending = Fault(.pending)
            (pending.delayMs, pending.outcome) = (50, .declined)
            try world.simulator.order(FaultOrder(pending, operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.keyForgotten), operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "out-3", wait: 1)
            try await wait(for: "accepted_but_missing", of: created.id, client)
            try await RepairDesk(world).repair(created.id, "never_charged", at: client)
            #expect(try await client.settled(created.id).state == "failed")
            try await expectProof(created.id, world, client)
        }
    }

    @Test func `key_too_old: the provider was away for longer than it keeps keys`() async throws {
        let settings = WaysOutTests.settings {
            $0.simulated.tombstoning = false
            $0.contractLines += ["key_retention: 5s", "cancel: only_if_present", "enforces_not_after: false"]
            $0.reconcileLines.append("allow_plug: true")
        }
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.requestLost), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.unavailable), operation: .inquire, times: 5), at: "card")
            let created = try await client.create(Bodies.card(), key: "out-4", wait: 1)
            try await wait(for: "key_too_old", of: created.id, client)
            try await RepairDesk(world).repair(created.id, "never_charged", at: client)
            #expect(try await client.settled(created.id).state == "failed")
            try await expectProof(created.id, world, client)
        }
    }

    /// Stripe stores an error for as long as it keeps the key. No other key may be tried, because nothing else keeps a
    /// refund from being made twice.
    @Test func `key_too_old: a refund whose error is stored ends with people, and is never made under another key`()
        async throws
    {
        let settings = WaysOutTests.settings {
            $0.wire = .stripe
            $0.contractLines.append("key_retention: 5s")
        }
        try await World.run(settings) { world, client in
            let created = try await client.create(Bodies.card(), key: "out-7")
            try world.simulator.order(FaultOrder(Fault(.errorBefore), operation: .refund), at: "card")
            func refund(_ key: String, wait: Int) async throws -> APIClient.Answer {
                try await client.send(
                    .post, "/v1/payments/\(created.id)/refunds",
                    body: #"{"legs":[{"index":0,"amount":{"value":500,"currency":"JPY"}}]}"#, key: key, wait: wait)
            }
            let first = try await refund("out-7-refund", wait: 1)
            try await wait(for: "key_too_old", of: created.id, client)
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
            try await RepairDesk(world).repair(created.id, "never_charged", ["--refund", first.id], at: client)
            let again = try await refund("out-7-again", wait: 10)
            #expect(again.json["state"] as? String == "succeeded", "\(again.text)")
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [700])
            try await expectProof(created.id, world, client)
        }
    }

    @Test func `undo_impossible: its status was forgotten while nothing could be asked`() async throws {
        // Nothing but the proof by not_after undoes what was never seen there, and the provider forgot what it would
        // have shown.
        let settings = WaysOutTests.settings {
            $0.simulated.tombstoning = false
            $0.inquirySchedule = "100ms, 300ms, 1s"
            $0.contractLines += ["status_retention: 6s", "cancel: only_if_present"]
        }
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.requestLost), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.unavailable), operation: .inquire, times: 12), at: "card")
            let created = try await client.create(Bodies.card(), key: "out-6", wait: 1)
            let path = "/v1/payments/\(created.id)/cancel"
            #expect(try await client.send(.post, path, key: "out-6-cancel", wait: 0).status == 202)
            try await wait(for: "undo_impossible", of: created.id, client)
            try await RepairDesk(world).repair(created.id, "never_charged", at: client)
            #expect(try await client.settled(created.id).state == "canceled")
            try await expectProof(created.id, world, client)
        }
    }
}
