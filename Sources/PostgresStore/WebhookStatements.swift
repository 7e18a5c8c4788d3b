internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// The statements about webhooks.
enum WebhookStatements {
    /// Writes reports where their payments show something new.
    static func raise(_ rows: [WebhookRow]) -> Statement {
        Statement(
            """
            INSERT INTO webhooks (payment_id, caller, reported, raised, raised_at, due_at)
            SELECT payment_id, caller, reported, 1, raised_at, raised_at
            FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
                AS new (payment_id, caller, reported, raised_at)
            ORDER BY payment_id
            ON CONFLICT (payment_id) DO UPDATE
            SET reported = excluded.reported, \(WebhookRow.raise(at: "excluded.raised_at"))
            WHERE webhooks.reported <> excluded.reported
            """,
            [
                .texts(rows.map(\.payment)), .texts(rows.map(\.caller)), .texts(rows.map(\.reported)),
                .ints(rows.map(\.raisedAt)),
            ])
    }

    /// Forgets what was reported of payments that are under way again.
    static func forget(_ rows: [WebhookRow]) -> Statement {
        Statement(
            "UPDATE webhooks SET reported = $2 WHERE payment_id = ANY ($1::text[]) AND reported <> $2",
            [.texts(rows.map(\.payment)), .text(WebhookRow.nothing)])
    }

    /// Leases what is due; whoever else claims at this moment gets others.
    static func claim(_ request: WebhookClaimRequest, clock: Parameter) -> Statement {
        Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now), chosen AS MATERIALIZED (
                SELECT payment_id, due_at AS since FROM webhooks
                WHERE caller = $2 AND due_at IS NOT NULL AND due_at <= (SELECT now FROM clock)
                ORDER BY due_at, payment_id LIMIT $3 FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE webhooks SET token = token + 1, lease_until = (SELECT now FROM clock) + $4,
                    due_at = (SELECT now FROM clock) + $4
                FROM chosen WHERE webhooks.payment_id = chosen.payment_id
                RETURNING webhooks.*, chosen.since
            ) SELECT token, \(WebhookRow.names) FROM claimed ORDER BY since, payment_id
            """,
            [clock, .text(request.caller.name), .int(request.limit), .int(request.leaseFor.milliseconds)])
    }

    /// Writes what became of a delivery, where its lease is held.
    static func settle(_ settlement: WebhookSettlement, clock: Parameter) -> Statement {
        let values = WebhookRow.values(of: settlement).map { Parameter($0) }
        let count = values.count
        return Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(count + 1)) AS now)
            UPDATE webhooks SET \(WebhookRow.settle(settlement.outcome, now: now) { "$\($0)" })
            WHERE payment_id = $\(count + 2) AND token = $\(count + 3) AND lease_until IS NOT NULL
            RETURNING payment_id
            """, values + [clock, .text(settlement.payment.text), .int(settlement.token.number)])
    }

    /// Makes rows due at once: that of a payment, or those of a caller that were given up.
    static func redeliver(where condition: String, _ subject: String, clock: Parameter) -> Statement {
        Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now)
            UPDATE webhooks SET \(WebhookRow.raise(at: now)) WHERE \(condition) RETURNING \(WebhookRow.names)
            """, [clock, .text(subject)])
    }

    /// When the next row of each caller can be claimed.
    static func next(of callers: [CallerID]) -> Statement {
        Statement(
            """
            SELECT caller, (SELECT due_at FROM webhooks WHERE webhooks.caller = wanted.caller AND due_at IS NOT NULL
                ORDER BY due_at LIMIT 1)
            FROM unnest($1::text[]) AS wanted (caller)
            """, [.texts(callers.map(\.name))])
    }

    private static let now = "(SELECT now FROM clock)"
}
