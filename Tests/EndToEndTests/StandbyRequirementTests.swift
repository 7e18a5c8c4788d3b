import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// A database that stops waiting for its standby, under a daemon that counts on one, with a real pair of servers.
@Suite(.serialized) struct StandbyRequirementTests {
    private func run(
        _ requirement: String, _ body: @escaping @Sendable (World, APIClient, PostgresPair) async throws -> Void
    ) async throws {
        let pair = try await PostgresPair.start()
        do {
            var settings = WorldSettings()
            settings.store = .postgres(dsn: pair.primaryDSN, schema: "required")
            settings.requireStandby = requirement
            settings.logLevel = "info"
            try await World.run(settings) { world, client in try await body(world, client, pair) }
        } catch {
            try await pair.stop()
            throw error
        }
        try await pair.stop()
    }

    private func missing(_ client: APIClient) async throws -> String? {
        let text = try await client.send(.get, "/metrics", admin: true).text
        let line = text.split(separator: "\n").first { $0.hasPrefix("reconciled_standby_missing ") }
        return line.map { String($0.dropFirst("reconciled_standby_missing ".count)) }
    }

    /// As somebody does it by hand, and an HA manager does it by itself where it may.
    private func stopWaiting(_ pair: PostgresPair) async throws {
        try await pair.psql(on: .primary, "ALTER SYSTEM SET synchronous_standby_names = ''")
        try await pair.psql(on: .primary, "SELECT pg_reload_conf()")
    }

    private func waitAgain(_ pair: PostgresPair) async throws {
        try await pair.psql(on: .primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        try await pair.psql(on: .primary, "SELECT pg_reload_conf()")
        try await pair.untilSynchronous()
    }

    @Test func `refuse: callers come again until a standby confirms, and what was taken is finished`() async throws {
        try await run("refuse") { world, client, pair in
            #expect(try await client.create(Bodies.card(), key: "before-1").status == 201)
            #expect(try await missing(client) == "0")
            // In doubt when the standby goes.
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            let doubtful = try await client.create(Bodies.card(700), key: "doubt-1", wait: 0)
            #expect(doubtful.status == 202)
            try await stopWaiting(pair)
            try await Polling.until("the daemon notices") { try await missing(client) == "1" }
            let refused = try await client.create(Bodies.card(), key: "refused-1")
            #expect(refused.status == 503 && refused.fields["Retry-After"] != nil, "\(refused.text)")
            #expect(refused.text.contains("no synchronous standby confirms what is written"), "\(refused.text)")
            let path = "/v1/payments/\(doubtful.id)"
            let refund = try await client.send(.post, "\(path)/refunds", key: "refund-1")
            #expect(refund.status == 503, "\(refund.text)")
            try await Polling.until("what was taken is settled") {
                try await client.send(.get, path).state == "succeeded"
            }
            #expect(world.log().contains("acknowledged payments would be lost with it"))
            try await waitAgain(pair)
            try await Polling.until("the daemon notices") { try await missing(client) == "0" }
            #expect(try await client.create(Bodies.card(), key: "refused-1").status == 201)
        }
    }

    @Test func `warn: people are told, and callers are served`() async throws {
        try await run("warn") { world, client, pair in
            try await stopWaiting(pair)
            try await Polling.until("the daemon notices") { try await missing(client) == "1" }
            #expect(try await client.create(Bodies.card(), key: "served-1").status == 201)
            #expect(world.log().contains("require_standby=warn"))
        }
    }
}
