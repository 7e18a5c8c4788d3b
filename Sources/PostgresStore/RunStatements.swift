internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// Runs and the leases on their lanes.
enum RunStatements {
    /// The lane of a run; it never changes.
    private static let lane = "lane = (SELECT lane FROM comparison_runs WHERE id = $1)"
    private static let held = "run = $1 AND token = $2 AND holder IS NOT NULL"

    /// Locks the lane of a run. What follows it in the same pipeline sees what whoever held the lock has done.
    static func lock(_ id: ComparisonRunID) -> Statement {
        Statement("SELECT 1 FROM comparison_lanes WHERE \(lane) FOR UPDATE", [.text(id.text)])
    }

    /// Locks the lane of a run, and requires the lease.
    static func requireLease(_ id: ComparisonRunID, token: LeaseToken) -> Statement {
        Statement(
            """
            SELECT require_rows(count(*), 1) FROM (
                SELECT 1 FROM comparison_lanes WHERE \(lane) AND \(held) FOR UPDATE
            ) AS held
            """, [.text(id.text), .int(token.number)])
    }

    /// Takes the lane, under the next token.
    static func claim(_ id: ComparisonRunID, holder: String, leaseFor: Span, clock: Parameter) -> Statement {
        Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(4)) AS now)
            UPDATE comparison_lanes SET run = $1, token = token + 1, holder = $2, until = (SELECT now FROM clock) + $3
            FROM comparison_runs AS wanted
            WHERE wanted.id = $1 AND NOT wanted.\(RunRow.isFinal) AND comparison_lanes.lane = wanted.lane
                AND (holder IS NULL OR until <= (SELECT now FROM clock) OR holder = $2)
                AND (run IS NULL OR run = $1 OR NOT EXISTS (
                    SELECT 1 FROM comparison_runs AS other WHERE other.id = run AND NOT other.\(RunRow.isFinal)))
            RETURNING token, until, wanted.document
            """, [.text(id.text), .text(holder), .int(leaseFor.milliseconds), clock])
    }

    /// Prolongs the lease from now.
    static func renew(_ id: ComparisonRunID, token: LeaseToken, leaseFor: Span, clock: Parameter) -> Statement {
        Statement(
            """
            UPDATE comparison_lanes SET until = \(DatabaseClock.now(4)) + $3 WHERE \(lane) AND \(held)
            RETURNING token
            """, [.text(id.text), .int(token.number), .int(leaseFor.milliseconds), clock])
    }

    /// Ends the lease.
    static func release(_ id: ComparisonRunID, token: LeaseToken) -> Statement {
        Statement(
            "UPDATE comparison_lanes SET holder = NULL, until = NULL WHERE \(lane) AND \(held)",
            [.text(id.text), .int(token.number)])
    }

    /// Frees the lane of a run that is final now.
    static func free(_ id: ComparisonRunID) -> Statement {
        Statement(
            "UPDATE comparison_lanes SET holder = NULL, until = NULL WHERE \(lane) AND run = $1", [.text(id.text)])
    }

    /// Writes the next version of a run that is not final.
    static func update(_ run: ComparisonRun, from version: Int64) throws(StoreFailure) -> Statement {
        update(try RunRow(run), from: version)
    }

    /// Writes the next version of a run that is not final.
    static func update(_ row: RunRow, from version: Int64) -> Statement {
        let changes = RunRow.columns.map(\.name).filter { !RunRow.key.contains($0) }.map { "\($0) = new.\($0)" }
        let number = RunRow.columns.count + 1
        return Statement(
            """
            WITH written AS (
                UPDATE comparison_runs AS known SET \(changes.joined(separator: ", ")) FROM \(RunRow.unnested)
                WHERE known.id = new.id AND known.version = $\(number) AND NOT known.\(RunRow.isFinal)
                RETURNING known.id
            ) SELECT require_rows(count(*), 1) FROM written
            """, RunRow.arrays([row]) + [.int(version)])
    }
}
