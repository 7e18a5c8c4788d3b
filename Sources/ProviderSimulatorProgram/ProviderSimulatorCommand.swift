import ArgumentParser

/// The program `provider-simulator`.
@main
struct ProviderSimulatorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider-simulator",
        abstract: "A provider of the reference contract that misbehaves on purpose, and keeps the books.",
        subcommands: [ServeCommand.self, LedgerCommand.self])
}
