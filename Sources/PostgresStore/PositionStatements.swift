internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// What is known of transactions, by their keys: each page is one statement.
///
/// Each lookup is a subquery with a LIMIT, which PostgreSQL carries out by an index for one key at a time. Joined
/// otherwise, a plan that was made while the tables were small would read them from end to end, and be kept.
enum PositionStatements {
    /// What is asked for by keys, in the order of the questions.
    static func asked(_ provider: ProviderName, _ questions: [PositionQuestion]) -> Statement {
        Statement(
            """
            SELECT asked.key, \(found), \(pruned), \(ComparedRow.qualified)
            FROM unnest($2::text[], $3::text[], $4::bigint[]) WITH ORDINALITY AS asked (key, payment, leg, place)
            LEFT JOIN LATERAL (\(remembered("asked.key"))) AS c ON true
            \(books)
            ORDER BY asked.place
            """,
            [
                .text(provider.name), .texts(questions.map(\.key.text)), .texts(questions.map(\.payment?.text)),
                .ints(questions.map { $0.leg.map { Int64($0) } }),
            ])
    }

    /// What is unsettled, in order of the keys.
    static func unsettled(_ provider: ProviderName, after key: EffectKey?, limit: Int) -> Statement {
        // The index of effects is in the database's own order.
        Statement(
            """
            WITH c AS MATERIALIZED (
                SELECT key COLLATE "default" AS asked_key, \(ComparedRow.selection) FROM compared_positions
                WHERE provider = $1 AND unsettled \(key == nil ? "" : "AND key > $3") ORDER BY key LIMIT $2
            )
            SELECT asked.key, \(found), \(pruned), \(ComparedRow.qualified)
            FROM c JOIN LATERAL (
                SELECT c.asked_key AS key, c.theirs_payment AS payment, c.theirs_leg AS leg
            ) AS asked ON true
            \(books)
            ORDER BY asked.key COLLATE "C"
            """, [.text(provider.name), .int(limit)] + (key.map { [.text($0.text)] } ?? []))
    }

    /// The legs at a provider of payments that changed in a window, from a place on: of the first `limit` payments
    /// there, whether they have a leg at the provider or not.
    static func changed(
        _ provider: ProviderName, in window: ComparedWindow, from cursor: BookedPlace?, limit: Int
    ) -> Statement {
        let first = max(cursor?.updatedAt ?? window.from, window.from)
        let id = first == cursor?.updatedAt ? cursor?.payment.text ?? "" : ""
        return Statement(
            """
            WITH p AS MATERIALIZED (
                SELECT \(BookedColumns.payment) FROM payments
                WHERE (updated_at, id) >= ($2, $3) AND updated_at < $4 ORDER BY updated_at, id LIMIT $5
            )
            SELECT p.id, p.updated_at, l.leg, told.*
            FROM p
            LEFT JOIN LATERAL (
                SELECT *, coalesce(key, (
                    SELECT effects.key FROM effects
                    WHERE effects.payment_id = legs.payment_id AND effects.provider = $1 AND effects.leg = legs.leg
                        AND \(BookedColumns.primaryKinds) LIMIT 1)) AS known_key
                FROM legs WHERE payment_id = p.id AND provider = $1 ORDER BY leg
            ) AS l ON true
            LEFT JOIN LATERAL (\(remembered("l.known_key"))) AS c ON true
            LEFT JOIN LATERAL (
                SELECT \(BookedColumns.selection), \(ComparedRow.qualified)
                WHERE (\(ComparedRow.isUnchanged)) IS NOT TRUE
            ) AS told ON true
            ORDER BY p.updated_at, p.id, l.leg
            """,
            [
                .text(provider.name), .int(first.milliseconds), .text(id), .int(window.to.milliseconds), .int(limit),
            ])
    }

    private static func remembered(_ key: String) -> String {
        """
        SELECT \(ComparedRow.selection) FROM compared_positions AS remembered
            WHERE remembered.provider = $1 AND remembered.key = \(key) LIMIT 1
        """
    }

    /// The leg that has the key of what is asked; where there is none, the leg that it names. Nearly always they are
    /// the same, and its effects are not looked for.
    private static let books = """
        LEFT JOIN LATERAL (
            SELECT \(BookedColumns.leg) FROM legs
            WHERE payment_id = asked.payment AND provider = $1 AND (asked.leg IS NULL OR leg = asked.leg)
            ORDER BY leg LIMIT 1
        ) AS named ON true
        LEFT JOIN LATERAL (
            SELECT \(BookedColumns.leg("legs")) FROM effects
            JOIN legs ON legs.payment_id = effects.payment_id AND legs.leg = effects.leg
            WHERE named.key IS DISTINCT FROM asked.key AND effects.provider = $1 AND effects.key = asked.key
                AND \(BookedColumns.primaryKinds) LIMIT 1
        ) AS own ON true
        LEFT JOIN LATERAL (
            SELECT \(BookedColumns.payment) FROM payments
            WHERE id = coalesce(own.payment_id, named.payment_id) LIMIT 1
        ) AS p ON true
        """

    /// The columns of the leg that was found, and of its payment.
    private static let found =
        BookedColumns.legColumns.map { "CASE WHEN own.payment_id IS NULL THEN named.\($0) ELSE own.\($0) END" }
        .joined(separator: ", ") + ", \(BookedColumns.ofPayment)"

    /// Whether the payment that is named is gone and its key is spent: it was pruned.
    private static let pruned = """
        CASE WHEN p.id IS NULL AND asked.payment IS NOT NULL
            AND EXISTS (SELECT 1 FROM idempotency_keys WHERE place = asked.payment)
            AND NOT EXISTS (SELECT 1 FROM payments WHERE id = asked.payment)
            THEN 1::bigint ELSE 0::bigint END
        """

    /// A row of ``asked(_:_:)`` or ``unsettled(_:after:limit:)``.
    static func known(_ row: StoredRow, at provider: ProviderName) throws -> KnownPosition {
        let key = EffectKey(reported: try row.word(0))
        var known = KnownPosition(
            key: key, books: try BookedColumns.position(row, from: 1, at: provider),
            row: try ComparedRow.position(row, from: 2 + BookedColumns.count, at: provider, key: key))
        known.isPruned = try row.number(1 + BookedColumns.count) != 0
        return known
    }

    /// A row of ``changed(_:in:from:limit:)``.
    struct ChangedLeg {
        /// Where it is; the leg is 0 where the payment has none at the provider.
        let cursor: BookedPlace
        /// Whether the payment has a leg at the provider.
        let isThere: Bool
        /// What is known of it; nil where nothing is told of it, because it is unchanged.
        let known: KnownPosition?
    }

    /// The leg of a row of ``changed(_:in:from:limit:)``.
    static func changed(_ row: StoredRow, at provider: ProviderName) throws -> ChangedLeg {
        guard let payment = PaymentID(text: try row.word(0)) else {
            throw StoreFailure(.corrupted, operation: "decode", cause: "a payment's id is malformed")
        }
        let leg = try row.int(2)
        let cursor = BookedPlace(
            updatedAt: Timestamp(milliseconds: try row.number(1)), payment: payment, leg: Int(leg ?? 0))
        guard let position = try BookedColumns.position(row, from: 3, at: provider) else {
            return ChangedLeg(cursor: cursor, isThere: leg != nil, known: nil)
        }
        let known = try ComparedRow.position(
            row, from: 3 + BookedColumns.count, at: provider, key: position.key)
        return ChangedLeg(
            cursor: cursor, isThere: true, known: KnownPosition(key: position.key, ours: position, row: known))
    }
}
