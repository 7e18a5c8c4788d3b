import Foundation
import PostgresServers
import ProviderSimulator
import Testing
import WitnessServers

/// Two sites whose right to act is kept in a third place, with real daemons and real servers.
@Suite(.serialized) struct WitnessTests {
    /// A witness of its own for each test.
    private struct Place {
        let server: PostgresServer
        let schema: String

        static func with(_ body: @Sendable (Place, TwoSites) async throws -> Void) async throws {
            let server = try await PostgresServer.shared()
            let database = Place(server: server, schema: server.uniqueSchema())
            let witness = "witness: {url: 'postgres:\(server.dsn())', schema: \(database.schema)}"
            try await TwoSites.run("lease: 3s, proof: postgres, replication: synchronous, \(witness)") { sites in
                try await sites.untilActive(sites.east)
                try await body(database, sites)
            }
            try await database.wipe()
        }

        func wipe() async throws { _ = try await server.psql("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
    }

    private static func found(_ sites: TwoSites) async throws {
        let founded = try await sites.site(["found-witness", "--by", "hana"], atWest: false)
        #expect(founded.status == 0, "\(founded.output)")
        let identity = try #require(TwoSites.json(founded.output)["witness"] as? String)
        #expect(identity.hasPrefix("wit_"))
        try await Polling.until("the standby knows the witness") {
            TwoSites.json(try await sites.site(["status"]).output)["witness"] as? String == identity
        }
        let again = try await sites.site(["found-witness", "--by", "hana"], atWest: false)
        #expect(again.status == 0 && TwoSites.json(again.output)["witness"] as? String == identity, "\(again.output)")
    }

    @Test func `a witness proves something once it was founded, and the site that it gave no right to stops`()
        async throws
    {
        try await Place.with { _, sites in
            try await sites.loseEast()
            let early = try await sites.site(["promote", "--reason", "east is lost", "--by", "hana"])
            #expect(early.status == 1 && early.output.contains("witness_proves_nothing"), "\(early.output)")
        }
        try await Place.with { _, sites in
            try await Self.found(sites)
            let created = try await sites.east.create(Bodies.card(), key: "before-1")
            #expect(created.status == 201)
            try await sites.loseEast()
            let promoted = try await sites.site([
                "promote", "--reason", "east is lost", "--by", "hana", "--wait", "30s",
            ])
            #expect(promoted.status == 0, "\(promoted.output)")
            try await sites.untilActive(sites.west)
            try await sites.world.expectBooksAgree(sites.west)
        }
    }

    @Test func `an empty witness gives nobody a right, until it is founded anew in words`() async throws {
        try await Place.with { database, sites in
            try await Self.found(sites)
            try await database.wipe()
            let promoted = try await sites.site(["promote", "--reason", "east is lost", "--by", "hana"])
            #expect(promoted.status == 1 && promoted.output.contains("witness_proves_nothing"), "\(promoted.output)")
            try await sites.untilActive(sites.east, false)
            #expect(try await !sites.isActive(sites.west))
            let bare = try await sites.site(["found-witness", "--by", "hana"], atWest: false)
            #expect(bare.status == 1 && bare.output.contains("--fenced-by"), "\(bare.output)")
            let elsewhere = try await sites.site(["found-witness", "--by", "hana", "--fenced-by", "it is off"])
            #expect(elsewhere.status == 1 && elsewhere.output.contains("not active"), "\(elsewhere.output)")
            let founded = try await sites.site(
                ["found-witness", "--by", "hana", "--fenced-by", "west follows"], atWest: false)
            #expect(founded.status == 0, "\(founded.output)")
            try await sites.untilActive(sites.east)
            let created = try await sites.east.create(Bodies.card(), key: "after-1")
            #expect(created.status == 201, "\(created.text)")
        }
    }

    @Test func `a Lease of a third cluster is a witness as a database is`() async throws {
        try await LeaseServer.run { server, url in
            let token = FileManager.default.temporaryDirectory.appendingPathComponent("lease-\(UUID().uuidString)")
            try Data(LeaseServer.token.utf8).write(to: token)
            defer { try? FileManager.default.removeItem(at: token) }
            let witness =
                "witness: {url: '\(url)', allow_plain_http: true, namespace: payments, token_file: '\(token.path)'}"
            try await TwoSites.run("lease: 3s, proof: kubernetes, replication: synchronous, \(witness)") { sites in
                try await sites.untilActive(sites.east)
                try await Self.found(sites)
                let created = try await sites.east.create(Bodies.card(), key: "before-1")
                #expect(created.status == 201)
                // Somebody deletes it, and applies its manifest again: nobody has a right until it is founded in words.
                let kept = server.lease
                server.lease = LeaseServer.Lease(resourceVersion: 9_000)
                try await sites.untilActive(sites.east, false)
                let wiped = try await sites.site(["promote", "--reason", "east is silent", "--by", "hana"])
                #expect(wiped.status == 1 && wiped.output.contains("witness_proves_nothing"), "\(wiped.output)")
                server.lease = kept
                try await sites.untilActive(sites.east)
                try await sites.loseEast()
                let promoted = try await sites.site([
                    "promote", "--reason", "east is lost", "--by", "hana", "--wait", "30s",
                ])
                #expect(promoted.status == 0, "\(promoted.output)")
                try await sites.untilActive(sites.west)
                #expect(server.lease?.spec["holderIdentity"] == "west")
                try await sites.world.expectBooksAgree(sites.west)
            }
        }
    }

    @Test func `a right that was taken for a term that never began locks nobody out`() async throws {
        try await Place.with { database, sites in
            try await Self.found(sites)
            // Somebody promoted the other site, and was killed after the witness gave it the right.
            let taken = "UPDATE \(database.schema).site_right SET epoch = 2, site = 'west', until = until + 1000"
            _ = try await database.server.psql(taken)
            try await sites.untilActive(sites.east, false)
            let bare = try await sites.site(["promote", "--reason", "nobody is active", "--by", "hana"], atWest: false)
            #expect(bare.status == 1 && bare.output.contains("already_active"), "\(bare.output)")
            let promoted = try await sites.site(
                ["promote", "--reason", "nobody is active", "--by", "hana", "--fenced-by", "west follows"],
                atWest: false)
            #expect(promoted.status == 0, "\(promoted.output)")
            #expect(TwoSites.json(promoted.output)["epoch"] as? Int == 3)
            try await sites.untilActive(sites.east)
            let created = try await sites.east.create(Bodies.card(), key: "after-1")
            #expect(created.status == 201, "\(created.text)")
        }
    }
}
