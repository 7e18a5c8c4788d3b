public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Makes a step durable, or refuses it whole: one pipeline, which is one transaction.
    ///
    /// - Throws: ``StoreFailure`` with the code `indeterminate` if the answer did not come or the standby did not
    ///   confirm: the run, read again, has the next version if the step was written. `other` if the step contradicts
    ///   itself, or a sum does not fit.
    public func record(_ step: ComparisonStep, token: LeaseToken) async throws(StoreFailure) -> StepResult {
        let rows = try StepRows(step)
        let statements = StepStatements(rows, token).all
        let confirmation = confirmation
        return try await write("record step") { connection in
            do {
                return (rows.result, try connection.run(statements).warnings)
            } catch let error as PostgresError where error.sqlState == PostgresError.groupRefused {
                do {
                    // What it met may be in doubt itself, and is told only once it is settled.
                    try confirmation.settle(connection.connection)
                    return (try StepRefusal(rows, token).result(connection.connection), [])
                } catch {
                    // Nothing was written; only why is not known.
                    throw StoreFailure(error, "record step", lost: .unavailable)
                }
            }
        }
    }
}

/// A step as statements. Each that must write all of its rows ends with an error where it did not.
private struct StepStatements {
    let rows: StepRows
    let token: LeaseToken

    init(_ rows: StepRows, _ token: LeaseToken) {
        self.rows = rows
        self.token = token
    }

    var all: [Statement] {
        let run = rows.step.run
        var statements = [
            RunStatements.requireLease(run.id, token: token), RunStatements.update(rows.run, from: run.version),
        ]
        if !rows.discrepancies.isEmpty { statements.append(discrepancies) }
        if !rows.positions.isEmpty { statements.append(ComparedRow.upsert(rows.positions)) }
        if !rows.findings.isEmpty { statements.append(FindingRow.upsert(rows.findings)) }
        if !rows.step.moved.isEmpty { statements.append(standing) }
        if run.state.isFinal { statements.append(RunStatements.free(run.id)) }
        return statements
    }

    /// New ones are written where there is none, others over the version that was read.
    private var discrepancies: Statement {
        let count = DiscrepancyRow.columns.count
        return Statement(
            """
            WITH written AS (
                INSERT INTO discrepancies AS known (\(DiscrepancyRow.names)) SELECT * FROM \(DiscrepancyRow.unnested)
                WHERE new.version = 1 OR EXISTS (SELECT 1 FROM discrepancies AS read WHERE read.id = new.id)
                ORDER BY new.id
                ON CONFLICT (id) DO UPDATE SET \(DiscrepancyRow.replacement)
                WHERE known.version = excluded.version - 1
                RETURNING id
            ) SELECT require_rows(count(*), $\(count + 1)) FROM written
            """, DiscrepancyRow.arrays(rows.discrepancies) + [.int(rows.discrepancies.count)])
    }

    private var standing: Statement {
        let lines = rows.step.moved.lines
        return Statement(
            """
            INSERT INTO comparison_standings AS known (provider, currency, ours, theirs)
            SELECT $1, * FROM unnest($2::text[], $3::bigint[], $4::bigint[])
            ON CONFLICT (provider, currency) DO UPDATE
            SET ours = known.ours + excluded.ours, theirs = known.theirs + excluded.theirs
            """,
            [
                .text(rows.step.run.provider.name), .texts(lines.map(\.currency.code)), .ints(lines.map(\.sides.ours)),
                .ints(lines.map(\.sides.theirs)),
            ])
    }
}

/// Finds out why a step was not written, by reading what it met.
private struct StepRefusal {
    let rows: StepRows
    let token: LeaseToken

    init(_ rows: StepRows, _ token: LeaseToken) {
        self.rows = rows
        self.token = token
    }

    func result(_ connection: PostgresConnection) throws -> StepResult {
        let run = rows.step.run
        let found = try connection.rows(
            """
            SELECT comparison_runs.version FROM comparison_runs JOIN comparison_lanes USING (lane)
            WHERE id = $1 AND NOT \(RunRow.isFinal) AND run = $1 AND token = $2 AND holder IS NOT NULL
            """, [.text(run.id.text), .int(token.number)])
        guard found.count == 1 else { return .leaseLost }
        guard try found.int(0, 0) == run.version else { return .versionConflict }
        let stored = try connection.rows(
            "SELECT id, version FROM discrepancies WHERE id = ANY ($1)", [.texts(rows.discrepancies.map(\.id))])
        let versions = Dictionary(
            try stored.map { (try $0.word(0), try $0.number(1)) }, uniquingKeysWith: { first, _ in first })
        guard rows.discrepancies.allSatisfy({ versions[$0.id] ?? 0 == $0.readVersion }) else {
            return .discrepancyConflict
        }
        throw StoreFailure(.serialization, operation: "record step", cause: "another writer was there in between")
    }
}
