import ArgumentParser
import Foundation
import HTTPTransport
import ProgramEdge

/// `reconciled-lab demo`
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Sends payments through providers that misbehave, kills the daemon, and compares both ledgers.",
        discussion: """
            Starts the provider simulator and the daemon as processes of their own on SQLite, in a directory of the \
            run. Exits 1 if anybody is charged twice, a payment is lost or stays in doubt, the books differ from a \
            provider's ledger, or more is quarantined than the injected faults force.

            Examples:
              reconciled-lab demo
              reconciled-lab demo --payments 200 --kills 1 --seed 7 --keep
              reconciled-lab demo --adapter stripe
              reconciled-lab demo --stay --directory demo-run
            """)

    @OptionGroup var options: DemoOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let format = OutputFormat.chosen(output)
        let screen = Screen(isJSON: format == .json)
        let isOwn = options.directory == nil
        let url =
            options.directory.map { URL(fileURLWithPath: $0, isDirectory: true) }
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-demo-\(UUID().uuidString)")
        let directory = try RunDirectory(url, isForPeople: options.stay, adapter: options.adapter)
        let sender = CurlSender(
            configuration: CurlConfiguration(
                maximumConnections: options.concurrency + 32, http2: false, allowPlainHTTP: true))
        let site = try DemoSite(
            directory: directory, daemon: options.daemon.map { URL(fileURLWithPath: $0) },
            simulator: options.simulator.map { URL(fileURLWithPath: $0) }, sender: sender)
        let run = DemoRun(options: options, directory: directory, site: site, sender: sender, screen: screen)
        let result: Result<DemoReport?, any Error>
        do {
            result = .success(try await untilInterrupted { try await options.stay ? run.stay() : run.run() })
        } catch {
            result = .failure(error)
        }
        // Whatever happened: no child is left, and nobody waits for a socket.
        await site.close()
        await sender.shutdown(grace: .seconds(1))
        if case .success(let report?) = result, report.isGood, isOwn, !options.keep {
            try FileManager.default.removeItem(at: url)
        } else if !options.stay {
            screen.say(screen.faint("  configuration, databases and logs: \(url.path)"))
        }
        guard let report = try result.get() else { return }
        if format == .json {
            FileHandle.standardOutput.write(try DemoJSON.encode(report) + Data("\n".utf8))
        }
        if !report.isGood { throw ExitCode(CommandFailure.Code.finding.rawValue) }
    }

    /// Runs the body until it ends or somebody presses Ctrl-C.
    private func untilInterrupted(
        _ body: @escaping @Sendable () async throws -> DemoReport?
    ) async throws -> DemoReport? {
        let isExpected = options.stay
        return try await withThrowingTaskGroup(of: DemoReport?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                await TerminationSignal.wait()
                guard !isExpected, !Task.isCancelled else { return nil }
                throw CommandFailure(.unavailable, "interrupted; both programs are ended")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? nil
        }
    }
}

/// The options of `reconciled-lab demo`.
struct DemoOptions: ParsableArguments {
    @Option(help: "How many payments, 1 to 100000.") var payments = 2_000
    @Option(help: "How often the daemon is killed with SIGKILL on the way, 0 to 100.") var kills = 3
    @Option(help: "How many of a hundred provider calls are faulty, 0 to 50.") var faultPercent = 25
    @Option(help: "What chance depends on: the same seed gives the same payments and the same faults.")
    var seed: UInt64 = 1
    @Option(help: "How many customers pay at the same time, 1 to 512.") var concurrency = 32
    @Option(help: "How the providers are spoken to: reference, stripe, paypay or adyen.")
    var adapter = DemoAdapter.reference
    @Option(help: "Where to keep databases, configuration and logs (default: a temporary directory).")
    var directory: String?
    @Flag(help: "Keep the directory although everything went well.") var keep = false
    @Flag(help: "Send nothing and inject nothing: only start both programs, and stay until Ctrl-C.") var stay = false
    @Option(help: "The daemon's program (default: beside this one).") var daemon: String?
    @Option(help: "The provider simulator's program (default: beside this one).") var simulator: String?

    func validate() throws {
        func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws {
            guard !range.contains(value) else { return }
            throw ValidationError("--\(name): '\(value)'; allowed: \(range.lowerBound) to \(range.upperBound)")
        }
        try check("payments", payments, 1...100_000)
        try check("kills", kills, 0...100)
        try check("fault-percent", faultPercent, 0...50)
        try check("concurrency", concurrency, 1...512)
    }
}
