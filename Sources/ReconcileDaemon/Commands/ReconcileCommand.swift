import ArgumentParser
import Foundation
import PaymentCore
import ProgramEdge
import Reconciler

struct ReconcileCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile", abstract: "Compares both sides over a window, and says what differs.",
        discussion: """
            Plans a run for each provider and follows it; a running daemon with the role batch executes it. The same
            window is the same run however often it is asked for; --again compares it once more. Without --to the window
            ends with the newest moment that can be judged; without --from it is as long as
            reconcile.comparison.window.

            Examples:
              reconciled reconcile --config reconciled.yaml --dry-run
              reconciled reconcile --config reconciled.yaml --provider cards \\
                --from 2026-03-01T00:00:00Z --to 2026-03-02T00:00:00Z --output text

            Exit codes: 0 both sides agree, 1 something differs or is not proven, 2 usage, 3 not executed in time or
            given up.
            """)

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The provider; all that list their transactions if it is not named.") var provider: String?
    @Option(help: "The window's beginning by the provider's clock, such as 2026-03-01T09:30:00Z; inclusive.")
    var from: String?
    @Option(help: "The window's end; exclusive.") var to: String?
    @Flag(help: "Only says what would happen; nothing is settled or queued.") var dryRun = false
    @Flag(help: "Compares once more what was compared under the same words.") var again = false
    @Option(help: "How long to wait for the end of a run, such as 10m; 0s only plans it.") var wait = "10m"
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let (from, to) = (try moment(from, "--from"), try moment(to, "--to"))
        guard let patience = DurationText.parse(wait) else {
            throw CommandFailure(.usage, "--wait: '\(wait)'; allowed: \(DurationText.allowed)")
        }
        let configuration = try options.loadForBooks()
        let desk = try await openDesk(configuration)
        let format = OutputFormat.chosen(output)
        let command = ComparisonCommand(
            desk: desk,
            execution: FollowedComparison(store: desk.store, clock: SystemClock(), patience: patience),
            format: format, print: { line in say(line, as: format) })
        let providers = try provider.map { [try ComparisonCommand.provider($0)] } ?? desk.comparable
        guard !providers.isEmpty else {
            throw CommandFailure(.usage, "no provider that is configured lists its transactions (contract.listing)")
        }
        var ended: [ComparisonRun] = []
        for provider in providers {
            let wish = ComparisonCommand.Wish(
                provider: provider, from: from, to: to, isDry: dryRun, again: again)
            ended.append(try await command.run(wish, patience: patience))
        }
        if patience > .zero { try ComparisonCommand.judge(ended) }
    }

    private func moment(_ text: String?, _ name: String) throws -> Timestamp? {
        guard let text else { return nil }
        guard let moment = Timestamp(rfc3339: text) else {
            throw CommandFailure(.usage, "\(name): '\(text)'; allowed: a moment such as 2026-03-01T09:30:00Z")
        }
        return moment
    }
}

/// Opens the store and the desk at which comparisons are asked for.
func openDesk(_ configuration: Configuration) async throws -> ComparisonDesk {
    let store = try await configuration.store.open(
        at: configuration.site.name, reportingTo: configuration.reportedCallers, mustExist: true)
    guard let desk = ComparisonDesk(store: store, configuration: configuration) else {
        throw CommandFailure(.unavailable, "this store keeps no comparisons")
    }
    return desk
}

/// What `reconcile` does, apart from its words.
struct ComparisonCommand {
    /// What is to be compared.
    struct Wish {
        var provider: ProviderName
        var from: Timestamp?
        var to: Timestamp?
        var isDry = false
        var again = false
    }

    let desk: ComparisonDesk
    let execution: any ComparisonExecution
    let format: OutputFormat
    let print: @Sendable (String) -> Void

    /// Plans a run, has it executed, and prints its progress, what it found, and its end.
    func run(_ wish: Wish, patience: Span) async throws -> ComparisonRun {
        let window = try await told { () async throws(ComparisonDeskFailure) in
            try await desk.window(at: wish.provider, from: wish.from, to: wish.to)
        }
        let ask = ComparisonDesk.Ask(
            provider: wish.provider, window: window, isDry: wish.isDry, again: wish.again)
        let planned = try await told { () async throws(ComparisonDeskFailure) in try await desk.plan(ask) }
        let (format, print) = (format, print)
        print(ComparisonLine.render(planned, as: format))
        guard patience > .zero, !planned.state.isFinal else {
            if planned.state.isFinal { try await showFindings(of: planned) }
            return planned
        }
        let ended = try await execution.execute(planned) { run in print(ComparisonLine.render(run, as: format)) }
        try await showFindings(of: ended)
        return ended
    }

    private func showFindings(of run: ComparisonRun) async throws {
        var last: DiscrepancyID?
        while true {
            let after = last
            let findings = try await told { () async throws(ComparisonDeskFailure) in
                try await desk.read { () async throws(StoreFailure) in
                    try await desk.store.findings(of: run.id, after: after, limit: 200)
                }
            }
            for finding in findings { print(ComparisonLine.render(finding, isDry: run.isDry, as: format)) }
            guard let newest = findings.last, findings.count == 200 else { return }
            last = newest.discrepancy
        }
    }

    /// The exit code of runs that were waited for: what was not compared first, then what differs.
    static func judge(_ runs: [ComparisonRun]) throws {
        if let open = runs.first(where: { !$0.state.isFinal }) {
            // A run that something holds up has a daemon; to look for one would be in vain.
            let cause = open.trouble.map { trouble in
                "held up since \(trouble.since.rfc3339) by \(TerminalText.written(trouble.code)), "
                    + "\(trouble.times) times"
            }
            throw CommandFailure(
                .unavailable,
                "\(open.id) is \(open.state.rawValue): "
                    + (cause ?? "no daemon with the role batch brought it to its end in time"))
        }
        if let given = runs.first(where: { $0.state == .abandoned }) {
            throw CommandFailure(.unavailable, "\(given.id) was given up; --again compares the window anew")
        }
        let differences = runs.reduce(0) { sum, run in
            ComparisonClass.differences.reduce(sum) { $0 + run.counts[$1] }
        }
        let unproven = runs.filter { $0.isProven == false }
        guard differences > 0 || !unproven.isEmpty else { return }
        let money =
            unproven.isEmpty ? "" : "; the money of \(unproven.map(\.id.text).joined(separator: ", ")) is not proven"
        throw CommandFailure(.finding, "\(differences) position\(differences == 1 ? " differs" : "s differ")\(money)")
    }

    static func provider(_ text: String) throws -> ProviderName {
        do {
            return try ProviderName(text)
        } catch {
            throw CommandFailure(.usage, "--provider: '\(text)'; allowed: \(error.allowed)")
        }
    }
}

/// Gives what the desk refuses the words and the exit code of a command.
func told<Value: Sendable>(
    _ body: () async throws(ComparisonDeskFailure) -> Value
) async throws -> Value {
    do {
        return try await body()
    } catch {
        switch error {
        case .store: throw CommandFailure(.unavailable, error.description)
        case .notFound, .outdated, .refused(.alreadyClosed, _), .refused(.historyFull, _):
            throw CommandFailure(.finding, error.description)
        default: throw CommandFailure(.usage, error.description)
        }
    }
}
