internal import GRDB
internal import Logging
internal import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// So many rows are removed in one transaction: few enough that nobody waits for it.
    private static let forgettingStep = 1_000

    /// Removes what comparisons need no longer than the retention: positions that are settled and were compared last
    /// before it, runs that ended before it with their findings, and discrepancies that were closed before it. Never
    /// what is unsettled, what explains a difference of money, or the head of a provider's chain. Payments stay.
    ///
    /// - Returns: how many rows were removed.
    public func upkeep() async throws(StoreFailure) -> Int {
        guard let retention else { return 0 }
        let before = (clock.now() + (Span.zero - retention)).milliseconds
        var forgotten = 0
        for sql in SQLiteStore.forgetting {
            while true {
                let removed = try await queue.write("forget") { db in
                    try db.cachedStatement(sql: sql).execute(arguments: [before, SQLiteStore.forgettingStep])
                    return db.changesCount
                }
                forgotten += removed
                if removed < SQLiteStore.forgettingStep { break }
            }
        }
        if forgotten > 0 {
            logger.info("what was compared long ago was removed", metadata: ["rows": "\(forgotten)"])
        }
        return forgotten
    }

    /// Findings before their runs, and runs after their lanes: a dry run has a lane of its own.
    private static let forgetting = [
        """
        DELETE FROM compared_positions WHERE (provider, key) IN (
            SELECT provider, key FROM compared_positions WHERE \(ForgottenRows.positions(before: "?1"))
            ORDER BY compared_at LIMIT ?2)
        """,
        """
        DELETE FROM comparison_findings WHERE (run, discrepancy) IN (
            SELECT run, discrepancy FROM comparison_runs
                CROSS JOIN comparison_findings ON comparison_findings.run = comparison_runs.id
            WHERE \(ForgottenRows.runs(before: "?1")) LIMIT ?2)
        """,
        """
        DELETE FROM comparison_lanes WHERE lane IN (
            SELECT comparison_lanes.lane FROM comparison_lanes
                CROSS JOIN comparison_runs ON comparison_runs.id = comparison_lanes.run
            WHERE is_dry AND \(ForgottenRows.runs(before: "?1")) LIMIT ?2)
        """,
        """
        DELETE FROM comparison_runs WHERE id IN (
            SELECT id FROM comparison_runs WHERE \(ForgottenRows.runs(before: "?1"))
                AND NOT EXISTS (SELECT 1 FROM comparison_findings WHERE run = comparison_runs.id)
            ORDER BY finished_at LIMIT ?2)
        """,
        """
        DELETE FROM discrepancies WHERE id IN (
            SELECT id FROM discrepancies WHERE \(ForgottenRows.discrepancies(before: "?1"))
            ORDER BY closed_at LIMIT ?2)
        """,
    ]
}
