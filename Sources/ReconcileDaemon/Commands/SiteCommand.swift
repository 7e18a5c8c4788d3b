import ArgumentParser
import Foundation
import OperationsConsole
import PaymentCore
import PostgresStore
import ProgramEdge
import Reconciler

struct SiteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "site", abstract: "The role of this site: status, promote, drain, demote, mode, found-witness.",
        discussion: """
            Works on the database of this site's configuration, whether a daemon runs or not; running daemons follow
            within a second.

            Examples:
              reconciled site status --config reconciled.yaml
              reconciled site drain --config reconciled.yaml
              reconciled site promote --config reconciled.yaml --reason "region lost" --wait 30s
              reconciled site mode settle-only --config reconciled.yaml

            Exit codes: 0 done, 1 refused with the reasons, 2 usage or configuration, 3 unavailable.
            """,
        subcommands: [
            SiteStatus.self, PromoteSite.self, DrainSite.self, DemoteSite.self, SetSiteMode.self, ListTerms.self,
            CloseRecovery.self, FoundWitness.self,
        ],
        defaultSubcommand: SiteStatus.self)
}

/// What every command on a site needs.
struct SiteOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "text or json.") var output: OutputFormat?

    /// A desk of the configured store, and the form of its answers.
    struct Desk {
        let desk: SiteDesk
        let site: SiteName
        let format: OutputFormat

        /// Says what the site is now.
        func show() async throws {
            let reading = try await SiteOptions.told { () async throws(SiteDeskFailure) in try await desk.status() }
            say(format == .json ? SiteDocument.line(site, reading) : SiteText.lines(site, reading), as: format)
        }
    }

    func open() async throws -> Desk {
        let configuration = try options.loadForBooks()
        let store = try await configuration.store.open(
            at: configuration.site.name, reportingTo: configuration.reportedCallers, mustExist: true)
        let desk = SiteDesk(
            store: store, witness: configuration.openWitness()?.witness, clock: SystemClock(),
            settings: configuration.site.desk)
        return Desk(desk: desk, site: configuration.site.name, format: .chosen(output))
    }

    /// Does something at the desk; a refusal is a finding.
    static func told<Value: Sendable>(
        _ body: () async throws(SiteDeskFailure) -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            switch error {
            case .malformed: throw CommandFailure(.usage, "\(error)")
            case .store(let failure) where failure.code == .incompatible: throw CommandFailure(.finding, failure.cause)
            case .store: throw CommandFailure(.unavailable, "\(error)")
            default: throw CommandFailure(.finding, "\(error)")
            }
        }
    }
}

struct SiteStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Says which site is active, and what this one's database is.",
        discussion: """
            Example:
              reconciled site status --config reconciled.yaml --output json
            """)

    @OptionGroup var site: SiteOptions

    func run() async throws { try await site.open().show() }
}

struct ListTerms: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "terms", abstract: "Lists the terms, newest first: who was active since when, by whom and why.",
        discussion: """
            Example:
              reconciled site terms --config reconciled.yaml
            """)

    @OptionGroup var site: SiteOptions
    @Option(help: "At most so many, 1 to 200.") var limit: Int = 20

    func run() async throws {
        guard (1...200).contains(limit) else {
            throw CommandFailure(.usage, "--limit: '\(limit)'; allowed: 1 to 200")
        }
        let desk = try await site.open()
        let count = limit
        let terms = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            try await desk.desk.terms(limit: count)
        }
        for term in terms {
            say(desk.format == .json ? SiteDocument.line(term) : SiteText.line(term), as: desk.format)
        }
    }
}

struct DrainSite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain", abstract: "Has this site take nothing new and finish what is on the wire.",
        discussion: """
            Afterwards the other site can be promoted without loss and without waiting, once its database has this end.
            Asked again, it goes on where it was.
            Example:
              reconciled site drain --config reconciled.yaml --wait 1m
            """)

    @OptionGroup var site: SiteOptions
    @Option(help: "How long to wait for what is on the wire, such as 1m.") var wait = "1m"

    func run() async throws {
        let limit = try SiteText.span(wait, "--wait")
        let desk = try await site.open()
        _ = try await SiteOptions.told { () async throws(SiteDeskFailure) in try await desk.desk.drain(within: limit) }
        try await desk.show()
    }
}

struct DemoteSite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demote", abstract: "Ends this site's term at once.",
        discussion: """
            What is on the wire is in doubt then, and is inquired by whoever is active next. Also for a primary that
            came back after another site was promoted.
            Example:
              reconciled site demote --config reconciled.yaml
            """)

    @OptionGroup var site: SiteOptions

    func run() async throws {
        let desk = try await site.open()
        _ = try await SiteOptions.told { () async throws(SiteDeskFailure) in try await desk.desk.demote() }
        try await desk.show()
    }
}

struct SetSiteMode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mode", abstract: "Sets how much the active site does: full, settle-only, read-only.",
        discussion: """
            settle-only takes no new payments, and settles, captures, cancels and refunds what there is. read-only sends
            and writes nothing.
            Example:
              reconciled site mode settle-only --config reconciled.yaml
            """)

    @Argument(help: "full, settle-only or read-only.") var mode: String
    @OptionGroup var site: SiteOptions

    func run() async throws {
        guard let mode = SiteMode(rawValue: mode) else {
            let allowed = SiteMode.allCases.map(\.rawValue).joined(separator: ", ")
            throw CommandFailure(.usage, "'\(mode)' is no mode; allowed: \(allowed)")
        }
        let desk = try await site.open()
        _ = try await SiteOptions.told { () async throws(SiteDeskFailure) in try await desk.desk.set(mode) }
        try await desk.show()
    }
}

struct CloseRecovery: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recovered", abstract: "Closes the recovery window of a term.",
        discussion: """
            Once no caller repeats any more what was asked before the loss, and both sides' listings over it were
            compared. New payments are then sent without being inquired first.
            Example:
              reconciled site recovered 4 --config reconciled.yaml
            """)

    @Argument(help: "The number of the term that opened the window.") var epoch: Int64
    @OptionGroup var site: SiteOptions

    func run() async throws {
        let desk = try await site.open()
        let number = epoch
        _ = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            try await desk.desk.close(recoveryOf: number)
        }
        try await desk.show()
    }
}

struct FoundWitness: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "found-witness", abstract: "Gives the witness an identity, and has this site's row know it.",
        discussion: """
            Once, at the active site, with a witness as site.proof. From then on only this witness proves
            anything: an empty one, or the witness of another pair, gives no site a right. Asked again, nothing changes.

            A witness that was lost is replaced by another one in the same way. Keep the other site from acting first,
            and say how.

            Examples:
              reconciled site found-witness --config reconciled.yaml
              reconciled site found-witness --config reconciled.yaml --fenced-by "west is switched off"
            """)

    @OptionGroup var site: SiteOptions
    @Option(help: "Your name; recorded. Defaults to the user of the system.") var by: String?
    @Option(help: "Who or what keeps the other site from acting, where another witness is known; recorded.")
    var fencedBy: String?

    func run() async throws {
        let desk = try await site.open()
        let person = try PromoteSite.person(by)
        let fence = fencedBy
        _ = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            try await desk.desk.foundWitness(by: person, fencedBy: fence)
        }
        try await desk.show()
    }
}
