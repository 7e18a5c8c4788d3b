import ArgumentParser
import Foundation
import OperationsConsole
import PaymentCore
import ProgramEdge
import Reconciler

struct DiscrepanciesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discrepancies", abstract: "The queue of what differs: list, show, assign, comment, close.",
        discussion: """
            Examples:
              reconciled discrepancies --config reconciled.yaml --class orphan
              reconciled discrepancies show dis_… --config reconciled.yaml
              reconciled discrepancies assign dis_… hana --config reconciled.yaml
              reconciled discrepancies comment dis_… "Asked the provider." --config reconciled.yaml
              reconciled discrepancies close dis_… --reason "They corrected it." --config reconciled.yaml
            """,
        subcommands: [
            ListDiscrepancies.self, ShowDiscrepancy.self, AssignDiscrepancy.self, CommentDiscrepancy.self,
            CloseDiscrepancy.self,
        ],
        defaultSubcommand: ListDiscrepancies.self)

    static func id(_ text: String) throws -> DiscrepancyID {
        guard let id = DiscrepancyID(text: text) else {
            throw CommandFailure(.usage, "'\(text)' is no discrepancy id; allowed: dis_ and 40 hexadecimal digits")
        }
        return id
    }
}

struct ListDiscrepancies: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists discrepancies, oldest first.",
        discussion: """
            Example:
              reconciled discrepancies list --config reconciled.yaml --at-risk-from 100000 --currency JPY
            """)

    @OptionGroup var options: ConfigurationOptions
    @OptionGroup var filters: DiscrepancyFilters
    @OptionGroup var paging: ListPaging
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let query = try query()
        let desk = try await openDesk(options.loadForBooks())
        let format = OutputFormat.chosen(output)
        for line in try await lines(query, at: desk, format, after: CommandLine.arguments) { say(line, as: format) }
    }

    /// What is wanted, from the place on that the cursor names.
    func query() throws -> DiscrepancyQuery {
        var query = try filters.query(limit: paging.checkedLimit())
        query.after = try paging.after { OperatorCursor.cursor($0, of: scope(of: query)) }
        return query
    }

    /// What is printed.
    ///
    /// - Parameter arguments: the words of the command, for the one that goes on.
    func lines(
        _ query: DiscrepancyQuery, at desk: ComparisonDesk, _ format: OutputFormat, after arguments: [String]
    ) async throws -> [String] {
        let (page, now) = try await told { () async throws(ComparisonDeskFailure) in
            try await desk.read { () async throws(StoreFailure) in
                (try await desk.store.discrepancies(query), try await desk.store.now())
            }
        }
        let more = page.next.map { next in
            ListPaging.more(OperatorCursor.text(next, of: scope(of: query)), as: format, after: arguments)
        }
        return page.items.map { ComparisonLine.render($0, now: now, as: format) } + (more.map { [$0] } ?? [])
    }

    /// The filters that a cursor belongs to. An age is counted from each command anew; the oldest come first, so that
    /// the place holds whatever has grown old enough since.
    private func scope(of query: DiscrepancyQuery) -> DiscrepancyQuery {
        var scope = query
        scope.openedBefore = nil
        return scope
    }
}

/// Which discrepancies are wanted.
struct DiscrepancyFilters: ParsableArguments {
    @Option(
        name: .customLong("class"),
        help: "Only of this class: \(ComparisonClass.differences.map(\.rawValue).joined(separator: ", ")).")
    var finding: String?
    @Option(help: "Only of this provider.") var provider: String?
    @Option(help: "Only in this state: open, settling, closed, or all. Without it: what is not closed.")
    var state: String?
    @Option(help: "Only about this payment.") var payment: String?
    @Option(help: "Only given to this person.") var assignee: String?
    @Flag(help: "Only given to nobody.") var unassigned = false
    @Option(help: "Only opened so long ago or longer, such as 1d.") var olderThan: String?
    @Option(help: "Only with at least so many minor units at risk; needs --currency.") var atRiskFrom: Int64?
    @Option(help: "The currency of --at-risk-from.") var currency: String?

    func query(limit: Int) throws -> DiscrepancyQuery {
        var query = DiscrepancyQuery(limit: limit)
        if let finding {
            query.finding = ComparisonClass(rawValue: finding)
            guard query.finding?.isDifference == true else {
                let allowed = ComparisonClass.differences.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "--class: '\(finding)'; allowed: \(allowed)")
            }
        }
        query.provider = try provider.map { try ComparisonCommand.provider($0) }
        if let state, state != "all" {
            guard let known = Discrepancy.State(rawValue: state) else {
                throw CommandFailure(.usage, "--state: '\(state)'; allowed: open, settling, closed, all")
            }
            query.states = [known]
        } else if state == "all" {
            query.states = []
        }
        if let payment {
            query.payment = PaymentID(text: payment)
            guard query.payment != nil else {
                throw CommandFailure(.usage, "--payment: '\(payment)'; allowed: pay_ and 40 hexadecimal digits")
            }
        }
        guard assignee == nil || !unassigned else {
            throw CommandFailure(.usage, "--assignee and --unassigned exclude each other")
        }
        query.assignment = unassigned ? .nobody : assignee.map { .person($0) }
        if let olderThan {
            guard let age = DurationText.parse(olderThan) else {
                throw CommandFailure(.usage, "--older-than: '\(olderThan)'; allowed: \(DurationText.allowed)")
            }
            query.openedBefore = SystemClock().now() + (Span.zero - age)
        }
        query.atRiskFrom = try money()
        return query
    }

    private func money() throws -> Money? {
        guard atRiskFrom != nil || currency != nil else { return nil }
        guard let atRiskFrom, let known = currency.flatMap({ Currency(code: $0) }) else {
            throw CommandFailure(
                .usage, "--at-risk-from needs --currency, and the other way round; allowed: codes of ISO 4217")
        }
        do {
            return try Money(atRiskFrom, known)
        } catch {
            throw CommandFailure(.usage, "--at-risk-from: '\(atRiskFrom)'; allowed: 0 or more")
        }
    }
}

struct ShowDiscrepancy: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one discrepancy with both sides and its history.",
        discussion: "Example:\n  reconciled discrepancies show dis_… --config reconciled.yaml")

    @Argument(help: "The discrepancy's id.") var id: String
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let id = try DiscrepanciesCommand.id(id)
        let desk = try await openDesk(options.loadForBooks())
        let found = try await told { () async throws(ComparisonDeskFailure) in try await desk.discrepancy(id) }
        let format = OutputFormat.chosen(output)
        say(ComparisonLine.complete(found, now: SystemClock().now(), as: format), as: format)
    }
}
