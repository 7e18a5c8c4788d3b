import Crypto
import Foundation
import PostgresServers
import ProviderSimulator

/// Where the daemons of a world keep their payments.
enum WorldStore: Sendable {
    /// A file in the world's directory.
    case sqlite
    /// A database that several daemons share: a libpq connection string, the schema, and how long a round trip may
    /// take.
    case postgres(dsn: String, schema: String, timeLimit: String = "10s")

    /// A schema of its own on the server that all tests share.
    static func postgres() async throws -> WorldStore {
        let server = try await PostgresServer.shared()
        return .postgres(dsn: server.dsn(), schema: server.uniqueSchema())
    }

    fileprivate func yaml(in directory: URL) -> String {
        switch self {
        case .sqlite: #"{url: "sqlite:\#(directory.path)/reconciled.sqlite"}"#
        case .postgres(let dsn, let schema, let limit):
            #"{url: "postgres:\#(dsn)", schema: \#(schema), time_limit: \#(limit)}"#
        }
    }
}

/// How many file descriptors a daemon may have, in words of a shell.
enum DescriptorLimit: Sendable, CustomStringConvertible {
    /// It may raise the number to what this process has.
    case soft(Int)
    /// It has no more than these.
    case hard(Int)

    var command: String {
        switch self {
        case .soft(let count): "ulimit -Sn \(count)"
        case .hard(let count): "ulimit -n \(count)"
        }
    }

    var description: String { command }
}

/// What a test wants of its world.
struct WorldSettings: Sendable {
    /// Where payments are kept.
    var store = WorldStore.sqlite
    /// `store.require_standby`.
    var requireStandby: String?
    /// How many daemons share the store.
    var daemons = 1
    /// How many of the places of ``Places`` the world takes.
    var places = 1
    /// The limit under which the daemons are started; this process's without it.
    var descriptors: DescriptorLimit?
    /// How the simulated providers behave.
    var simulated = ContractOptions()
    /// How card and balance are spoken to; points always by the reference contract.
    var wire = ProviderConfiguration.Wire.reference
    /// What the simulated providers do wrong by chance.
    var rates: [FaultRate] = []
    /// What that chance depends on.
    var seed: UInt64 = 1
    /// Lines added to each provider of the daemon's configuration, below `contract:`.
    var contractLines: [String] = []
    /// Members of `site:`, in YAML's flow style without the braces.
    var site = ""
    /// Where the shop is told of its payments without asking, in YAML's flow style.
    var webhook: String?
    /// Lines added to `reconcile:`.
    var reconcileLines: [String] = []
    /// `reconcile.comparison`. By default nothing is compared, so that a test sees its own requests alone.
    var comparison = "{enabled: false}"
    /// `objectives:`, in YAML's flow style.
    var objectives = "{}"
    /// When an undecided status is asked again.
    var inquirySchedule = "100ms, 200ms, 400ms, 1s, 2s"
    /// How long a daemon that does not say that it is alive keeps a payment.
    var lease = "1s"
    /// The read timeout.
    var firstByte = "400ms"
    /// The time limit of a whole request.
    var total = "3s"
    /// What the daemons write to their logs.
    var logLevel = "debug"

    /// For a test whose requests nobody repeats: an answer that is slow on a busy machine is not given up.
    mutating func waitForSlowAnswers() { (firstByte, total) = ("20s", "25s") }

    /// After the first inquiry nothing is asked for an hour.
    mutating func askOnceThenQuiet() {
        inquirySchedule = "100ms, 1h"
        waitForSlowAnswers()
    }

    /// The simulator of the providers card, points and balance.
    func simulator(in directory: URL) -> SimulatorConfiguration {
        var simulator = SimulatorConfiguration(
            providers: ["card", "points", "balance"].map { name in
                var provider = ProviderConfiguration(
                    name, wire: wire(of: name), token: "provider-key:token:merchant", contract: simulated, rates: rates)
                if wire(of: name) == .adyen { provider.notificationKey = WorldSettings.notificationKey }
                return provider
            })
        simulator.seed = seed
        simulator.database = directory.appendingPathComponent("simulator.sqlite").path
        return simulator
    }

