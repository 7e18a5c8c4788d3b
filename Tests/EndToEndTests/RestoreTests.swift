import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// A real daemon on a database that was restored from a backup: what it says of its rows decides whether they are
/// believed.
@Suite(.serialized) struct RestoreTests {
    /// A world on a database whose backup lacks two payments that were acknowledged, restored, without a daemon.
    private struct Restored: Sendable {
        let world: World
        /// The payment whose caller comes again.
        let repeated: APIClient.Answer
        /// The newest request of each provider before the restore.
        let before: Int64

        static func run(_ body: @Sendable (Restored) async throws -> Void) async throws {
            let server = try await PostgresServer.shared()
            let schema = server.uniqueSchema()
            var settings = WorldSettings()
            settings.store = .postgres(dsn: server.dsn(), schema: schema)
            settings.site = "name: east, callers_repeat_for: 20s"
            settings.contractLines = ["max_request_life: 5s", "clock_skew: 500ms"]
            settings.reconcileLines = ["send_within: 1s", "accept_one_phase_on_asynchronous_store: true"]
            settings.comparison =
                "{window: 1h, settle_delay: 0s, ask_again_after: 1s, policy: {orphan: undo after 0s}}"
            settings.logLevel = "info"
            try await World.run(settings) { world, client in
                #expect(try await client.create(Bodies.card(), key: "known-1").status == 201)
                let backup = try await server.backUp(schema: schema)
                let repeated = try await client.create(Bodies.card(700), key: "lost-1")
                #expect(repeated.status == 201)
                #expect(try await client.create(Bodies.card(900), key: "lost-2").status == 201)
                await world.kill()
                try await server.restore(schema: schema, from: backup)
                let before = try await world.simulator.journal("card", limit: 10_000).map(\.id).max() ?? 0
                try await body(Restored(world: world, repeated: repeated, before: before))
            }
        }

        /// What was asked of the provider since the restore about the payment of an amount, in order.
        func requests(about amount: Int64) async throws -> [ProviderSimulator.Operation] {
            let keys = try await world.simulator.ledger("card").transactions.filter { $0.net == amount }
                .map(\.key)
            let asked = try await world.simulator.journal("card", after: before, limit: 10_000)
            return asked.filter { keys.contains($0.key) && $0.origin == .client }.map(\.operation)
        }
    }

    private static func recoveries(_ world: World) async throws -> [[String: Any]] {
        TwoSites.json(try await world.command(["site", "status"]).output)["recoveries"] as? [[String: Any]] ?? []
    }

    @Test
    func `with the word that it was restored everything is asked about before it is sent, and orphans are undone`()
        async throws
    {
        try await Restored.run { restored in
            let world = restored.world
            let promote = ["site", "promote", "--restored-from-backup", "--reason", "tables were lost", "--by", "hana"]
            let bare = try await world.command(promote)
            #expect(bare.status == 1 && bare.output.contains("restore_not_fenced"), "\(bare.output)")
            let promoted = try await world.command(promote + ["--fenced-by", "the only daemon was killed"])
            #expect(promoted.status == 0, "\(promoted.output)")
            let row = TwoSites.json(promoted.output)
            #expect((row["term"] as? [String: Any])?["beginning"] as? String == "restore")
            #expect((row["recoveries"] as? [[String: Any]])?.first?["loss"] as? String == "restore")

            let client = try await world.start()
            #expect(try await client.send(.get, "/v1/payments/\(restored.repeated.id)").status == 404)
            // Its caller comes again; what the provider says counts only once no lost request can be executed any more.
            let began = ContinuousClock.now
            let again = try await client.create(Bodies.card(700), key: "lost-1", wait: 30)
            #expect(again.status == 201 && again.state == "succeeded", "\(again.text)")
            #expect(again.id == restored.repeated.id)
            #expect(ContinuousClock.now - began > .seconds(2), "it did not wait for the end of lost requests")
            let asked = try await restored.requests(about: 700)
            #expect(asked.first == .inquire && !asked.contains(.authorize) && !asked.contains(.capture), "\(asked)")
            // So is what was never asked for before.
            let new = try await client.create(Bodies.card(500), key: "new-1", wait: 30)
            #expect(new.state == "succeeded", "\(new.text)")
            let first = try await restored.requests(about: 500)
            #expect(first.first == .inquire && first.contains(.authorize), "\(first)")

            // Nobody comes again for the other; it is found by the comparison, and undone.
            try await Polling.until("the loss is closed", within: .seconds(90)) {
                try await Self.recoveries(world).isEmpty
            }
            let ledger = try await world.simulator.ledger("card")
            let kept = ledger.transactions.map(\.net).filter { $0 != 0 }
            #expect(Set(kept) == [1200, 700, 500] && kept.count == 3, "\(kept)")
            #expect(ledger.chargedTwice.isEmpty)
            try await world.expectBooksAgree(client)
            // The window is over, and rows are believed again.
            var tries = 0
            try await Polling.until("what is new is sent without a question") {
                tries += 1
                let later = try await client.create(Bodies.card(300 + tries), key: "later-\(tries)", wait: 20)
                #expect(later.state == "succeeded", "\(later.text)")
                return try await restored.requests(about: Int64(300 + tries)).first == .authorize
            }
        }
    }

    @Test
    func `without it the rows are believed: it is sent at once, and only the key keeps it from being charged again`()
        async throws
    {
        try await Restored.run { restored in
            let client = try await restored.world.start()
            #expect(try await Self.recoveries(restored.world).isEmpty)
            let again = try await client.create(Bodies.card(700), key: "lost-1", wait: 30)
            #expect(again.state == "succeeded" && again.id == restored.repeated.id, "\(again.text)")
            #expect(try await restored.requests(about: 700).first == .authorize)
            #expect(try await restored.world.simulator.ledger("card").chargedTwice.isEmpty)
        }
    }
}
