import Foundation
import HTTPTransport
import ProviderSimulator
import Testing

@Suite struct LifecycleTests {
    @Test func `told to stop, it takes in what is on the wire and leaves the rest durable`() async throws {
        var settings = WorldSettings()
        settings.waitForSlowAnswers()
        try await World.run(settings) { world, client in
            var slow = Fault(.slow)
            slow.delayMs = 1_000
            try world.simulator.order(FaultOrder(slow, operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(), key: "stop-1", wait: 0)
            #expect(created.status == 202)
            try await Polling.until("the request is on the wire") {
                try await world.sends(.authorize, to: "card") == 1
            }
            #expect(try await world.terminate() == 0)
            #expect(try await world.sends(.authorize, to: "card") == 1)
            let restarted = try await world.start()
            #expect(try await restarted.settled(created.id).state == "succeeded")
            #expect(try await world.sends(.authorize, to: "card") == 1)
            #expect(try await world.sends(.inquire, to: "card") == 0, "the outcome was taken in before the stop")
            try await world.expectBooksAgree(restarted)
        }
    }

    @Test func `a second daemon on one SQLite file is refused, and a killed one keeps nobody out`() async throws {
        try await World.run { world, client in
            await #expect(throws: DaemonProcess.NotStarted.self) { try await world.start(1) }
            #expect(await world.daemon(1)?.end == "status 3")
            #expect(world.log().contains("reconciled.sqlite: stop it, or give this one a file of its own"))
            #expect(try await client.create(Bodies.card(), key: "alone-1").state == "succeeded")
            let listed = try await world.command(["payments", "list"])
            #expect(listed.status == 0 && listed.output.contains("succeeded"), "\(listed.output)")
            await world.kill(0)
            let next = try await world.start(1)
            #expect(try await next.create(Bodies.card(), key: "alone-2").state == "succeeded")
        }
    }

    @Test func `probes, metrics and the operators' reads`() async throws {
        try await World.run { _, client in
            let created = try await client.create(Bodies.card(), key: "probe-1")
            var admin = client
            admin.token = nil
            for probe in ["/livez", "/readyz", "/startupz", "/activez"] {
                #expect(try await admin.send(.get, probe, admin: true).status == 200, "\(probe)")
            }
            let metrics = try await admin.send(.get, "/metrics", admin: true)
            #expect(metrics.text.contains("reconciled_attempts_total{"))
            #expect(metrics.text.hasSuffix("# EOF\n"))
            let lines = metrics.text.split(separator: "\n").map(String.init)
            let families = lines.filter { $0.hasPrefix("# TYPE ") }.map { $0.split(separator: " ")[2] }
            #expect(families.count > 20)
            for family in families {
                #expect(lines.contains { $0.hasPrefix("# HELP \(family) ") }, "\(family) says what it means")
            }
            // Before anything happened.
            #expect(lines.contains("reconciled_store_failures_total{code=\"full\"} 0"))
            #expect(lines.contains("reconciled_http_connections_ended_total{listener=\"operators\",reason=\"full\"} 0"))
            #expect(lines.contains("reconciled_operator_tokens_refused_total{reason=\"approval\"} 0"))
            #expect(lines.contains { $0.hasPrefix("reconciled_build_info{version=") && $0.hasSuffix("} 1") })
            func value(_ name: String) -> Double {
                lines.first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.flatMap { Double($0) } ?? -1
            }
            let asked = lines.filter { $0.hasPrefix("reconciled_http_requests_total{") && $0.contains("\"POST\"") }
            #expect(asked.count == 1 && asked[0].hasSuffix(" 1"), "one payment was asked for: \(asked)")
            #expect(value("process_resident_memory_bytes") > 1_000_000)
            #expect(value("process_open_fds") > 5 && value("process_open_fds") < value("process_max_fds"))
            let age = Date().timeIntervalSince1970 - value("process_start_time_seconds")
            #expect(age >= 0 && age < 60, "the process is \(age) s old")
            #expect(value("process_cpu_seconds_total") >= 0)
            #expect(try await admin.send(.get, "/v1/payments/\(created.id)", admin: true).status == 401)
            #expect(try await admin.metric("reconciled_operator_tokens_refused_total{reason=\"request\"}") == 1)
            admin.token = World.operatorToken
            #expect(try await admin.send(.get, "/v1/payments/\(created.id)", admin: true).id == created.id)
            #expect(try await client.send(.get, "/openapi.yaml").status == 200)
        }
    }

    @Test func `a configuration that is wrong stops the start with key, value and what is allowed`() async throws {
        try await World.run { world, _ in
            let broken = try String(contentsOf: world.configuration, encoding: .utf8)
                .replacingOccurrences(of: "lease: 1s", with: "lease: soon\n  leese: 2s")
            try broken.write(to: world.configuration, atomically: true, encoding: .utf8)
            let verdict = try await world.command(["check-config"])
            #expect(verdict.status == 2)
            #expect(verdict.output.contains("reconcile.lease: 'soon'; allowed: a duration"), "\(verdict.output)")
            #expect(verdict.output.contains("reconcile.leese: '(unknown key)'"), "\(verdict.output)")
        }
    }

    @Test func `no secret is in log, database or audit trail, and no instrument in log or trail`() async throws {
        try await World.run { world, client in
            let instrument = "tok_very_secret_instrument_987654"
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            let created = try await client.create(Bodies.card(instrument: instrument), key: "secret-1")
            #expect(created.state == "succeeded")
            let events = try await client.send(.get, "/v1/payments/\(created.id)/events")
            for text in [world.log(), events.text, created.text] {
                #expect(!text.contains(instrument))
                #expect(!text.contains(World.callerToken))
                #expect(!text.contains("provider-key:token:merchant"))
            }
            await world.kill()
            // What was written last is in the write-ahead log.
            let files = try FileManager.default.contentsOfDirectory(
                at: world.directory, includingPropertiesForKeys: nil
            ).filter { $0.lastPathComponent.hasPrefix("reconciled.sqlite") }
            let database = try files.map { try Data(contentsOf: $0) }.reduce(Data(), +)
            #expect(database.range(of: Data(instrument.utf8)) != nil, "what is stored is found")
            #expect(database.range(of: Data(World.callerToken.utf8)) == nil)
            #expect(database.range(of: Data("provider-key:token:merchant".utf8)) == nil)
        }
    }

    @Test func `a payment can be asked about now, by its caller and from the command line`() async throws {
        var settings = WorldSettings()
        settings.askOnceThenQuiet()
        try await World.run(settings) { world, client in
            try world.simulator.order(FaultOrder(Fault(.responseLost), operation: .authorize), at: "card")
            try world.simulator.order(FaultOrder(Fault(.errorBefore), operation: .inquire), at: "card")
            let created = try await client.create(Bodies.card(), key: "now-1", wait: 0)
            try await Polling.until("the next inquiry is an hour away") {
                let events = try await client.send(.get, "/v1/payments/\(created.id)/events?limit=200")
                return events.text.contains("\"type\":\"inquiry\"")
            }
            let now = try await client.send(.post, "/v1/payments/\(created.id)/reconcile", wait: 20)
            #expect(now.status == 200)
            #expect(now.state == "succeeded")
            let command = try await world.command(["payments", "reconcile", created.id])
            #expect(command.status == 0 && command.output.contains("nothing of it is undecided"), "\(command.output)")
            let shown = try await world.command(["payments", "show", created.id, "--output", "text"])
            #expect(shown.output.contains("succeeded"))
            #expect(shown.output.contains("concluded"))
            try await world.expectBooksAgree(client)
        }
    }
}
