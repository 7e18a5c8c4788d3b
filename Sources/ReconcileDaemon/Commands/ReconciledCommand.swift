import ArgumentParser
import Foundation
import PaymentAPI
import PaymentCore
import PostgresStore
import ProgramEdge
import SQLiteStore

/// The daemon and the tools of those who run it, in one binary.
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

            Exit codes: 0 done, 1 a finding, 2 usage or configuration, 3 unavailable.
            """,
        version: BuildVersion.text,
        subcommands: [
            ServeCommand.self, MigrateCommand.self, CheckConfigCommand.self, PaymentsCommand.self,
            ReconcileCommand.self, DiscrepanciesCommand.self, RepairsCommand.self, WebhooksCommand.self,
            SiteCommand.self, DrillCommand.self, ProbeCommand.self, HealthcheckCommand.self, VersionCommand.self,
        ])

    static func main() async {
        await runToTheEnd()
    }
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Prints the version, and the newest schema of each store that it knows.",
        discussion: "Example:\n  reconciled version")

    func run() throws {
        say("reconciled \(BuildVersion.text)")
        say("schema \(PostgresStore.newestMigration) on PostgreSQL, \(SQLiteStore.newestSchema) on SQLite")
    }
}

/// Where the configuration comes from; shared by the commands.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: "The configuration file (YAML). Defaults to $RECONCILED_CONFIG; without either, the environment alone.")
    var config: String?

    func load() throws -> Configuration { try read(Configuration.load) }

    /// Reads it anew, for a process that runs.
    /// - Throws: ``ConfigurationFailure`` with all its problems.
    func reload() throws -> Configuration {
        let environment = ProcessInfo.processInfo.environment
        return try Configuration.load(path: config ?? environment["RECONCILED_CONFIG"], environment: environment)
    }

    /// Reads it for a command that sends nothing to providers: their tokens are not needed.
    func loadForBooks() throws -> Configuration { try read(Configuration.loadForBooks) }

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
            say("provider \(provider.name): safe if requests live at most \(life)s (\(basis))")
        }
        if let window = configuration.recovery {
            let (reads, dead) = (window.readsCountFrom.rfc3339, window.latestNotAfter.rfc3339)
            say("recovery: reads count from \(reads); no lost request is executed after \(dead)")
        }
        let accepting = configuration.cardNumbers.accepted.map(\.rawValue).sorted()
        if !accepting.isEmpty {
            say("card numbers: not looked for in \(accepting.joined(separator: ", ")); what is there may be stored")
        }
        for line in configuration.warnings { say(line) }
        for line in configuration.comparison.summary(configuration.providers) { say(line) }
        let limits = DescriptorLimits.current
        let budget = try DescriptorBudget(configuration, available: limits.available)
        for line in budget.summary(limits, configuration) { say(line) }
        let providers = configuration.providers.count
        let callers = configuration.callers.count
        say("the configuration is valid: \(providers) provider(s), \(callers) caller(s)")
    }
}
