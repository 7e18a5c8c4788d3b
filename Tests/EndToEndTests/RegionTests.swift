import Foundation
import HTTPTransport
import PaymentCore
import ProviderSimulator
import Testing

/// A provider with two regions that share no keys, and a daemon that is moved from one to the other.
@Suite struct RegionTests {
    private static func settings(_ wire: ProviderConfiguration.Wire) -> WorldSettings {
        var settings = WorldSettings()
        settings.wire = wire
        settings.reconcileLines = ["allow_plug: true"]
        return settings
    }

    /// Runs a body beside a second region; it gets the region's ledgers, and the configuration that names it.
    private func withOtherRegion(
        _ settings: WorldSettings, _ world: World, _ body: @Sendable (SimulatorControl, String) async throws -> Void
    ) async throws {
        let directory = world.directory.appendingPathComponent("other-region")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let server = try ProviderSimulatorServer(settings.simulator(in: directory))
        try await server.whileRunning { port in
            try await body(server.control, settings.yaml(port: port, directory: world.directory))
        }
    }

    private func write(_ text: String, _ world: World) throws {
        try text.write(to: world.configuration, atomically: true, encoding: .utf8)
    }

    private func body(_ wire: ProviderConfiguration.Wire) -> String {
        wire == .adyen
            ? Bodies.payment([("card", 1_200)], instruments: ["shopper-1:card-0001"])
            : Bodies.payment([("card", 1_200)])
    }

    private static let missing = "reconciled_provider_missing_total{provider=\"card\",reason=\"other_key_space\"}"

    @Test(arguments: [ProviderConfiguration.Wire.reference, .adyen])
    func `a charge in doubt is neither repeated nor denied in another region, and ends in its own`(
        wire: ProviderConfiguration.Wire
    ) async throws {
        let settings = Self.settings(wire)
        try await World.run(settings, failpoint: "after-call:authorize") { world, client in
            let home = try String(contentsOf: world.configuration, encoding: .utf8)
            _ = try? await client.create(body(wire), key: "region-1")
            try await world.diedByItself()
            let charged = try await world.simulator.ledger("card").transactions
            try #require(charged.map(\.held) == [1_200], "the hold stands in the first region")
            try await withOtherRegion(settings, world) { other, moved in
                try write(moved, world)
                let there = try await world.start()
                let repeated = try await there.create(body(wire), key: "region-1", wait: 3)
                #expect(repeated.status == 202 && repeated.state == "processing", "\(repeated.text)")
                try await Polling.until("people are told") {
                    try await there.metric(Self.missing) > 0
                }
                #expect(try await other.journal("card", limit: 1_000).isEmpty, "nobody was asked, nothing was sent")
                let explained = try await world.command(["payments", "explain", repeated.id, "--output", "text"])
                #expect(explained.output.contains("key space"), "\(explained.output)")
                // A new payment is nobody's business in the first region.
                let fresh = try await there.create(body(wire), key: "region-2", wait: 3)
                #expect(fresh.status < 300, "\(fresh.text)")
                #expect(try await other.ledger("card").transactions.count == 1)
                await world.kill()
            }
            try write(home, world)
            let back = try await world.start()
            let id = PaymentID(caller: try CallerID("shop"), key: try IdempotencyKey("region-1")).text
            try await Polling.until("the payment ends", within: .seconds(60)) {
                for notice in try await world.simulator.notices(at: "card") where wire == .adyen {
                    _ = try await back.send(.post, "/v1/providers/card/notifications", body: notice.body)
                }
                return try await back.send(.get, "/v1/payments/\(id)").state == "succeeded"
            }
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
        }
    }

    @Test func `where a region is lost, two people say what it did, and nothing is sent`() async throws {
        var settings = Self.settings(.reference)
        settings.contractLines = ["max_request_life: 7s", "clock_skew: 500ms"]
        settings.reconcileLines = ["send_within: 3s"]
        // So that a version that was read is the newest.
        settings.inquirySchedule = "100ms, 1h"
        try await World.run(settings, failpoint: "after-call:authorize") { [settings] world, client in
            _ = try? await client.create(body(.reference), key: "region-1")
            try await world.diedByItself()
            try await withOtherRegion(settings, world) { other, moved in
                try write(moved, world)
                let there = try await world.start()
                let desk = try RepairDesk(world)
                let waits = try await there.create(body(.reference), key: "region-1", wait: 1)
                #expect(waits.state == "processing", "\(waits.text)")
                let explained = try await world.command(["payments", "explain", waits.id, "--output", "text"])
                #expect(explained.output.contains("lost for good"), "\(explained.output)")
                let evidence = ["--evidence", "Their books of the lost region.", "--reference", "W-17"]
                var said = ["propose", waits.id, "--action", "resume", "--version", "0"] + evidence
                said[5] = try await there.version(of: waits.id)
                let resumed = try await desk.run(said, as: desk.onCall, at: there)
                #expect(resumed.status == 1 && resumed.output.contains("Allowed: charged, "), "\(resumed.output)")
                // What may still arrive there is nobody's to judge.
                try await Polling.until("no request of ours can arrive any more", within: .seconds(30)) {
                    said[3] = "never_charged"
                    said[5] = try await there.version(of: waits.id)
                    let proposed = try await desk.run(said, as: desk.onCall, at: there)
                    guard proposed.status == 0 else { return false }
                    let id = try RepairDesk.identifier(proposed.output)
                    let rejected = ["reject", id, "--reason", "It was charged."]
                    return try await desk.run(rejected, as: desk.ken, at: there).status == 0
                }
                try await desk.repair(
                    waits.id, "charged", ["--reference", "W-17", "--amount", "1200", "--currency", "JPY"], at: there)
                #expect(try await there.settled(waits.id).state == "succeeded")
                #expect(try await other.journal("card", limit: 1_000).isEmpty, "nobody was asked, nothing was sent")
                #expect(try await world.sends(.authorize, to: "card") == 1)
                let verdict = try await world.command(["payments", "verify"])
                #expect(verdict.status == 0, "\(verdict.output)")
            }
        }
    }

    @Test func `where both addresses share their keys, one line says so and the payment goes on`() async throws {
        try await World.run(Self.settings(.reference), failpoint: "after-call:authorize") { world, client in
            _ = try? await client.create(body(.reference), key: "region-1")
            try await world.diedByItself()
            // The same provider under another name.
            let home = try String(contentsOf: world.configuration, encoding: .utf8)
            let renamed = home.replacing("http://127.0.0.1:", with: "http://localhost:")
            try write(renamed, world)
            let there = try await world.start()
            let waits = try await there.create(body(.reference), key: "region-1", wait: 2)
            #expect(waits.state == "processing", "\(waits.text)")
            await world.kill()
            let port = world.simulatorPort
            try write(
                renamed.replacing(
                    "    allow_plain_http: true", with: "    allow_plain_http: true\n    key_space: 127.0.0.1:\(port)"),
                world)
            let shared = try await world.start()
            #expect(try await shared.settled(waits.id).state == "succeeded")
            #expect(try await world.simulator.ledger("card").transactions.map(\.net) == [1_200])
            #expect(try await world.sends(.authorize, to: "card") == 1)
        }
    }
}
