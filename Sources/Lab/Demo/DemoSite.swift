import Foundation
import HTTPTransport
import ProgramEdge

/// The two programs of the demo, started and killed as processes of their own.
actor DemoSite {
    private let directory: RunDirectory
    private let daemonProgram: URL
    private let simulatorProgram: URL
    private let sender: any HTTPSender
    private var daemon: ChildProgram?
    private var simulator: ChildProgram?
    /// No program may start any more.
    private var isClosed = false
    /// The daemon is down on purpose.
    private var isCrashing = false

    init(directory: RunDirectory, daemon: URL?, simulator: URL?, sender: any HTTPSender) throws {
        self.directory = directory
        self.sender = sender
        daemonProgram = try daemon ?? ChildProgram.sibling("reconciled", option: "daemon")
        simulatorProgram = try simulator ?? ChildProgram.sibling("provider-simulator", option: "simulator")
    }

    /// Starts both and waits until they answer.
    func start() async throws {
        let simulator = try ChildProgram(
            simulatorProgram,
            ["serve", "--config", directory.simulatorConfiguration.path, "--port", String(directory.simulatorPort)],
            environment: directory.environment, log: directory.simulatorLog)
        self.simulator = simulator
        try await waitUntilReady(
            simulator, "http://127.0.0.1:\(directory.simulatorPort)/_control/health")
        _ = try await startDaemon()
    }

    /// Kills the daemon as a power cut would, and starts it again.
    /// - Returns: the time from the kill until it was ready for work again.
    func crashDaemon() async throws -> Duration {
        guard let daemon, daemon.isRunning else { throw ended(daemon) }
        isCrashing = true
        defer { isCrashing = false }
        let start = ContinuousClock.now
        await daemon.kill()
        return try await startDaemon(since: start)
    }

    private func startDaemon(since start: ContinuousClock.Instant = .now) async throws -> Duration {
        guard !isClosed else { throw CancellationError() }
        let daemon = try ChildProgram(
            daemonProgram, ["serve", "--config", directory.configuration.path],
            environment: directory.environment, log: directory.daemonLog)
        self.daemon = daemon
        try await waitUntilReady(daemon, "http://127.0.0.1:\(directory.adminPort)/readyz")
        return ContinuousClock.now - start
    }

    /// Throws if a program that should be running is not.
    func checkAlive() throws {
        if let simulator, !simulator.isRunning { throw ended(simulator) }
        if let daemon, !daemon.isRunning, !isCrashing { throw ended(daemon) }
    }

    /// Ends the daemon; what it wrote stays readable.
    func stopDaemon() async {
        await daemon?.stop()
        daemon = nil
    }

    /// Ends everything, whatever state it is in.
    func close() async {
        isClosed = true
        await stopDaemon()
        await simulator?.stop()
        simulator = nil
    }

    /// Runs a command of the daemon's program on the run's books.
    /// - Returns: whether it ended with 0, and what it printed.
    func run(_ arguments: [String], log: URL) async throws -> (isGood: Bool, output: String) {
        let program = try ChildProgram(
            daemonProgram, arguments + ["--config", directory.configuration.path],
            environment: directory.environment, log: log)
        let status = try await program.end()
        return (status == 0, program.lastWords(lines: 20))
    }

    private func waitUntilReady(_ program: ChildProgram, _ url: String) async throws {
        let limits = TimeLimits(connect: .seconds(1), firstByte: .seconds(2), total: .seconds(2))
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            guard program.isRunning else { throw ended(program) }
            do throws(TransportFailure) {
                let request = HTTPRequest(method: .get, url: url, limits: limits, label: "ready")
                if try await sender.send(request).status == 200 { return }
            } catch {
                // Not listening yet.
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw CommandFailure(.unavailable, "\(program.name) was not ready within 30 s:\n\(program.lastWords())")
    }

    private func ended(_ program: ChildProgram?) -> CommandFailure {
        CommandFailure(
            .unavailable, "\(program?.name ?? "a program") ended by itself:\n\(program?.lastWords() ?? "")")
    }
}
