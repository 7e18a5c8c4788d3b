import ArgumentParser
import Foundation
import PaymentCore
import ProgramEdge
import Reconciler

/// Who changes which discrepancy; shared by the commands that do.
struct DiscrepancyChangeOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Your name in the history. Defaults to $USER.") var by: String?
    @Option(
        help: "Only if it still has this version, as show says it; else nothing is changed, and the exit code is 1.")
    var ifVersion: Int64?
    @Option(help: "text or json.") var output: OutputFormat?

    func perform(_ change: ComparisonDesk.Change, on id: String) async throws {
        let id = try DiscrepanciesCommand.id(id)
        let environment = ProcessInfo.processInfo.environment
        guard let person = by ?? environment["USER"], !person.isEmpty else {
            throw CommandFailure(.usage, "--by: missing; allowed: your name, 1 to \(Discrepancy.longestName) bytes")
        }
        let desk = try await openDesk(options.loadForBooks())
        let version = ifVersion
        let changed = try await told { () async throws(ComparisonDeskFailure) in
            try await desk.change(id, change, by: person, version: version)
        }
        let format = OutputFormat.chosen(output)
        say(ComparisonLine.render(changed, now: SystemClock().now(), as: format), as: format)
    }
}

struct AssignDiscrepancy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "assign", abstract: "Gives a discrepancy to somebody, or to nobody.",
        discussion: """
            Examples:
              reconciled discrepancies assign dis_… hana --config reconciled.yaml
              reconciled discrepancies assign dis_… --nobody --config reconciled.yaml
            """)

    @Argument(help: "The discrepancy's id.") var id: String
    @Argument(help: "The person, as admin.operators names it.") var assignee: String?
    @Flag(help: "To nobody.") var nobody = false
    @OptionGroup var options: DiscrepancyChangeOptions

    func run() async throws {
        guard (assignee == nil) == nobody else {
            throw CommandFailure(.usage, "allowed: a person's name, or --nobody")
        }
        try await options.perform(.assign(to: assignee), on: id)
    }
}

struct CommentDiscrepancy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "comment", abstract: "Adds words to the history of a discrepancy.",
        discussion:
            "Example:\n  reconciled discrepancies comment dis_… \"Asked the provider.\" --config reconciled.yaml")

    @Argument(help: "The discrepancy's id.") var id: String
    @Argument(help: "The words.") var text: String
    @OptionGroup var options: DiscrepancyChangeOptions

    func run() async throws { try await options.perform(.comment(text), on: id) }
}

struct CloseDiscrepancy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "close", abstract: "Closes a discrepancy. It comes back if what is seen changes.",
        discussion:
            "Example:\n  reconciled discrepancies close dis_… --reason \"Written off.\" --config reconciled.yaml")

    @Argument(help: "The discrepancy's id.") var id: String
    @Option(help: "Why it is over.") var reason: String
    @OptionGroup var options: DiscrepancyChangeOptions

    func run() async throws { try await options.perform(.close(reason: reason), on: id) }
}
