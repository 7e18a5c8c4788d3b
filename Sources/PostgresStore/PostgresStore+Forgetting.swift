internal import PaymentCore
internal import Reconciler
internal import StoreRows

extension PostgresStore {
    /// So many rows are removed in one transaction.
    private static let forgettingStep = 2_000

    /// Removes what comparisons need no longer: positions that are settled and were compared last before a moment, runs
    /// that ended before it with their findings, and discrepancies that were closed before it. Never what is unsettled,
    /// what explains a difference of money, or the head of a provider's chain.
    ///
    /// - Returns: how many rows were removed.
    func forget(before moment: Timestamp) async throws(StoreFailure) -> Int {
        var forgotten = 0
        for sql in PostgresStore.forgetting {
            while true {
                let removed = try await forget(sql, before: moment)
                forgotten += removed
                if removed < PostgresStore.forgettingStep { break }
            }
        }
        return forgotten
    }

    private func forget(_ sql: String, before moment: Timestamp) async throws(StoreFailure) -> Int {
        try await write("forget") { connection in
            let (rows, warnings) = try connection.run([
                Statement(sql, [.int(moment.milliseconds), .int(PostgresStore.forgettingStep)])
            ])
            return (Int(try rows.last?.int(0, 0) ?? 0), warnings)
        }
    }

    /// Findings before their runs: a run without findings is removed, one that still has some is not.
    private static let forgetting = [
        """
        WITH old AS (
            SELECT provider, key FROM compared_positions WHERE \(ForgottenRows.positions(before: "$1"))
            ORDER BY compared_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM compared_positions AS known USING old
            WHERE known.provider = old.provider AND known.key = old.key RETURNING 1
        ) SELECT count(*) FROM gone
        """,
        """
        WITH old AS (
            SELECT found.run, found.discrepancy FROM (
                SELECT id FROM comparison_runs WHERE \(ForgottenRows.runs(before: "$1"))
            ) AS ended CROSS JOIN LATERAL (
                SELECT run, discrepancy FROM comparison_findings WHERE run = ended.id
                LIMIT $2 FOR UPDATE SKIP LOCKED
            ) AS found LIMIT $2
        ), gone AS (
            DELETE FROM comparison_findings AS known USING old
            WHERE known.run = old.run AND known.discrepancy = old.discrepancy RETURNING 1
        ) SELECT count(*) FROM gone
        """,
        """
        WITH old AS (
            SELECT id, lane, is_dry FROM comparison_runs WHERE \(ForgottenRows.runs(before: "$1"))
                AND NOT EXISTS (SELECT 1 FROM comparison_findings WHERE run = comparison_runs.id)
            ORDER BY finished_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ), lanes AS (
            -- A dry run has a lane of its own.
            DELETE FROM comparison_lanes USING old WHERE comparison_lanes.lane = old.lane AND old.is_dry
        ), gone AS (
            DELETE FROM comparison_runs AS known USING old WHERE known.id = old.id RETURNING 1
        ) SELECT count(*) FROM gone
        """,
        """
        WITH old AS (
            SELECT id FROM discrepancies WHERE \(ForgottenRows.discrepancies(before: "$1"))
            ORDER BY closed_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM discrepancies AS known USING old WHERE known.id = old.id RETURNING 1
        ) SELECT count(*) FROM gone
        """,
    ]
}
