package import PaymentCore
package import Reconciler

/// A run of the comparison as a row of `comparison_runs`.
package struct RunRow: WrittenRow {
    /// The table.
    package static let table = "comparison_runs"
    /// The columns by which a row is found.
    package static let key = ["id"]
    /// All columns, in the order of ``values``.
    package static let columns: [Column] = [
        Column("id", .text), Column("provider", .text), Column("lane", .text), Column("kind", .text),
        Column("attempt", .int), Column("is_dry", .flag), Column("state", .text), Column("window_to", .int),
        Column("created_at", .int), Column("finished_at", .int), Column("version", .int), Column("document", .text),
    ]
    /// The states after which a run never changes, in SQL.
    package static let isFinal = "state IN ('completed', 'abandoned')"
    /// The values, one for each column.
    package let values: [ColumnValue]

    /// The row of a run, under the version that it has.
    package init(_ run: ComparisonRun) throws(StoreFailure) {
        values = [
            .text(run.id.text), .text(run.provider.name), .text(run.lane), .text(run.kind.rawValue),
            .int(Int64(run.attempt)), .flag(run.isDry), .text(run.state.rawValue), .int(run.window.to.milliseconds),
            .int(run.createdAt.milliseconds), .int(run.finishedAt?.milliseconds), .int(run.version),
            .text(try StoredDocument.encode(run)),
        ]
    }
}

/// What a run found, as a row of `comparison_findings`.
package struct FindingRow: WrittenRow {
    /// The table.
    package static let table = "comparison_findings"
    /// The columns by which a row is found.
    package static let key = ["run", "discrepancy"]
    /// All columns, in the order of ``values``.
    package static let columns: [Column] = [
        Column("run", .text), Column("discrepancy", .text), Column("document", .text),
    ]
    /// The values, one for each column.
    package let values: [ColumnValue]

    /// The row of a finding.
    package init(_ finding: RunFinding) throws(StoreFailure) {
        values = [
            .text(finding.run.text), .text(finding.discrepancy.text), .text(try StoredDocument.encode(finding)),
        ]
    }
}

/// A discrepancy as a row of `discrepancies`.
package struct DiscrepancyRow: WrittenRow {
    /// The table.
    package static let table = "discrepancies"
    /// The columns by which a row is found.
    package static let key = ["id"]
    /// All columns, in the order of ``values``.
    package static let columns: [Column] = [
        Column("id", .text), Column("provider", .text), Column("key", .text), Column("finding", .text),
        Column("state", .text), Column("payment", .text), Column("assignee", .text), Column("opened_at", .int),
        Column("last_seen_at", .int), Column("closed_at", .int), Column("at_risk", .int),
        Column("risk_currency", .text), Column("ours_net", .int), Column("ours_currency", .text),
        Column("theirs_net", .int), Column("theirs_currency", .text), Column("explains_money", .flag),
        Column("version", .int), Column("document", .text),
    ]
    /// The values, one for each column.
    package let values: [ColumnValue]
    /// The identifier.
    package let id: String
    /// The version that was read; 0 for one that is not stored.
    package let readVersion: Int64

    /// The row of a discrepancy after a change of the version that it has: it is written under the next.
    package init(_ discrepancy: Discrepancy) throws(StoreFailure) {
        id = discrepancy.id.text
        readVersion = discrepancy.version
        let written = discrepancy.stored(version: discrepancy.version + 1)
        values = [
            .text(id), .text(written.provider.name), .text(written.key?.text), .text(written.finding.rawValue),
            .text(written.state.rawValue), .text(written.payment?.text), .text(written.assignee),
            .int(written.openedAt.milliseconds), .int(written.lastSeenAt.milliseconds),
            .int(written.closedAt?.milliseconds), .int(written.atRisk?.value), .text(written.atRisk?.currency.code),
            .int(written.oursNet?.value), .text(written.oursNet?.currency.code), .int(written.theirsNet?.value),
            .text(written.theirsNet?.currency.code), .flag(written.explainsMoney), .int(written.version),
            .text(try StoredDocument.encode(written)),
        ]
    }
}

/// A step as rows, made by the caller's own task, so that a writer does nothing but write.
package struct StepRows: Sendable {
    /// The step.
    package let step: ComparisonStep
    /// The run under its next version.
    package let run: RunRow
    /// The positions.
    package let positions: [ComparedRow]
    /// The discrepancies under their next versions, in order of their identifiers.
    package let discrepancies: [DiscrepancyRow]
    /// The findings.
    package let findings: [FindingRow]

    /// - Throws: ``StoreFailure`` with the code `other` if the step contradicts itself.
    package init(_ step: ComparisonStep) throws(StoreFailure) {
        try step.check()
        self.step = step
        run = try RunRow(step.run.stored(version: step.run.version + 1))
        var positions: [ComparedRow] = []
        positions.reserveCapacity(step.positions.count)
        for position in step.positions { positions.append(try ComparedRow(position)) }
        self.positions = positions
        var discrepancies: [DiscrepancyRow] = []
        for discrepancy in step.discrepancies.sorted(by: { $0.id < $1.id }) {
            discrepancies.append(try DiscrepancyRow(discrepancy))
        }
        self.discrepancies = discrepancies
        var findings: [FindingRow] = []
        for finding in step.findings { findings.append(try FindingRow(finding)) }
        self.findings = findings
    }

    /// What becomes of it, once it is durable.
    package var result: StepResult { .recorded(version: step.run.version + 1) }
}
