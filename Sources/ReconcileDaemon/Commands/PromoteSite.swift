import ArgumentParser
import Foundation
import OperationsConsole
import PaymentCore
import ProgramEdge
import Reconciler

struct PromoteSite: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes this site the active one, or says what stands against it.",
        discussion: """
            Refused while the old site may still write or send, while its log has not all arrived and been replayed, and
            where acknowledged payments may be missing, unless somebody says what is recorded then. A database that
            still follows is promoted; one that was promoted already is found to be. Running daemons become active
            within a second.

            Examples:
              reconciled site promote --config reconciled.yaml --reason "planned switchover"
              reconciled site promote --config reconciled.yaml --reason "region lost" --wait 30s --approved-by hana
              reconciled site promote --config reconciled.yaml --reason "region lost" --fenced-by "power is off" \\
                --accept-data-loss "the replica is asynchronous"

            Exit codes: 0 done (with --dry-run: nothing stands against it), 1 refused with the reasons, 2 usage, 3
            unavailable.
            """)

    @OptionGroup var site: SiteOptions
    @Option(help: "Why; recorded.") var reason: String
    @Option(help: "Your name; recorded. Defaults to the user of the system.") var by: String?
    @Option(help: "The second person, where site.second_person asks for one; recorded.") var approvedBy: String?
    @Option(help: "Who or what keeps the old site from writing and sending; recorded.") var fencedBy: String?
    @Option(help: "Why it is accepted that acknowledged payments may be missing; recorded.")
    var acceptDataLoss: String?
    @Option(help: "Why contracts are accepted for which lost rows are a trap; recorded.")
    var acceptContracts: String?
    @Flag(help: "The database was made from a backup: every payment is read at its providers first.")
    var restoredFromBackup = false
    @Option(help: "How long to wait for what passes by itself, such as the old site's lease.") var wait = "0s"
    @Flag(help: "Only says what stands against it.") var dryRun = false

    func run() async throws {
        let patience = try SiteText.span(wait, "--wait")
        let person = try PromoteSite.person(by)
        let request = PromotionRequest(
            by: person, approvedBy: approvedBy, reason: reason, fencedBy: fencedBy, acceptDataLoss: acceptDataLoss,
            acceptContracts: acceptContracts, isRestored: restoredFromBackup)
        let desk = try await site.open()
        if dryRun { return try await weigh(request, desk) }
        let promoted = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            do throws(SiteDeskFailure) {
                return try await desk.desk.promote(request, wait: patience)
            } catch .refused(let obstacles) {
                // Whoever reads JSON reads the reasons so; people read them on the error output.
                if desk.format == .json { say(SiteDocument.line(obstacles), as: .json) }
                throw .refused(obstacles)
            }
        }
        let reading = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            try await desk.desk.status()
        }
        say(
            desk.format == .json
                ? SiteDocument.line(desk.site, promoted, reading) : SiteText.lines(desk.site, reading), as: desk.format)
    }

    /// Who asks: whoever is named, or the user of the system.
    static func person(_ named: String?) throws -> String {
        let person = named ?? ProcessInfo.processInfo.environment["USER"] ?? NSUserName()
        guard !person.isEmpty else {
            throw CommandFailure(.usage, "--by: missing; allowed: your name")
        }
        return person
    }

    private func weigh(_ request: PromotionRequest, _ desk: SiteOptions.Desk) async throws {
        let obstacles = try await SiteOptions.told { () async throws(SiteDeskFailure) in
            try await desk.desk.obstacles(request)
        }
        if desk.format == .json { say(SiteDocument.line(obstacles), as: .json) }
        guard obstacles.isEmpty else { throw CommandFailure(.finding, "\(SiteDeskFailure.refused(obstacles))") }
        if desk.format == .text { say("nothing stands against promoting site \(desk.site)") }
    }
}

/// A site in lines for people.
enum SiteText {
    static func lines(_ site: SiteName, _ reading: SiteReading) -> String {
        let row = reading.row
        var lines = ["site        \(site): \(SiteRole(site, reading).rawValue)"]
        if let store = reading.store { lines.append("store       \(store)") }
        if let term = row.term { lines.append("active      \(line(term))") }
        lines.append("phase       \(row.phase.rawValue), mode \(row.mode.rawValue)")
        if let until = row.leaseUntil {
            let left = (until - reading.now).milliseconds
            let state = left > 0 ? "runs for \(left) ms" : "ran out \(-left) ms ago"
            lines.append("lease       \(state), proven by \(row.proof.rawValue)")
        } else {
            lines.append("lease       none: the active site acts without")
        }
        if let witness = row.witness {
            let person = TerminalText.written(witness.by)
            lines.append("witness     \(witness.identity), founded by \(person) at \(witness.since.rfc3339)")
        }
        lines.append("replication \(row.replication.rawValue), as the active site saw it")
        lines.append("database    \(database(reading.database))")
        if let position = row.finalPosition { lines.append("final       \(position)") }
        for recovery in row.recoveries {
            let missing = recovery.keptUntil.map { ", rows may be missing from \($0.rfc3339)" } ?? ""
            let compared = recovery.listingCompared ? "compared" : "not compared yet"
            lines.append(
                "recovery    of term \(recovery.epoch): \(recovery.loss.rawValue)\(missing); listings \(compared)")
        }
        return lines.joined(separator: "\n")
    }

    static func line(_ term: SiteTerm) -> String {
        let more = [
            term.approvedBy.map { "approved by \($0)" }, term.fencedBy.map { "fenced by: \($0)" },
            term.dataLossAccepted.map { "data loss accepted: \($0)" },
            term.contractsAccepted.map { "contracts accepted: \($0)" },
        ].compactMap { $0 }
        return
            "term \(term.epoch): \(term.site) since \(term.since.rfc3339), \(term.beginning.rawValue) by "
            + TerminalText.written("\(term.by): " + ([term.reason] + more).joined(separator: "; "))
    }

    private static func database(_ database: SiteDatabase) -> String {
        guard !database.isWritable else {
            let lag = database.lagBytes.map { ", followers lack \($0) bytes" } ?? ""
            return "primary, replication now \(database.replication.rawValue)\(lag)"
        }
        let logPositions = "received \(database.received?.text ?? "-"), replayed \(database.replayed?.text ?? "-")"
        return "standby, \(database.isStreaming ? "streaming" : "not streaming"), \(logPositions)"
    }

    static func span(_ text: String, _ option: String) throws -> Span {
        guard let span = DurationText.parse(text) else {
            throw CommandFailure(.usage, "\(option): '\(text)'; allowed: \(DurationText.allowed)")
        }
        return span
    }
}
