import Foundation
import PaymentCore
import ProviderSimulator
import Testing

/// A simulator in this process, the real daemon as one or several processes of its own, and a caller.
final class World: Sendable {
    let simulator: SimulatorControl
    /// Where the simulator listens.
    let simulatorPort: Int
    let directory: URL
    let configuration: URL
    private let descriptors: DescriptorLimit?
    private let daemons = Daemons()

    static let callerToken = "caller-token-of-the-tests"
    static let otherCallerToken = "other-token-of-the-tests"
    static let operatorToken = "operator-token-of-the-tests"
    static let approverToken = "approver-token-of-the-tests"

    private init(
        simulator: SimulatorControl, simulatorPort: Int, directory: URL, configuration: URL,
        descriptors: DescriptorLimit?
    ) {
        self.descriptors = descriptors
        self.simulator = simulator
        self.simulatorPort = simulatorPort
        self.directory = directory
        self.configuration = configuration
    }

    /// Runs a body with a simulator of the providers card, points (two-phase) and balance (one-phase), and daemons.
    ///
    /// - Parameters:
    ///   - failpoint: where the first of the daemons kills itself.
    ///   - body: gets the world, and a client of the first daemon.
    static func run(
        _ settings: WorldSettings = WorldSettings(), failpoint: String? = nil,
        _ body: @Sendable (World, APIClient) async throws -> Void
    ) async throws {
        await Places.shared.enter(settings.places)
        do {
            try await runInItsPlace(settings, failpoint: failpoint, body)
        } catch {
            await Places.shared.leave(settings.places)
            throw error
        }
        await Places.shared.leave(settings.places)
    }

    private static func runInItsPlace(
        _ settings: WorldSettings, failpoint: String?, _ body: @Sendable (World, APIClient) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let server = try ProviderSimulatorServer(settings.simulator(in: directory))
        try await server.whileRunning { port in
            let file = directory.appendingPathComponent("reconciled.yaml")
            try settings.writeSecrets(in: directory)
            try settings.yaml(port: port, directory: directory).write(to: file, atomically: true, encoding: .utf8)
            let world = World(
                simulator: server.control, simulatorPort: port, directory: directory, configuration: file,
                descriptors: settings.descriptors)
            do {
                try await world.prepare(settings.store)
                let client = try await world.start(failpoint: failpoint)
                for number in 1..<max(1, settings.daemons) { try await world.start(number) }
                try await body(world, client)
            } catch {
                await world.kill()
                Issue.record("daemon log in \(directory.path):\n\(world.log().suffix(6_000))")
                throw error
            }
            await world.kill()
        }
        try FileManager.default.removeItem(at: directory)
    }

    /// Makes the tables, where that is not done by whoever opens the store.
    private func prepare(_ store: WorldStore) async throws {
        guard case .postgres = store else { return }
        let migrated = try await command(["migrate"])
        guard migrated.status == 0 else { throw DaemonProcess.NotStarted(description: migrated.output) }
    }

    /// Starts a daemon; the caller's API is usable when this returns.
    ///
    /// - Parameter number: which of the world's daemons it is, from 0. One of this number must not be running.
    @discardableResult
    func start(_ number: Int = 0, failpoint: String? = nil) async throws -> APIClient {
        let daemon = try DaemonProcess(
            configuration: configuration, log: logFile(number), failpoint: failpoint,
            descriptors: descriptors)
        await daemons.set(daemon, number)
        let client = try await client(of: number)
        await daemons.listens(number, on: client.port)
        return client
    }

    /// The ports of the callers' API where the daemons listened last; a daemon that was killed may not be back at its.
    func ports() async -> [Int] { await daemons.ports.values.sorted() }

    /// One of the daemons, if it was started and not killed since; it may have ended by itself.
    func daemon(_ number: Int) async -> DaemonProcess? { await daemons.all[number] }

    /// The most memory that the first daemon ever had, in bytes.
    func peakMemory() async throws -> Int { try await daemon(0)?.peakMemory() ?? 0 }

    /// A client of a daemon that runs.
    func client(of number: Int) async throws -> APIClient {
        guard let daemon = await daemon(number) else {
            throw DaemonProcess.NotStarted(description: "there is no daemon \(number)")
        }
        let ports = try await daemon.ready()
        return APIClient(port: ports.api, adminPort: ports.admin)
    }

    /// Ends all daemons at once, as a power failure would.
    func kill() async { await daemons.killAll() }

    /// Ends one daemon as a power failure would.
    func kill(_ number: Int) async { await daemons.kill(number) }

    /// Asks a daemon to stop and waits for it; its exit code.
    func terminate(_ number: Int = 0) async throws -> Int32 {
        guard let daemon = await daemon(number) else { return -1 }
        return try await daemon.terminate()
    }

    /// Waits until the first daemon killed itself at its failpoint.
    func diedByItself() async throws {
        guard let daemon = await daemon(0) else { return }
        try await Polling.until("the daemon dies at its failpoint") { !daemon.isRunning }
    }

    /// What the daemons wrote, one after the other.
    func log() -> String {
        let files = (0...).lazy.map(logFile).prefix { FileManager.default.fileExists(atPath: $0.path) }
        return files.map { (try? String(contentsOf: $0, encoding: .utf8)) ?? "" }.joined()
    }

    private func logFile(_ number: Int) -> URL { directory.appendingPathComponent("daemon-\(number).log") }

    private actor Daemons {
        private(set) var all: [Int: DaemonProcess] = [:]
        private(set) var ports: [Int: Int] = [:]

        func set(_ daemon: DaemonProcess, _ number: Int) {
            kill(number)
            all[number] = daemon
        }

        func listens(_ number: Int, on port: Int) { ports[number] = port }

        func kill(_ number: Int) { all.removeValue(forKey: number)?.kill() }

        func killAll() {
            for number in all.keys { kill(number) }
        }
    }
}
