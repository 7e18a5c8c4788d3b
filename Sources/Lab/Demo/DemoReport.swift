import Foundation

/// The outcome of a run: what was counted, what differs, and the verdict.
struct DemoReport: Sendable, Encodable {
    let seed: UInt64
    let asked: Int
    let faultPercent: Int
    /// Milliseconds from each kill until the daemon was ready again.
    let recoveriesMs: [Int]
    /// Milliseconds from the first request to the last settled payment.
    let durationMs: Int
    let figures: DemoFigures
    let chargedTwice: Int
    let lost: Int
    let inDoubt: Int
    let booksDiffer: Int
    /// Legs of which both sides were compared.
    let legsCompared: Int
    /// Payments that the injected faults force into quarantine.
    let quarantineForced: Int
    let quarantineNeedless: Int
    /// Payments whose audit trail is broken, or what the daemon's own check of all of them says.
    let auditBreaks: [String]
    let differences: [Comparison.Difference]

    init(
        options: DemoOptions, recoveries: [Duration], duration: Duration, sides: BothSides, comparison: Comparison,
        auditBreaks: [String]
    ) {
        seed = options.seed
        asked = options.payments
        faultPercent = options.faultPercent
        recoveriesMs = recoveries.map(Words.milliseconds)
        durationMs = Words.milliseconds(duration)
        figures = DemoFigures(sides)
        chargedTwice = comparison.count(.chargedTwice)
        lost = comparison.count(.lost)
        inDoubt = comparison.count(.inDoubt)
        booksDiffer = comparison.count(.booksDiffer)
        legsCompared = comparison.legs
        quarantineForced = comparison.forced.count
        quarantineNeedless = comparison.count(.needlessQuarantine)
        self.auditBreaks = auditBreaks
        differences = Array(comparison.differences.prefix(DemoReport.shownDifferences))
    }

    static let shownDifferences = 20

    var isGood: Bool {
        chargedTwice + lost + inDoubt + booksDiffer + quarantineNeedless == 0 && auditBreaks.isEmpty
    }

    /// The table and what follows from it.
    func show(on screen: Screen) {
        showTable(screen)
        for difference in differences { show(difference, screen) }
        let count = chargedTwice + lost + inDoubt + booksDiffer + quarantineNeedless
        if count > differences.count { screen.say("  … and \(Words.count(count - differences.count)) more") }
        for found in auditBreaks.prefix(DemoReport.shownDifferences) {
            screen.say(screen.bad("  the audit trail is broken: ") + found)
        }
        if !differences.isEmpty || !auditBreaks.isEmpty { screen.say() }
        if isGood {
            screen.say(
                screen.good("  All \(Words.count(legsCompared)) legs say the same in both ledgers,")
                    + screen.good(" and every audit trail is intact."))
        } else {
            screen.say(screen.bad("  This must not happen: the two sides do not agree."))
        }
    }

    private func showTable(_ screen: Screen) {
        let states = ["succeeded", "canceled", "failed", "authorized", "quarantined", "processing", "canceling"]
        screen.say("  \(screen.bold("payments")) \(screen.faint("by final state"))")
        for state in states {
            guard let count = figures.payments[state] else { continue }
            var note = ""
            if state == "authorized" { note = "held on purpose: nobody captured or canceled them" }
            row(state, count, note, screen)
        }
        screen.say()
        screen.say("  \(screen.bold("what the providers did")) \(screen.faint("by their own journals"))")
        let percent = Double(figures.faultyRequests) * 100 / Double(max(1, figures.providerRequests))
        row("requests received", figures.providerRequests, "", screen)
        row("of them faulty", figures.faultyRequests, "\(Int(percent.rounded())) of 100", screen)
        row("answers lost", figures.answersLost, "executed, and the daemon was not told so", screen)
        screen.say()
        screen.say("  \(screen.bold("what the daemon did")) \(screen.faint("by its books and audit trails"))")
        row("left open by kill -9", figures.leftByKills, "effects under way at that moment", screen)
        row("settled without sending again", figures.settledWithoutSendingAgain, "in doubt, asked, known", screen)
        row("sent again", figures.sentAgain, "under the same key", screen)
        row("rolled back", figures.rolledBack, "legs voided, tombstoned or given back", screen)
        row("refunded as asked", figures.refunds, "", screen)
        row("quarantined", figures.quarantined, quarantineNote, screen)
        screen.say()
        screen.say("  \(screen.bold("what must not happen")) \(screen.faint("by both ledgers, line by line"))")
        verdict("charged twice", chargedTwice, screen)
        verdict("lost", lost, screen)
        verdict("in doubt", inDoubt, screen)
        verdict("lines that differ", booksDiffer, screen)
        verdict("quarantined without need", quarantineNeedless, screen)
        screen.say()
    }

    private var quarantineNote: String {
        let forced = "\(quarantineForced) forced: a provider recorded another amount than it was asked for"
        return quarantineForced == 0 ? "" : forced
    }

    private func row(_ name: String, _ count: Int, _ note: String, _ screen: Screen) {
        screen.say("    \(DemoReport.line(name, count))\(note.isEmpty ? "" : "   " + screen.faint(note))")
    }

    private func verdict(_ name: String, _ count: Int, _ screen: Screen) {
        let line = DemoReport.line(name, count)
        screen.say("    " + (count == 0 ? screen.good(line) : screen.bad(line)))
    }

    /// A name and a number in columns.
    static func line(_ name: String, _ count: Int) -> String {
        let number = Words.count(count)
        let dots = max(1, 40 - name.count - number.count)
        return "\(name) \(String(repeating: " ", count: dots))\(number)"
    }

    private func show(_ difference: Comparison.Difference, _ screen: Screen) {
        let name = difference.kind.rawValue.split(separator: "_").joined(separator: " ")
        let leg = difference.leg.map { " leg \($0)" } ?? ""
        screen.say(screen.bad("  \(name)") + "  \(difference.payment)\(leg)")
        screen.say("      ours    \(difference.ours)")
        screen.say("      theirs  \(difference.theirs)")
    }
}
