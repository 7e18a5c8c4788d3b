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
            """)

    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Only says what would run.") var plan = false

    func run() async throws {
        let configuration = try options.loadForBooks()
        guard case .postgres(let settings) = configuration.store else {
            _ = try await configuration.store.open(at: configuration.site.name)
            return say("an SQLite file is migrated when it is opened: it is current")
        }
        do {
            let steps =
                plan ? try await PostgresStore.pendingMigrations(settings) : try await PostgresStore.migrate(settings)
            for step in steps {
                say("\(plan ? "would apply" : "applied") \(step.number) \(step.name) (sha256 \(step.checksum))")
            }
            say(steps.isEmpty ? "the schema is current" : plan ? "nothing was changed" : "the schema is current")
        } catch {
            throw CommandFailure(.unavailable, "\(error)")
        }
    }
}
