import ArgumentParser
import Foundation
import Logging
import ProgramEdge
import ProviderSimulator

/// The command `provider-simulator serve`.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve providers until SIGTERM or SIGINT.",
        discussion: """
            Example:
              provider-simulator serve --port 8090 --database ledger.sqlite --seed 7 --providers card,points

            Prints one line when it accepts requests: provider-simulator ready port=8090 providers=card,points
            Options here win over the file that --config names. PROVIDER_SIMULATOR_TOKEN holds the token of
            every provider that has none of its own; without it, any bearer token is good.
            """)

    @Option(help: "Port to listen on; 0 takes any free one.")
    var port: Int?
    @Option(help: "Address to listen on (default 127.0.0.1).")
    var host: String?
    @Option(help: "File of the ledger; without one it is kept in memory.")
    var database: String?
    @Option(
        help: "When a commit is on the disk: normal (survives kill -9) or full (survives power loss).",
        transform: durability(named:))
    var durability: Durability?
    @Option(help: "What chance depends on.")
    var seed: UInt64?
    @Option(help: "Names of the providers, with commas between.")
    var providers: String?
    @Option(help: "JSON file with the configuration.")
    var config: String?
    @Flag(help: "Let callers on other machines use the control API.")
    var allowRemoteControl = false

    func run() async throws {
        var logger = Logger(label: "provider-simulator") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .warning
        let server = try ProviderSimulatorServer(try simulatorConfiguration(), logger: logger)
        let names = server.control.providers.joined(separator: ",")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await server.run { port in
                    let line = "provider-simulator ready port=\(port) providers=\(names)\n"
                    FileHandle.standardOutput.write(Data(line.utf8))
                }
            }
            group.addTask { await TerminationSignal.wait() }
            try await group.next()
            group.cancelAll()
        }
    }

    private func simulatorConfiguration() throws -> SimulatorConfiguration {
        var configuration = SimulatorConfiguration(providers: [])
        if let config {
            let data = try Data(contentsOf: URL(fileURLWithPath: config))
            do {
                configuration = try JSONDecoder().decode(SimulatorConfiguration.self, from: data)
            } catch {
                throw ValidationError("\(config): \(error)")
            }
        }
        configuration.port = port ?? configuration.port
        configuration.host = host ?? configuration.host
        configuration.database = database ?? configuration.database
        configuration.durability = durability ?? configuration.durability
        configuration.seed = seed ?? configuration.seed
        configuration.allowRemoteControl = allowRemoteControl || configuration.allowRemoteControl
        let names = providers?.split(separator: ",").map(String.init) ?? []
        for name in names where !configuration.providers.contains(where: { $0.name == name }) {
            configuration.providers.append(ProviderConfiguration(name))
        }
        if providers != nil { configuration.providers.removeAll { !names.contains($0.name) } }
        if let token = ProcessInfo.processInfo.environment["PROVIDER_SIMULATOR_TOKEN"], !token.isEmpty {
            for index in configuration.providers.indices where configuration.providers[index].token == nil {
                configuration.providers[index].token = token
            }
        }
        return configuration
    }
}

private func durability(named name: String) throws -> Durability {
    guard let durability = Durability(rawValue: name) else {
        throw ValidationError("normal or full, not \(name)")
    }
    return durability
}
