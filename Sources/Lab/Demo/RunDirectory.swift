import Crypto
import Foundation
import PaymentCore
import ProgramEdge

/// Where a run keeps its databases, configuration and logs, with the secrets that it made up.
struct RunDirectory: Sendable {
    let url: URL
    /// The bearer token of the demo's caller.
    let callerToken = RunDirectory.secret()
    /// The token of the daemon at every provider: of three parts, which PayPay's wire needs and every other one takes.
    let providerToken = "demo:\(RunDirectory.secret()):demo"
    /// What Adyen's notifications are signed with.
    let notificationKey = RunDirectory.secret()
    let publicPort: Int
    let adminPort: Int
    let simulatorPort: Int

    static let callerName = "demo-shop"

    /// Makes the directory. What an earlier run left in it is removed: two runs would disagree.
    /// - Parameter isForPeople: listens on the ports that people expect, where they are free.
    init(_ url: URL, isForPeople: Bool, adapter: DemoAdapter = .reference) throws {
        self.url = url
        isNotified = adapter.wire(of: .card) == .adyen
        let ports = try FreePorts.take(isForPeople ? [8080, 8081, 8090] : [0, 0, 0])
        (publicPort, adminPort, simulatorPort) = (ports[0], ports[1], ports[2])
        let files = FileManager.default
        try files.createDirectory(at: url, withIntermediateDirectories: true)
        for name in try files.contentsOfDirectory(atPath: url.path) where RunDirectory.isOurs(name) {
            try files.removeItem(at: url.appendingPathComponent(name))
        }
        guard
            files.createFile(
                atPath: tokenFile.path, contents: Data((callerToken + "\n").utf8),
                attributes: [.posixPermissions: 0o600])
        else { throw CommandFailure(.unavailable, "cannot write \(tokenFile.path)") }
    }

    var configuration: URL { url.appendingPathComponent("reconciled.yaml") }
    var simulatorConfiguration: URL { url.appendingPathComponent("simulator.json") }
    var tokenFile: URL { url.appendingPathComponent("caller.token") }
    var daemonLog: URL { url.appendingPathComponent("reconciled.log") }
    var simulatorLog: URL { url.appendingPathComponent("simulator.log") }
    var books: URL { url.appendingPathComponent("reconciled.sqlite") }
    var ledger: URL { url.appendingPathComponent("ledger.sqlite") }

    private static func isOurs(_ name: String) -> Bool {
        ["reconciled.", "simulator.", "ledger.", "caller."].contains { name.hasPrefix($0) }
    }

    private static func secret() -> String {
        (0..<4).map { _ in
            let text = String(UInt64.random(in: .min ... .max), radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }.joined()
    }

    /// Whether the card's provider tells by notifications alone.
    private let isNotified: Bool

    /// The environment of both programs: ours without settings of another daemon, and with the run's secrets.
    var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("RECONCILED_") }
        environment["PROVIDER_SIMULATOR_TOKEN"] = providerToken
        for provider in DemoProvider.allCases {
            environment["RECONCILED_PROVIDERS_\(provider.rawValue.uppercased())_TOKEN"] = providerToken
        }
        if isNotified {
            environment["RECONCILED_PROVIDERS_CARD_NOTIFICATION_SECRET"] = notificationKey
        }
        return environment
    }

    /// Writes both programs' configuration.
    func write(seed: UInt64, faultPercent: Int, compressed: Bool, adapter: DemoAdapter) throws {
        let digest = SHA256.hash(data: Data(callerToken.utf8)).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
        let yaml = DaemonFile(
            database: books.path, publicPort: publicPort, adminPort: adminPort, simulatorPort: simulatorPort,
            callerTokenDigest: digest, compressed: compressed, adapter: adapter
        ).text
        try Data(yaml.utf8).write(to: configuration)
        let simulator = SimulatorFile(
            seed: seed, database: ledger.path, faultPercent: faultPercent, adapter: adapter,
            notificationKey: notificationKey)
        try DemoJSON.encode(simulator).write(to: simulatorConfiguration)
    }
}

/// The daemon's configuration file.
struct DaemonFile {
    let database: String
    let publicPort: Int
    let adminPort: Int
    let simulatorPort: Int
    let callerTokenDigest: String
    /// Whether the schedules run a few hundred times faster than the defaults.
    let compressed: Bool
    var adapter = DemoAdapter.reference

    var text: String {
        """
        # Written by `reconciled-lab demo`. The providers' tokens come from the environment.
        store:
          url: "sqlite:\(database)"
        http:
          host: 127.0.0.1
          port: \(publicPort)
        admin:
          host: 127.0.0.1
          port: \(adminPort)
        callers:
          - name: \(RunDirectory.callerName)
            token_sha256: \(callerTokenDigest)
        providers:
        \(DemoProvider.allCases.map(provider).joined(separator: "\n"))
        \(reconcile)telemetry:
          log_level: warning

        """
    }

    private func provider(_ provider: DemoProvider) -> String {
        """
          - name: \(provider.rawValue)
            url: http://127.0.0.1:\(simulatorPort)/\(provider.rawValue)\(adapter.path(of: provider))
            allow_plain_http: true
            \(adapter.configuration(of: provider))
              visibility_lag: \(adapter.lag(of: provider))
              requests_per_second: 2000
              endpoint_requests_per_second: 2000
              concurrency: 64
            timeouts:
              connect: 1s
              first_byte: 1s
              total: 3s
        """
    }

    private var reconcile: String {
        guard !compressed else { return compressedSchedules }
        return adapter.permission.isEmpty ? "" : "reconcile:\n" + adapter.permission
    }

    /// In production an inquiry follows after 2 s, 10 s, 30 s and so on.
    private var compressedSchedules: String {
        """
        reconcile:
          inquiry_schedule: [\(adapter.inquirySchedule)]
          resend_schedule: [100ms, 300ms, 1s, 2s]
          default_deadline: \(adapter == .stripe ? 10 : 30)s
          lease: 3s
          poll_every: 200ms
          seal_every: 2s
        \(adapter.permission)
        """
    }
}
