import ArgumentParser
import Foundation
import ProgramEdge
import ProviderSimulator

/// The command `provider-simulator ledger`.
struct LedgerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ledger",
        abstract: "Print what the providers of a ledger believe happened.",
        discussion: """
            Example:
              provider-simulator ledger --database ledger.sqlite --format json

            Exit code 1 when money was taken twice under any key, otherwise 0.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, json
    }

    @Option(help: "File of the ledger. A simulator may be writing it.")
    var database: String
    @Option(help: "Only this provider.")
    var provider: String?
    @Option(help: "Only this key.")
    var key: String?
    @Option(help: "text or json.")
    var format = Format.text
    @Flag(help: "Leave the single transactions out.")
    var summary = false

    func run() async throws {
        let reports = try await LedgerFile.reports(
            database: database, provider: provider, key: key, summary: summary)
        switch format {
        case .text:
            for report in reports { FileHandle.standardOutput.write(Data(TerminalText.lines(report.text).utf8)) }
        case .json:
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            FileHandle.standardOutput.write(try encoder.encode(reports) + Data("\n".utf8))
        }
        if reports.contains(where: { !$0.chargedTwice.isEmpty }) { throw ExitCode(1) }
    }
}
