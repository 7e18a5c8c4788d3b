import OperationsConsole
import PaymentCore
import ProgramEdge

/// One line for a run, a finding or a discrepancy; as JSON the documents of the operations API.
enum ComparisonLine {
    static func render(_ run: ComparisonRun, as format: OutputFormat) -> String {
        guard format == .text else { return ComparisonDocument.line(run) }
        let counts = run.counts
        let differences = ComparisonClass.differences.reduce(0) { $0 + counts[$1] }
        let progress =
            run.state == .running ? "\(run.state.rawValue) (\(run.checkpoint.phase.rawValue))" : run.state.rawValue
        let proof = run.isProven.map { $0 ? "; the money is proven" : "; the money is NOT proven" } ?? ""
        let trouble = run.trouble.map {
            "; held up since \($0.since.rfc3339) by \(TerminalText.written("\($0.code)")), \($0.times) times"
                + ($0.needsPerson ? ": a person is needed" : "")
        }
        return "\(run.id)  \(run.provider)  \(run.window.from.rfc3339) to \(run.window.to.rfc3339)  \(progress)"
            + "\(run.isDry ? ", dry" : "")  listed \(counts.listed), ours \(counts.booked), asked \(counts.asked), "
            + "differ \(differences), opened \(counts.opened), closed \(counts.closed)\(proof)\(trouble ?? "")"
    }

    static func render(_ finding: RunFinding, isDry: Bool, as format: OutputFormat) -> String {
        guard format == .text else { return ComparisonDocument.line(finding) }
        let amount = finding.atRisk.map { "  \($0)" } ?? ""
        let payment = finding.evidence.payment.map { "  \($0)" } ?? ""
        let outcome =
            finding.closeReason.map { "\(finding.outcome.rawValue) (\($0.rawValue))" } ?? finding.outcome.rawValue
        return "  \(finding.discrepancy)  \(finding.evidence.finding.rawValue)\(amount)\(payment)  "
            + "\(isDry ? "would be " : "")\(outcome)  policy: \(finding.action.rawValue)"
    }

    static func render(_ discrepancy: Discrepancy, now: Timestamp, as format: OutputFormat) -> String {
        guard format == .text else { return ComparisonDocument.line(discrepancy, isComplete: false) }
        let amount = discrepancy.atRisk.map { "  \($0)" } ?? ""
        let payment = discrepancy.payment.map { "  \($0)" } ?? ""
        let state = discrepancy.closeReason.map { "closed (\($0.rawValue))" } ?? discrepancy.state.rawValue
        return "\(discrepancy.id)  \(discrepancy.provider)  \(discrepancy.finding.rawValue)  \(state)  "
            + "\(age(now - discrepancy.openedAt)) old\(amount)\(payment)  \(discrepancy.suggestion.rawValue)  "
            + "\(TerminalText.written(discrepancy.assignee ?? "nobody's"))  version \(discrepancy.version)"
    }

    /// All of a discrepancy: as text in lines for people.
    static func complete(_ discrepancy: Discrepancy, now: Timestamp, as format: OutputFormat) -> String {
        guard format == .text else { return ComparisonDocument.line(discrepancy, isComplete: true) }
        var lines = [render(discrepancy, now: now, as: .text)]
        let evidence = discrepancy.evidence
        lines.append(
            "  found by \(evidence.row), last seen \(discrepancy.lastSeenAt.rfc3339) by \(discrepancy.lastRun)")
        if let key = discrepancy.key { lines.append("  key       \(key)") }
        lines.append("  ours      \(evidence.ours.map(booked) ?? "nothing")")
        if let named = evidence.named { lines.append("  named     \(booked(named))") }
        lines.append("  theirs    \(evidence.theirs.map(listed) ?? "nothing")")
        if let balance = evidence.balance {
            lines.append("  balance   \(balance.currency.code): \(balance.unexplained) not explained")
        }
        if let moment = discrepancy.actsAt { lines.append("  acts at   \(moment.rfc3339), at the earliest") }
        for entry in discrepancy.history {
            let author = TerminalText.written(entry.by ?? entry.run?.text ?? "-")
            lines.append(
                "  \(entry.at.rfc3339)  \(entry.kind.rawValue)  \(author)  \(TerminalText.written(entry.text))")
        }
        return lines.joined(separator: "\n")
    }

    private static func booked(_ position: BookedPosition) -> String {
        "\(position.payment) leg \(position.leg): \(position.standing.rawValue), amount \(position.amount), "
            + "captured \(position.captured), refunded \(position.refunded); the payment is \(position.state.rawValue)"
    }

    private static func listed(_ position: ListedPosition) -> String {
        let amounts = [
            position.amount.map { "amount \($0)" }, position.captured.map { "captured \($0)" },
            position.refunded.map { "refunded \($0)" }, position.contradiction.map { TerminalText.written("\($0)") },
            position.isShared ? "\(position.others.count) more under the key" : nil,
        ]
        return ([position.status.rawValue] + amounts.compactMap(\.self)).joined(separator: ", ")
    }

    /// The two largest units.
    private static func age(_ span: Span) -> String {
        let minutes = max(0, span.milliseconds / 60_000)
        if minutes < 60 { return "\(minutes)m" }
        if minutes < 1_440 { return "\(minutes / 60)h\(minutes % 60)m" }
        return "\(minutes / 1_440)d\(minutes % 1_440 / 60)h"
    }
}