    /// What card's notifications are signed with, on a wire that has them.
    static let notificationSecret = "whsec_of_the_end_to_end_tests"

    /// The same on Adyen's wire, in hexadecimal.
    static let notificationKey = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"

    private func wire(of provider: String) -> ProviderConfiguration.Wire {
        // Nothing is taken in one step at Adyen.
        provider == "points" || provider == "balance" && wire == .adyen ? .reference : wire
    }

    /// Writes the files of secrets that the configuration names.
    func writeSecrets(in directory: URL) throws {
        guard wire == .stripe || wire == .adyen else { return }
        let secret = wire == .adyen ? WorldSettings.notificationKey : WorldSettings.notificationSecret
        try secret.write(
            to: directory.appendingPathComponent("notification.secret"), atomically: true, encoding: .utf8)
    }

    private func adapter(of provider: String, _ base: String, in directory: URL) -> String {
        let phases = base == "reference_sale" ? "sale" : "authorize_capture"
        switch wire(of: provider) {
        case .reference: return "    contract:\n      base: \(base)"
        case .stripe:
            let secret = "    notification_secret_file: \(directory.path)/notification.secret\n"
            return "    adapter: stripe\n\(secret)    contract:\n      phases: \(phases)\n      visibility_lag: 1s"
        case .adyen:
            let secret = "    notification_secret_file: \(directory.path)/notification.secret\n"
            return "    adapter: adyen\n\(secret)    contract:\n      base: adyen"
        case .paypay: return "    adapter: paypay\n    contract:\n      phases: \(phases)\n      visibility_lag: 1s"
        }
    }

    private func storeYAML(in directory: URL) -> String {
        let text = store.yaml(in: directory)
        return requireStandby.map { "\(text.dropLast()), require_standby: \($0)}" } ?? text
    }

    /// The daemon's configuration file.
    func yaml(port: Int, directory: URL) -> String {
        func digest(_ token: String) -> String {
            SHA256.hash(data: Data(token.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        let contract = contractLines.map { "      \($0)\n" }.joined()
        let providers = [("card", "reference"), ("points", "reference"), ("balance", "reference_sale")].map {
            """
              - name: \($0.0)
                url: http://127.0.0.1:\(port)/\($0.0)\(wire(of: $0.0) == .adyen ? "/v71" : "")
                allow_plain_http: true
            \(adapter(of: $0.0, $0.1, in: directory))
            \(contract)    timeouts: {connect: 1s, tls: 1s, first_byte: \(firstByte), total: \(total)}
            """
        }
        let webhook = self.webhook.map { ", webhook: \($0)" } ?? ""
        return """
            site: {\(site)}
            store: \(storeYAML(in: directory))
            http: {host: 127.0.0.1, port: 0}
            admin:
              host: 127.0.0.1
              port: 0
              operators:
                - {name: on-call, token_sha256: "\(digest(World.operatorToken))"}
                - {name: ken, token_sha256: "\(digest(World.approverToken))", role: approver}
            callers:
              - {name: shop, token_sha256: "\(digest(World.callerToken))"\(webhook)}
              - {name: other, token_sha256: "\(digest(World.otherCallerToken))"}
            providers:
            \(providers.joined(separator: "\n"))
            reconcile:
              inquiry_schedule: [\(inquirySchedule)]
              resend_schedule: [50ms, 200ms, 500ms, 1s]
              poll_every: 200ms
              lease: \(lease)
              comparison: \(comparison)
            \(reconcileLines.map { "  " + $0 }.joined(separator: "\n"))
            objectives: \(objectives)
            telemetry: {log_level: \(logLevel)}

            """
    }
}
