import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// Two sites with real daemons, a real primary and its real standby.
@Suite(.serialized) struct SiteTests {
    @Test func `a daemon at a standby is ready, reads, and names the active site for what it may not do`() async throws
    {
        try await TwoSites.run { sites in
            let created = try await sites.east.create(Bodies.card(), key: "read-1")
            #expect(created.status == 201)
            #expect(try await sites.west.send(.get, "/readyz", admin: true).status == 200)
            let active = try await sites.west.send(.get, "/activez?verbose", admin: true)
            #expect(active.status == 503)
            #expect(active.text.contains("site east is active"))
            try await Polling.until("the standby shows the payment") {
                try await sites.west.send(.get, "/v1/payments/\(created.id)").state == "succeeded"
            }
            // It says until when it is complete, and does not deny what it may not have got yet.
            let shown = try await sites.west.send(.get, "/v1/payments/\(created.id)")
            #expect(shown.fields["As-Of"] != nil)
            #expect(try await sites.east.send(.get, "/v1/payments/\(created.id)").fields["As-Of"] == nil)
            let unknown = "/v1/payments/pay_\(String(repeating: "0", count: 40))"
            #expect(try await sites.west.send(.get, unknown).status == 503)
            #expect(try await sites.east.send(.get, unknown).status == 404)
            let paths = ["", "/\(created.id)/cancel", "/\(created.id)/refunds", "/\(created.id)/reconcile"]
            for path in paths {
                let refused = try await sites.west.send(
                    .post, "/v1/payments\(path)", body: path.isEmpty ? Bodies.card() : nil, key: "w-\(path.count)")
                #expect(refused.status == 503, "\(path): \(refused.text)")
                #expect((refused.json["type"] as? String)?.hasSuffix("/problems/site-not-active") == true)
                #expect((refused.json["active_site"] as? [String: Any])?["name"] as? String == "east")
                #expect((refused.json["active_site"] as? [String: Any])?["url"] as? String == "https://east.example")
                #expect(refused.fields["Retry-After"] != nil)
            }
            let metrics = try await sites.west.send(.get, "/metrics", admin: true).text
            #expect(metrics.contains("reconciled_site_active 0"))
            #expect(metrics.contains("reconciled_site_database_writable 0"))
            #expect(metrics.contains("reconciled_objective_seconds{objective=\"rto\"} 60"))
            let status = TwoSites.json(try await sites.site(["status"]).output)
            #expect(status["role"] as? String == "standby")
            #expect(status["active_site"] as? String == "east")
            let text = try await sites.site(["status", "--output", "text"], atWest: false)
            #expect(text.output.contains("site        east: active"), "\(text.output)")
        }
    }

