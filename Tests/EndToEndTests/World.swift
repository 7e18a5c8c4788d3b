import Crypto
import Foundation
import PaymentCore
import ProviderSimulator
import Testing

/// A simulator in this process, the real daemon as a process of its own, and a caller.
final class World: Sendable {
    let simulator: SimulatorControl
    let directory: URL
    let configuration: URL
    private let daemonSlot: DaemonSlot

    static let callerToken = "caller-token-of-the-tests"
    static let otherCallerToken = "other-token-of-the-tests"
    static let operatorToken = "operator-token-of-the-tests"

    private init(simulator: SimulatorControl, directory: URL, configuration: URL) {
        self.simulator = simulator
        self.directory = directory
        self.configuration = configuration
        daemonSlot = DaemonSlot()
    }

    /// Runs a body with a simulator of the providers card, points (two-phase) and balance (one-phase), and a daemon.
    static func run(
        _ settings: WorldSettings = WorldSettings(), failpoint: String? = nil,
        _ body: @Sendable (World, APIClient) async throws -> Void
    ) async throws {
        await Places.shared.enter()
        do {
            try await runInItsPlace(settings, failpoint: failpoint, body)
        } catch {
            await Places.shared.leave()
            throw error
        }
        await Places.shared.leave()
    }

    private static func runInItsPlace(
        _ settings: WorldSettings, failpoint: String?, _ body: @Sendable (World, APIClient) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let names = ["card", "points", "balance"]
        var simulated = SimulatorConfiguration(
            providers: names.map { name in
                var provider = ProviderConfiguration(name)
                provider.token = "provider-token"
                provider.contract = settings.simulated
                return provider
            })
        simulated.database = directory.appendingPathComponent("simulator.sqlite").path
        let server = try ProviderSimulatorServer(simulated)
        try await server.whileRunning { port in
            let file = directory.appendingPathComponent("reconciled.yaml")
            try settings.yaml(port: port, directory: directory).write(to: file, atomically: true, encoding: .utf8)
            let world = World(simulator: server.control, directory: directory, configuration: file)
            let client = try await world.start(failpoint: failpoint)
            do {
                try await body(world, client)
            } catch {
                await world.daemonSlot.killAll()
                Issue.record("daemon log:\n\(world.log().suffix(6_000))")
                throw error
            }
            await world.daemonSlot.killAll()
        }
        try FileManager.default.removeItem(at: directory)
    }

    /// Starts a daemon; the caller's API is usable when this returns.
    @discardableResult
    func start(failpoint: String? = nil) async throws -> APIClient {
        let daemon = try DaemonProcess(
            configuration: configuration, log: directory.appendingPathComponent("daemon.log"), failpoint: failpoint)
        await daemonSlot.set(daemon)
        let ports = try await daemon.ready()
        return APIClient(port: ports.api, adminPort: ports.admin)
    }

    /// Ends the daemon at once, as a power failure would.
    func kill() async { await daemonSlot.killAll() }

    /// Asks the daemon to stop and waits for it; its exit code.
    func terminate() async throws -> Int32 {
        guard let daemon = await daemonSlot.current else { return -1 }
        return try await daemon.terminate()
    }

    /// Waits until the daemon killed itself at its failpoint.
    func diedByItself() async throws {
        guard let daemon = await daemonSlot.current else { return }
        try await Polling.until("the daemon dies at its failpoint") { !daemon.isRunning }
    }

    func log() -> String {
        (try? String(contentsOf: directory.appendingPathComponent("daemon.log"), encoding: .utf8)) ?? ""
    }

    private actor DaemonSlot {
        private(set) var current: DaemonProcess?
        func set(_ daemon: DaemonProcess) { current = daemon }
        func killAll() {
            current?.kill()
            current = nil
        }
    }
}

/// What a test wants of its world.
struct WorldSettings: Sendable {
    /// How the simulated providers behave.
    var simulated = ContractOptions()
    /// Lines added to each provider of the daemon's configuration, below `contract:`.
    var contractLines: [String] = []
    /// Lines added to `reconcile:`.
    var reconcileLines: [String] = []
    /// When an undecided status is asked again.
    var inquirySchedule = "100ms, 200ms, 400ms, 1s, 2s"
    /// The read timeout.
    var firstByte = "400ms"

    /// The daemon's configuration file.
    func yaml(port: Int, directory: URL) -> String {
        func digest(_ token: String) -> String {
            SHA256.hash(data: Data(token.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        let contract = contractLines.map { "      \($0)\n" }.joined()
        let providers = [("card", "reference"), ("points", "reference"), ("balance", "reference_sale")].map {
            """
              - name: \($0.0)
                url: http://127.0.0.1:\(port)/\($0.0)
                allow_plain_http: true
                contract:
                  base: \($0.1)
            \(contract)    timeouts: {connect: 1s, tls: 1s, first_byte: \(firstByte), total: 3s}
            """
        }
        return """
            store: {url: "sqlite:\(directory.path)/reconciled.sqlite"}
            http: {host: 127.0.0.1, port: 0}
            admin:
              host: 127.0.0.1
              port: 0
              operators:
                - {name: on-call, token_sha256: "\(digest(World.operatorToken))"}
            callers:
              - {name: shop, token_sha256: "\(digest(World.callerToken))"}
              - {name: other, token_sha256: "\(digest(World.otherCallerToken))"}
            providers:
            \(providers.joined(separator: "\n"))
            reconcile:
              inquiry_schedule: [\(inquirySchedule)]
              resend_schedule: [50ms, 200ms, 500ms, 1s]
              poll_every: 200ms
              lease: 1s
            \(reconcileLines.map { "  " + $0 }.joined(separator: "\n"))
            telemetry: {log_level: debug}

            """
    }
}
