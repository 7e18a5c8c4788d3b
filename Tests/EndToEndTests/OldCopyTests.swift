import Foundation
import HTTPTransport
import PostgresServers
import Testing

/// A site whose database is as it was long ago is started by mistake, while the other one is active: with real daemons
/// and real servers.
@Suite(.serialized) struct OldCopyTests {
    /// A database of a first term that nobody ever followed with a lease, and whose site was replaced since.
    private static func withOldCopy(_ body: @Sendable (TwoSites) async throws -> Void) async throws {
        let site = "lease: 3s, proof: standby, replication: synchronous"
        let contracts: @Sendable (inout WorldSettings) -> Void = { settings in
            settings.contractLines = ["max_request_life: 7s", "clock_skew: 500ms"]
            settings.reconcileLines = ["send_within: 3s"]
        }
        try await TwoSites.run(site, isSynchronous: false, contracts) { sites in
            try await sites.untilActive(sites.east)
            try await sites.leaveStandbyBehind()
            try await Moment.come()
            await sites.world.kill(0)
            try await sites.pair.stopPrimary()
            let promoted = try await sites.site([
                "promote", "--reason", "east is lost", "--by", "hana", "--fenced-by", "the power is off",
                "--accept-data-loss", "the replica was behind", "--accept-contracts", "a test", "--wait", "15s",
            ])
            #expect(promoted.status == 0, "\(promoted.output)")
            try await sites.untilActive(sites.west)
            try await sites.pair.restartPrimary()
            let row = try await sites.pair.psql(
                on: .primary, "SELECT epoch, site, phase, lease_until IS NULL FROM reconciled.site_state")
            #expect(row == "1|east|active|t", "what an old copy says: \(row)")
            try await body(sites)
        }
    }

    /// That a site is not active, for longer than a lease; returns why.
    private static func staysOut(_ client: APIClient, _ sites: TwoSites) async throws -> String {
        let end = ContinuousClock.now + .seconds(5)
        var reason = ""
        while ContinuousClock.now < end {
            let answer = try await client.send(.get, "/activez?verbose", admin: true)
            #expect(answer.status == 503, "\(answer.text)")
            reason = answer.text
            try await Polling.hold(for: .milliseconds(100))
        }
        return reason
    }

    @Test func `an old copy beside the active site does not act, and names it`() async throws {
        try await Self.withOldCopy { sites in
            let east = try await sites.restartEast()
            let reason = try await Self.staysOut(east, sites)
            #expect(reason.contains("site west is active, in term 2"), "\(reason)")
            let refused = try await east.create(Bodies.card(900), key: "old-1")
            #expect(refused.status == 503, "\(refused.text)")
            #expect((refused.json["active_site"] as? [String: Any])?["name"] as? String == "west")
            #expect(try await sites.isActive(sites.west))
            let new = try await sites.west.create(Bodies.card(900), key: "new-1", wait: 30)
            #expect(new.status == 201, "\(new.text)")
        }
    }

    @Test func `an old copy does not act while the other site is silent, until people say what keeps it down`()
        async throws
    {
        try await Self.withOldCopy { sites in
            try await Moment.come()
            sites.killWest()
            let east = try await sites.restartEast(", resume_alone_within: 0s")
            let reason = try await Self.staysOut(east, sites)
            #expect(reason.contains("may be an old copy"), "\(reason)")
            let promoted = try await sites.site(
                ["promote", "--reason", "west is lost for good", "--by", "hana", "--fenced-by", "its power is off"],
                atWest: false)
            #expect(promoted.status == 0, "\(promoted.output)")
            try await sites.untilActive(east)
            // Its pods are replaced: what people said is in the term.
            await sites.world.kill(0)
            try await sites.untilActive(try await sites.world.start(0))
        }
    }
}