    @Test func `a lost site is replaced after its lease, and what was in doubt is settled without a restart`()
        async throws
    {
        try await TwoSites.run { sites in
            try await sites.untilActive(sites.east)
            // The row says that a lease is needed, which only the standby can prove.
            try await Polling.until("the lease is confirmed") {
                TwoSites.json(try await sites.site(["status"]).output)["proof"] as? String == "standby"
            }
            let before = try await sites.east.create(Bodies.card(), key: "before-1")
            #expect(before.status == 201)
            let held = try await sites.east.create(Bodies.payment([("card", 500)], capture: "manual"), key: "held-1")
            #expect(held.state == "authorized", "\(held.text)")
            try sites.world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            try sites.world.simulator.order(
                FaultOrder(Fault(.errorBefore), operation: .inquire, times: 1_000), at: "card")
            let doubtful = try await sites.east.create(Bodies.card(700), key: "doubt-1", wait: 0)
            #expect(doubtful.status == 202)
            try await sites.loseEast()

            let early = try await sites.site(["promote", "--reason", "east is lost", "--by", "hana"])
            #expect(early.status == 1, "\(early.output)")
            #expect(early.output.contains("lease_runs"), "\(early.output)")
            #expect(try await !sites.isActive(sites.west))

            let began = ContinuousClock.now
            let promoted = try await sites.site(
                ["promote", "--reason", "east is lost", "--by", "hana", "--wait", "30s"])
            #expect(promoted.status == 0, "\(promoted.output)")
            let row = TwoSites.json(promoted.output)
            #expect(row["epoch"] as? Int == 2)
            // Nothing was told or sent that is not here, so nothing has to be read again.
            #expect((row["promotion"] as? [String: Any])?["loss"] is NSNull)
            #expect((row["recoveries"] as? [Any])?.isEmpty == true)
            try sites.world.simulator.clearOrders(at: "card")
            try await sites.untilActive(sites.west)
            // At once: what was held before the loss is captured, and not said to be in another state.
            let captured = try await sites.west.send(
                .post, "/v1/payments/\(held.id)/capture", key: "capture-1", wait: 20)
            #expect(captured.status == 200 && captured.state == "succeeded", "\(captured.text)")
            let settled = try await sites.west.settled(doubtful.id, within: .seconds(30))
            #expect(settled.state == "succeeded", "\(settled.text)")
            let passed = ContinuousClock.now - began
            #expect(passed < .seconds(30), "from the promotion to the payment in doubt: \(passed)")
            // The same request again has its answer from before; nothing is charged twice.
            let again = try await sites.west.create(Bodies.card(), key: "before-1")
            #expect(again.body == before.body)
            let new = try await sites.west.create(Bodies.card(900), key: "after-1", wait: 20)
            #expect(new.status == 201, "\(new.text)")
            try await sites.world.expectBooksAgree(sites.west)
        }
    }

    @Test func `a planned switchover waits for nothing, loses nothing and opens no window`() async throws {
        try await TwoSites.run { sites in
            let before = try await sites.east.create(Bodies.card(), key: "before-1")
            #expect(before.status == 201)
            let held = try await sites.site(["promote", "--reason", "planned", "--by", "hana"])
            #expect(held.status == 1 && held.output.contains("still_streaming"), "\(held.output)")
            let drained = try await sites.site(["drain", "--wait", "20s"], atWest: false)
            #expect(drained.status == 0, "\(drained.output)")
            #expect(TwoSites.json(drained.output)["phase"] as? String == "drained")
            try await sites.untilActive(sites.east, false)
            let refused = try await sites.east.create(Bodies.card(), key: "late-1")
            #expect(refused.status == 503)
            try await Polling.until("the standby shows that it is drained") {
                TwoSites.json(try await sites.site(["status"]).output)["phase"] as? String == "drained"
            }
            let promoted = try await sites.site(["promote", "--reason", "planned", "--by", "hana"])
            #expect(promoted.status == 0, "\(promoted.output)")
            let row = TwoSites.json(promoted.output)
            #expect((row["recoveries"] as? [Any])?.isEmpty == true)
            #expect((row["term"] as? [String: Any])?["beginning"] as? String == "switchover")
            try await sites.untilActive(sites.west)
            let new = try await sites.west.create(Bodies.card(900), key: "after-1")
            #expect(new.status == 201, "\(new.text)")
            // The old site stays what it was told to be, and its own promotion needs somebody who vouches for it.
            #expect(try await !sites.isActive(sites.east))
            let back = try await sites.site(["promote", "--reason", "back", "--by", "hana"], atWest: false)
            #expect(back.status == 1 && back.output.contains("already_active"), "\(back.output)")
            try await sites.world.expectBooksAgree(sites.west)
        }
    }
}

