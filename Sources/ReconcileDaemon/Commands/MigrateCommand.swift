import ArgumentParser
import PostgresStore
import ProgramEdge
import Reconciler

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate", abstract: "Makes the database's schema what this version works with.",
        discussion: """
            Each migration leaves the version before it working, so that it runs before the daemons are replaced. An
            SQLite file is migrated when it is opened.
            Examples:
              reconciled migrate --config reconciled.yaml --plan
              reconciled migrate --config reconciled.yaml
              reconciled migrate --config reconciled.yaml --wait 10m
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Only says what would run.") var plan = false
    @Option(help: "How long to wait for a database that cannot be reached.") var wait = "0s"

    func run() async throws {
        let configuration = try options.loadForBooks()
        let patience = try SiteText.span(wait, "--wait")
        guard case .postgres(let settings) = configuration.store else {
            _ = try await configuration.store.open(
                at: configuration.site.name, reportingTo: configuration.reportedCallers)
            return say("an SQLite file is migrated when it is opened: it is current")
        }
        let steps = try await steps(settings, until: .now + patience.duration)
        for step in steps {
            say("\(plan ? "would apply" : "applied") \(step.number) \(step.name) (sha256 \(step.checksum))")
        }
        say(steps.isEmpty ? "the schema is current" : plan ? "nothing was changed" : "the schema is current")
    }

    private func steps(
        _ settings: PostgresStoreConfiguration, until end: ContinuousClock.Instant
    ) async throws -> [SchemaMigration] {
        var isTold = false
        while true {
            do throws(StoreFailure) {
                if plan { return try await PostgresStore.pendingMigrations(settings) }
                return try await PostgresStore.migrate(settings)
            } catch {
                // What is in doubt is not in doubt for the next try: each step is applied once, under a lock.
                guard error.isPassing, !PostgresStore.refusesPassword(error), .now < end else {
                    throw CommandFailure(.unavailable, "\(error)")
                }
                if !isTold { warn("waits for the database, up to \(wait): \(error)") }
                isTold = true
            }
            try await Task.sleep(for: .seconds(1))
        }
    }
}
