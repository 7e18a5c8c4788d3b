internal import PaymentCore
internal import Reconciler

/// What is due, found provider by provider: a backlog at one that is slow or full is never read through in search of
/// what is due at the others.
enum DueStatements {
    /// Due, and without a lease. The words are those of the partial index.
    private static let free = "due_at IS NOT NULL AND lease_until IS NULL"

    /// The providers at which anything is due at any time, each found by one step in the index.
    private static let providers = """
        providers AS (
            (SELECT due_provider AS provider FROM payments WHERE \(free) ORDER BY due_provider LIMIT 1)
            UNION ALL
            SELECT (SELECT due_provider FROM payments WHERE \(free) AND due_provider > providers.provider
                ORDER BY due_provider LIMIT 1)
            FROM providers WHERE providers.provider IS NOT NULL
        )
        """

    /// Leases the longest overdue, within the limits; whoever else claims at this moment gets others.
    static func claim(_ request: ClaimRequest, clock: Parameter) -> Statement {
        let limits = request.limitPerProvider.sorted { $0.key < $1.key }
        return Statement(
            """
            WITH RECURSIVE clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now), \(providers), allowances AS (
                SELECT * FROM unnest($2::text[], $3::bigint[]) AS allowances (provider, places)
            ), candidates AS (
                SELECT found.id, found.due_at, providers.provider
                FROM providers LEFT JOIN allowances USING (provider) CROSS JOIN LATERAL (
                    SELECT id, due_at FROM payments
                    WHERE \(free) AND due_provider = providers.provider
                        AND due_at <= (SELECT now FROM clock) - \(wait("providers.provider", others: "$7"))
                    ORDER BY due_at, id LIMIT least($4, coalesce(allowances.places, $4)) FOR UPDATE SKIP LOCKED
                ) AS found WHERE providers.provider IS NOT NULL
                UNION ALL
                SELECT * FROM (
                    -- Whose holder let the lease run out: few, because every holder ends or prolongs its leases.
                    SELECT id, due_at, due_provider FROM payments
                    WHERE lease_until IS NOT NULL AND lease_until <= (SELECT now FROM clock)
                        AND due_at <= (SELECT now FROM clock) - \(wait("due_provider", others: "$7"))
                    ORDER BY lease_until LIMIT $4 FOR UPDATE SKIP LOCKED
                ) AS abandoned
            ), ranked AS (
                SELECT id, due_at, provider, row_number() OVER (PARTITION BY provider ORDER BY due_at, id) AS place
                FROM candidates
            ), chosen AS (
                SELECT ranked.id, ranked.due_at FROM ranked LEFT JOIN allowances USING (provider)
                WHERE ranked.place <= coalesce(allowances.places, $4) ORDER BY ranked.due_at, ranked.id LIMIT $4
            ), claimed AS (
                UPDATE payments SET lease_holder = $5, lease_token = lease_token + 1,
                    lease_until = (SELECT now FROM clock) + $6
                FROM chosen WHERE payments.id = chosen.id
                RETURNING payments.id, payments.lease_token, payments.lease_until, payments.document, chosen.due_at
            ) SELECT id, lease_token, lease_until, document FROM claimed ORDER BY due_at, id
            """,
            [
                clock, .texts(limits.map(\.key.name)), .ints(limits.map { Int64($0.value) }),
                .int(request.limit), .text(request.holder), .int(request.leaseFor.milliseconds),
                .int(request.othersAfter.milliseconds),
            ])
    }

    /// How long what is due at a provider is left to others; the providers that are ours are parameter 2.
    private static func wait(_ provider: String, others: String) -> String {
        "CASE WHEN \(provider) = '' OR \(provider) = ANY($2::text[]) THEN 0 ELSE \(others)::bigint END"
    }

    /// Leases what waits for a provider and is not due yet, in order.
    static func claimWaiting(_ request: WaitingRequest, clock: Parameter) -> Statement {
        Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now), chosen AS MATERIALIZED (
                SELECT id, due_at FROM payments
                WHERE \(free) AND due_provider = $2 AND due_at > (SELECT now FROM clock)
                    AND ($3::bigint IS NULL OR (due_at, id) > ($3, $4))
                ORDER BY due_at, id LIMIT $5 FOR UPDATE SKIP LOCKED
            ), claimed AS (
                UPDATE payments SET lease_holder = $6, lease_token = lease_token + 1,
                    lease_until = (SELECT now FROM clock) + $7
                FROM chosen WHERE payments.id = chosen.id
                RETURNING payments.id, payments.lease_token, payments.lease_until, payments.document, chosen.due_at
            ) SELECT id, lease_token, lease_until, document FROM claimed ORDER BY due_at, id
            """,
            [
                clock, .text(request.provider.name), .int(request.after?.dueAt.milliseconds),
                .text(request.after?.id.text), .int(request.limit), .text(request.holder),
                .int(request.leaseFor.milliseconds),
            ])
    }

    /// When the next payment of a scope can be claimed as due: one that is leased not before its lease ends.
    static func next(in scope: DueScope) -> Statement {
        Statement(
            """
            WITH RECURSIVE \(providers) SELECT least(
                (SELECT min((SELECT due_at FROM payments WHERE \(free) AND due_provider = providers.provider
                    ORDER BY due_at LIMIT 1) + \(wait("providers.provider", others: "$1"))) FROM providers),
                (SELECT min(greatest(due_at + \(wait("due_provider", others: "$1")), lease_until)) FROM payments
                    WHERE lease_until IS NOT NULL AND due_at IS NOT NULL))
            """,
            [.int(scope.othersAfter.milliseconds), .texts(scope.providers.map(\.name).sorted())])
    }

    /// How many payments are due and not leased.
    static func count(clock: Parameter) -> Statement {
        Statement(
            """
            WITH clock AS MATERIALIZED (SELECT \(DatabaseClock.now(1)) AS now)
            SELECT (SELECT count(*) FROM payments WHERE \(free) AND due_at <= (SELECT now FROM clock))
                + (SELECT count(*) FROM payments WHERE lease_until IS NOT NULL AND due_at <= (SELECT now FROM clock)
                    AND lease_until <= (SELECT now FROM clock))
            """, [clock])
    }
}