/// A site that cannot prove its right any more, or acts without knowing that it lost it.
extension SiteTests {
    @Test func `a partitioned primary stops within its lease, and goes on when the standby is back`() async throws {
        try await TwoSites.run { sites in
            try await sites.untilActive(sites.east)
            try await Polling.until("the lease is confirmed") {
                TwoSites.json(try await sites.site(["status"]).output)["proof"] as? String == "standby"
            }
            try await Moment.come()
            try await sites.pair.freezeStandby()
            let began = ContinuousClock.now
            try await sites.untilActive(sites.east, false, within: .seconds(6))
            #expect(ContinuousClock.now - began < .seconds(5))
            let reason = try await sites.east.send(.get, "/activez?verbose", admin: true).text
            #expect(reason.contains("lease ran out"), "\(reason)")
            #expect(try await sites.east.send(.get, "/readyz", admin: true).status == 200)
            let sent = try await sites.world.sends(.authorize, to: "card")
            let refused = try await sites.east.create(Bodies.card(), key: "cut-1", wait: 0)
            #expect(refused.status == 503)
            #expect((refused.json["type"] as? String)?.hasSuffix("/problems/site-not-active") == true)
            // Nobody there knows what the other site has done since.
            for path in ["", "/pay_\(String(repeating: "0", count: 40))"] {
                let read = try await sites.east.send(.get, "/v1/payments\(path)")
                #expect(read.status == 503, "\(path): \(read.text)")
            }
            try sites.pair.thawStandby()
            try await sites.pair.untilSynchronous()
            try await sites.untilActive(sites.east)
            #expect(try await sites.world.sends(.authorize, to: "card") == sent)
            let created = try await sites.east.create(Bodies.card(), key: "cut-1")
            #expect(created.status == 201, "\(created.text)")
        }
    }

    @Test func `a daemon that slept through a promotion sends and writes nothing when it wakes`() async throws {
        try await TwoSites.run { sites in
            try await sites.untilActive(sites.east)
            var slow = Fault(.slow)
            slow.delayMs = 300
            try sites.world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            let asleep = try await sites.east.create(Bodies.card(), key: "asleep-1", wait: 0)
            #expect(asleep.status == 202)
            let daemon = try #require(await sites.world.daemon(0))
            try await Moment.come()
            daemon.freeze()
            // Its database stops in good order: the standby has everything.
            try await sites.pair.stopPrimary()
            let promoted = try await sites.site(
                ["promote", "--reason", "east is silent", "--by", "hana", "--wait", "30s"])
            #expect(promoted.status == 0, "\(promoted.output)")
            try await sites.untilActive(sites.west)
            let settled = try await sites.west.settled(asleep.id, within: .seconds(30))
            #expect(settled.state == "succeeded", "\(settled.text)")
            let sent = try await sites.world.simulator.journal("card", limit: 10_000).count
            daemon.thaw()
            let refused = try await sites.east.create(Bodies.card(900), key: "late-1", wait: 0)
            #expect(refused.status == 503)
            #expect(try await !sites.isActive(sites.east))
            // Also with its database back, which has a life of its own now.
            try await sites.pair.restartPrimary()
            try await Polling.until("the old database is read again") {
                TwoSites.json(try await sites.site(["status"], atWest: false).output)["epoch"] as? Int == 1
            }
            try await Polling.hold(for: .seconds(2))
            #expect(try await !sites.isActive(sites.east))
            #expect(try await sites.world.simulator.journal("card", limit: 10_000).count == sent)
            try await sites.world.expectBooksAgree(sites.west)
        }
    }

