import Foundation
import ProviderSimulator
import Testing

/// `reconciled probe` against a simulated provider.
@Suite struct ProbeCommandTests {
    private static let instruments = [
        "--amount", "400", "--currency", "JPY", "--instrument", "tok_probe_0001", "--declined-instrument",
        "decline-0001",
    ]

    private func settings() -> WorldSettings {
        var settings = WorldSettings()
        // A busy machine answers late, and what is not answered cannot be measured.
        settings.firstByte = "8s"
        settings.total = "9s"
        return settings
    }

    /// Runs it without holding up what else runs: it takes many seconds.
    private func probe(_ options: [String], _ world: World) async throws -> (status: Int32, output: String) {
        let process = try start(options, world)
        try await Polling.until("the probe ends", within: .seconds(240)) { !process.isRunning }
        let output = try String(contentsOf: world.directory.appendingPathComponent("probe.out"), encoding: .utf8)
        return (process.terminationStatus, output)
    }

    private func start(_ options: [String], _ world: World) throws -> Process {
        let file = world.directory.appendingPathComponent("probe.out")
        try Data().write(to: file)
        let output = try FileHandle(forWritingTo: file)
        let process = Process()
        process.executableURL = try DaemonProcess.program()
        process.arguments = ["probe"] + options + Self.instruments + ["--config", world.configuration.path]
        process.environment = DaemonProcess.environment
        process.standardOutput = output
        process.standardError = output
        try process.run()
        return process
    }

    private func isGivenBack(_ world: World, _ provider: String) async throws -> Bool {
        let totals = try await world.simulator.ledger(provider).totals
        return !totals.isEmpty && totals.allSatisfy { $0.net == 0 && $0.held == 0 }
    }

    @Test func `a contract that is kept is confirmed, and everything is given back`() async throws {
        try await World.run(settings()) { world, _ in
            let file = world.directory.appendingPathComponent("contract.yaml")
            let probe = try await self.probe(
                ["--provider", "card", "--sandbox", "--output", "text", "--write", file.path], world)
            #expect(probe.status == 0, "\(probe.output)")
            #expect(probe.output.contains("everything was given back"), "\(probe.output)")
            #expect(probe.output.contains("cancel                confirmed    tombstoning"), "\(probe.output)")
            #expect(probe.output.contains("not measured: it lies further off than a probe waits"), "\(probe.output)")
            #expect(try await isGivenBack(world, "card"))
            // What was written is a contract that the daemon reads.
            let written = try String(contentsOf: file, encoding: .utf8)
            #expect(written.contains("cancel: tombstoning  # measured"), "\(written)")
            #expect(written.contains("cancel_deadline: forever  # trusted"), "\(written)")
            #expect(!written.contains("endpoint_requests_per_second"), "\(written)")
            let tried = try await world.command(
                ["payments", "explain", "--what-if", file.path, "--provider", "card", "--output", "text"])
            #expect(tried.status == 0, "\(tried.output)")
        }
    }

    @Test func `a rate of each endpoint is measured, and shown by its whole name`() async throws {
        var settings = settings()
        settings.contractLines += ["endpoint_requests_per_second: 9"]
        try await World.run(settings) { world, _ in
            let file = world.directory.appendingPathComponent("contract.yaml")
            let probe = try await self.probe(
                [
                    "--provider", "card", "--sandbox", "--only", "rate", "--highest-rate", "5", "--output", "text",
                    "--write", file.path,
                ], world)
            #expect(probe.status == 0, "\(probe.output)")
            let name = "endpoint_requests_per_second"
            #expect(probe.output.contains("\(name)  trusted      9; seen so far: 5"), "\(probe.output)")
            #expect(try String(contentsOf: file, encoding: .utf8).contains("\n\(name): 9  # trusted"))
        }
    }

    @Test func `a contract that claims more than is kept ends with 1, and says what`() async throws {
        var settings = settings()
        settings.simulated.tombstoning = false
        settings.simulated.notAfterEnforced = false
        try await World.run(settings) { world, _ in
            let probe = try await self.probe(
                [
                    "--provider", "card", "--sandbox", "--only", "cancels", "--only", "not_after", "--output", "json",
                ], world)
            #expect(probe.status == 1, "\(probe.output)")
            #expect(
                probe.output.contains("the configured contract claims what was not seen: cancel, enforces_not_after"),
                "\(probe.output)")
            let line = probe.output.split(separator: "\n").first { $0.contains(#""property":"cancel""#) }
            let finding = try JSONSerialization.jsonObject(with: Data((line ?? "").utf8)) as? [String: Any]
            #expect(finding?["verdict"] as? String == "contradicted", "\(probe.output)")
            #expect(finding?["seen"] as? String == "only_if_present", "\(probe.output)")
            #expect(finding?["configured"] as? String == "tombstoning", "\(probe.output)")
            #expect(try await isGivenBack(world, "card"))
        }
    }

    @Test func `a probe that is killed is undone by its name`() async throws {
        try await World.run(settings()) { world, _ in
            let process = try start(["--provider", "card", "--sandbox", "--run", "killed"], world)
            try await Polling.until("the probe took something", within: .seconds(60)) {
                try await world.simulator.ledger("card").totals.contains { $0.held > 0 }
            }
            kill(process.processIdentifier, SIGKILL)
            try await Polling.until("it is gone", within: .seconds(60)) { !process.isRunning }
            #expect(try await !isGivenBack(world, "card"))
            let undone = try await probe(["--provider", "card", "--sandbox", "--undo", "killed"], world)
            #expect(undone.status == 0, "\(undone.output)")
            #expect(try await isGivenBack(world, "card"))
        }
    }

    @Test(arguments: [
        (["--provider", "card"], "--sandbox is missing"),
        (["--provider", "card", "--sandbox", "--only", "all"], "--only: 'all'; allowed: reads, keys, cancels"),
        (["--provider", "bank", "--sandbox"], "--provider: 'bank'; allowed: card, points, balance"),
        (["--provider", "card", "--sandbox", "--run", "A"], "allowed: 1 to 32 of a-z, 0-9 and -"),
        (["--provider", "card", "--sandbox", "--wait", "1"], "--wait: '1'; allowed: a duration such as"),
        (["--provider", "card", "--sandbox", "--highest-rate", "0"], "--highest-rate: '0'; allowed: 1 to 1000"),
    ])
    func `what makes no sense is refused before anything is sent`(options: [String], words: String) async throws {
        try await World.run(settings()) { world, _ in
            let probe = try await self.probe(options, world)
            #expect(probe.status == 2 && probe.output.contains(words), "\(probe.output)")
            #expect(try await world.simulator.journal("card").isEmpty)
        }
    }
}
