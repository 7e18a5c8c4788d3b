import ArgumentParser
import Foundation
import PaymentCore

/// The daemon and its tools, in one binary.
@main
struct ReconciledCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconciled",
        abstract: "Takes payments across several providers and never leaves one in doubt.",
        discussion: """
            Examples:
              reconciled check-config --config reconciled.yaml
              reconciled serve --config reconciled.yaml
              reconciled reconcile --config reconciled.yaml --dry-run
              reconciled discrepancies --config reconciled.yaml
              reconciled site status --config reconciled.yaml
              reconciled demo
              reconciled simulate --seeds 1000

            Exit codes: 0 done, 1 a finding, 2 usage or configuration, 3 unavailable.
            """,
        version: BuildVersion.text,
        subcommands: [
            ServeCommand.self, MigrateCommand.self, DemoCommand.self, CheckConfigCommand.self, PaymentsCommand.self,
            ReconcileCommand.self, DiscrepanciesCommand.self, SiteCommand.self, SimulateCommand.self,
            DrillCommand.self, HealthcheckCommand.self,
            VersionCommand.self,
        ])

    static func main() async {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch let failure as CommandFailure {
            FileHandle.standardError.write(Data("reconciled: \(failure.message)\n".utf8))
            Foundation.exit(failure.code.rawValue)
        } catch {
            let code = exitCode(for: error)
            guard code != ExitCode.validationFailure else {
                FileHandle.standardError.write(Data((fullMessage(for: error) + "\n").utf8))
                Foundation.exit(CommandFailure.Code.usage.rawValue)
            }
            exit(withError: error)
        }
    }
}

/// Why a command ended, in words for a person, with the exit code.
struct CommandFailure: Error {
    enum Code: Int32 {
        case finding = 1
        case usage = 2
        case unavailable = 3
    }

    let code: Code
    let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

/// What this build is.
enum BuildVersion {
    static let text = "0.1.0"
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Prints the version.",
        discussion: "Example:\n  reconciled version")

    func run() throws {
        print("reconciled \(BuildVersion.text)")
    }
}

/// Where the configuration comes from; shared by the commands.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "The configuration file (YAML). Defaults to $RECONCILED_CONFIG; without either, the environment alone.")
    var config: String?

    func load() throws -> Configuration { try read(Configuration.load) }

    /// Reads only where the operators' listener is.
    func loadAdmin() throws -> Configuration.Listener { try read(Configuration.loadAdmin) }

    private func read<Value>(_ reading: (String?, [String: String]) throws -> Value) throws -> Value {
        let environment = ProcessInfo.processInfo.environment
        do {
            return try reading(config ?? environment["RECONCILED_CONFIG"], environment)
        } catch let failure as ConfigurationFailure {
            let lines = failure.problems.map { "  \($0)" }.joined(separator: "\n")
            let count = failure.problems.count
            throw CommandFailure(
                .usage, "the configuration has \(count) problem\(count == 1 ? "" : "s"):\n\(lines)")
        }
    }
}

struct CheckConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check-config", abstract: "Says what is wrong with a configuration, without starting.",
        discussion: "Example:\n  reconciled check-config --config reconciled.yaml")

    @OptionGroup var options: ConfigurationOptions

    func run() throws {
        let configuration = try options.load()
        for provider in configuration.providers {
            let life = provider.contract.maxRequestLife.milliseconds / 1_000
            let basis = provider.contract.enforcesNotAfter ? "the provider enforces not_after" : "by assumption"
            print("provider \(provider.name): safe if requests live at most \(life)s (\(basis))")
        }
        if let window = configuration.recovery {
            let (reads, dead) = (window.readsCountFrom.rfc3339, window.latestNotAfter.rfc3339)
            print("recovery: reads count from \(reads); no lost request is executed after \(dead)")
        }
        for line in configuration.comparison.summary(configuration.providers) { print(line) }
        let providers = configuration.providers.count
        let callers = configuration.callers.count
        print("the configuration is valid: \(providers) provider(s), \(callers) caller(s)")
    }
}
