import ArgumentParser
import ProgramEdge

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Takes payments and settles them until it is told to stop.",
        discussion: "Example:\n  reconciled serve --config reconciled.yaml")

    @OptionGroup var options: ConfigurationOptions

    @Option(
        name: .long,
        help: """
            What this process does, separated by commas: api answers callers and works on their payments while these \
            are under way; settle takes up what is due, whoever left it; batch compares both sides.
            """)
    var roles: String = "api,settle,batch"

    func run() async throws {
        let configuration = try options.load()
        let roles = try Roles(text: self.roles)
        try await Daemon(configuration: configuration, roles: roles, read: { [options] in try options.reload() }).run()
    }
}

/// What a process does.
struct Roles {
    /// Answers callers.
    let api: Bool
    /// Takes up what is due.
    let settle: Bool
    /// Compares both sides.
    let batch: Bool

    init(text: String) throws {
        let names = Set(text.split(separator: ",").map(String.init))
        let unknown = names.subtracting(["api", "settle", "batch"]).sorted()
        guard unknown.isEmpty, !names.isEmpty else {
            throw CommandFailure(
                .usage, "--roles: '\(unknown.joined(separator: ","))'; allowed: api, settle, batch")
        }
        api = names.contains("api")
        settle = names.contains("settle")
        batch = names.contains("batch")
    }
}