    @Test func `what an asynchronous promotion lost is asked about before it is sent, and charged once`() async throws {
        let asynchronous: @Sendable (inout WorldSettings) -> Void = { settings in
            settings.contractLines = ["max_request_life: 7s", "clock_skew: 500ms"]
            settings.reconcileLines = ["send_within: 3s", "accept_one_phase_on_asynchronous_store: true"]
        }
        let site = "lease: 3s, replication: asynchronous"
        try await TwoSites.run(site, isSynchronous: false, asynchronous) { sites in
            try await sites.leaveStandbyBehind()
            let lost = try await sites.east.create(Bodies.card(700), key: "lost-1")
            #expect(lost.status == 201)
            try await sites.loseEast()

            let bare = try await sites.site(["promote", "--reason", "east is lost", "--by", "hana"])
            #expect(bare.status == 1, "\(bare.output)")
            for reason in ["not_leased", "not_synchronous"] { #expect(bare.output.contains(reason), "\(bare.output)") }
            let promoted = try await sites.site([
                "promote", "--reason", "east is lost", "--by", "hana", "--fenced-by", "the power is off",
                "--accept-data-loss", "the replica was behind", "--wait", "15s",
            ])
            #expect(promoted.status == 0, "\(promoted.output)")
            let row = TwoSites.json(promoted.output)
            let recoveries = row["recoveries"] as? [[String: Any]]
            #expect(recoveries?.first?["loss"] as? String == "asynchronous_promotion")
            #expect((row["term"] as? [String: Any])?["data_loss_accepted"] as? String == "the replica was behind")
            try await sites.untilActive(sites.west)
            #expect(try await sites.west.send(.get, "/v1/payments/\(lost.id)").status == 404)
            let authorized = try await sites.world.sends(.authorize, to: "card")
            // Its caller asks again, and gets the payment that the provider knows.
            let again = try await sites.west.create(Bodies.card(700), key: "lost-1", wait: 30)
            #expect(again.status == 201, "\(again.text)")
            #expect(again.state == "succeeded", "\(again.text)")
            #expect(again.id == lost.id)
            #expect(try await sites.world.sends(.authorize, to: "card") == authorized)
            try await sites.world.expectBooksAgree(sites.west)
        }
    }

    @Test func `a second person is asked for where the configuration says so`() async throws {
        let site = "lease: 3s, proof: standby, replication: synchronous, second_person: required"
        try await TwoSites.run(site) { sites in
            _ = try await sites.site(["drain"], atWest: false)
            try await Polling.until("the standby shows that it is drained") {
                TwoSites.json(try await sites.site(["status"]).output)["phase"] as? String == "drained"
            }
            let alone = try await sites.site(["promote", "--reason", "planned", "--by", "hana"])
            #expect(alone.status == 1 && alone.output.contains("second_person_missing"), "\(alone.output)")
            let same = try await sites.site(["promote", "--reason", "planned", "--by", "hana", "--approved-by", "hana"])
            #expect(same.status == 1 && same.output.contains("same_person"), "\(same.output)")
            let two = try await sites.site(["promote", "--reason", "planned", "--by", "hana", "--approved-by", "ken"])
            #expect(two.status == 0, "\(two.output)")
            #expect((TwoSites.json(two.output)["term"] as? [String: Any])?["approved_by"] as? String == "ken")
        }
    }

    @Test func `in the mode settle-only nothing new is taken, and what there is goes on`() async throws {
        try await TwoSites.run { sites in
            let held = try await sites.east.create(
                Bodies.payment([("card", 500)], capture: "manual"), key: "held-1")
            #expect(held.state == "authorized")
            #expect(try await sites.site(["mode", "settle-only"], atWest: false).status == 0)
            var tries = 0
            try await Polling.until("nothing new is taken") {
                tries += 1
                return try await sites.east.create(Bodies.card(), key: "early-\(tries)", wait: 0).status == 503
            }
            let refused = try await sites.east.create(Bodies.card(), key: "new-1", wait: 0)
            #expect((refused.json["detail"] as? String)?.contains("settle-only") == true, "\(refused.text)")
            let replay = try await sites.east.create(
                Bodies.payment([("card", 500)], capture: "manual"), key: "held-1")
            #expect(replay.body == held.body)
            let captured = try await sites.east.send(
                .post, "/v1/payments/\(held.id)/capture", key: "held-2", wait: 15)
            #expect(captured.state == "succeeded", "\(captured.text)")
            #expect(try await sites.site(["mode", "read-only"], atWest: false).status == 0)
            try await Polling.until("nothing is written") {
                try await sites.east.send(.post, "/v1/payments/\(held.id)/refunds", key: "held-3", wait: 0).status
                    == 503
            }
            #expect(try await sites.east.send(.get, "/v1/payments/\(held.id)").status == 200)
            #expect(try await sites.site(["mode", "full"], atWest: false).status == 0)
            try await Polling.until("new payments are taken") {
                try await sites.east.create(Bodies.card(), key: "new-1", wait: 5).status == 201
            }
        }
    }
}
