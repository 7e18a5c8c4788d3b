public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore: ComparisonStore {
    /// Reads what is known of keys at a provider, in the order of the questions, by one statement.
    public func positions(
        at provider: ProviderName, _ questions: [PositionQuestion]
    ) async throws(StoreFailure) -> [KnownPosition] {
        guard !questions.isEmpty else { return [] }
        let statement = PositionStatements.asked(provider, questions)
        return try await confirmed("positions") { connection in
            try connection.rows(statement.sql, statement.parameters)
                .map { try PositionStatements.known($0, at: provider) }
        }
    }

    /// Reads the keys of positions that agreed and that the listing showed last within a window.
    public func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) async throws(StoreFailure) -> [PositionQuestion] {
        try await confirmed("listed keys") { connection in
            try connection.rows(
                ComparedRow.listedKeys { "$\($0)" },
                [
                    .text(provider.name), .int(window.from.milliseconds), .int(window.to.milliseconds),
                    .int(max(0, limit)),
                ]
            ).map { try ComparedRow.question($0) }
        }
    }

    /// Reads the unsettled positions of a provider, in order of their keys.
    public func unsettledPositions(
        at provider: ProviderName, after key: EffectKey?, limit: Int
    ) async throws(StoreFailure) -> [KnownPosition] {
        let statement = PositionStatements.unsettled(provider, after: key, limit: max(0, limit))
        return try await confirmed("unsettled positions") { connection in
            try connection.rows(statement.sql, statement.parameters)
                .map { try PositionStatements.known($0, at: provider) }
        }
    }

    /// The most payments that one statement goes through in search of legs at a provider.
    private static let largestChunk = 8_192

    /// Reads the legs at a provider whose payment changed last within a window, in the order of ``BookedPlace``.
    ///
    /// Each statement goes through a bounded number of payments, so that a provider with few of them in a long window
    /// is read within the time limit as well.
    public func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after cursor: BookedPlace?, limit: Int
    ) async throws(StoreFailure) -> BookedPage {
        var found: [(cursor: BookedPlace, known: KnownPosition?)] = []
        var cursor = cursor
        // The payment at the place comes again, for those of its legs that lie after it.
        var chunk = max(1, limit) + 1
        while found.count < limit {
            let last = cursor
            let statement = PositionStatements.changed(provider, in: window, from: cursor, limit: chunk)
            let (legs, end, payments) = try await confirmed("changed positions") { connection in
                let rows = try connection.rows(statement.sql, statement.parameters)
                var payments: Set<PaymentID> = []
                var end: BookedPlace?
                let legs = try rows.map { row in
                    let leg = try PositionStatements.changed(row, at: provider)
                    payments.insert(leg.cursor.payment)
                    end = BookedPlace(updatedAt: leg.cursor.updatedAt, payment: leg.cursor.payment, leg: .max)
                    return leg
                }
                return (legs, end, payments.count)
            }
            for leg in legs where leg.isThere && last.map({ leg.cursor > $0 }) ?? true {
                found.append((leg.cursor, leg.known))
            }
            guard payments == chunk, let end else { break }
            cursor = end
            chunk = min(chunk * 2, max(PostgresStore.largestChunk, limit))
        }
        let page = found.prefix(max(0, limit))
        let positions = page.compactMap(\.known)
        return BookedPage(
            positions: positions, unchanged: page.count - positions.count,
            next: page.count < limit ? nil : page.last?.cursor)
    }

    /// What stands at a provider.
    public func standing(at provider: ProviderName) async throws(StoreFailure) -> NetSums {
        try await confirmed("standing") { connection in
            let rows = try connection.rows(
                "SELECT currency, ours, theirs FROM comparison_standings WHERE provider = $1", [.text(provider.name)])
            let lines = try rows.map { row in
                (try row.currency(0), NetSums.Sides(ours: try row.number(1), theirs: try row.number(2)))
            }
            return NetSums(Dictionary(lines, uniquingKeysWith: { first, _ in first }))
        }
    }

    /// What explains the difference between the sides, counted anew from the discrepancies and positions that do.
    public func explainedDifferences(
        at provider: ProviderName
    ) async throws(StoreFailure) -> [Currency: ExplainedDifference] {
        let statement = Statement(
            """
            SELECT currency, named, sum(ours)::bigint, sum(theirs)::bigint FROM (
                \(ExplainingRows.all.joined(separator: " UNION ALL "))
            ) AS explaining GROUP BY currency, named
            """, [.text(provider.name)])
        return try await confirmed("explained differences") { connection in
            var explained: [Currency: ExplainedDifference] = [:]
            _ = try connection.rows(statement.sql, statement.parameters).map { row in
                let difference = try row.number(2) &- row.number(3)
                if try row.flag(1) {
                    explained[try row.currency(0), default: ExplainedDifference()].discrepancies = difference
                } else {
                    explained[try row.currency(0), default: ExplainedDifference()].inFlight = difference
                }
            }
            return explained
        }
    }
}

/// What explains a difference: a row for each side.
private enum ExplainingRows {
    static let all: [String] =
        sides(
            "discrepancies", named: true, "explains_money",
            currencies: ("ours_currency", "theirs_currency"))
        + sides(
            "compared_positions", named: false, "finding = 'in_flight' AND NOT is_named",
            currencies: ("ours_currency", "theirs_currency"))

    private static func sides(
        _ table: String, named: Bool, _ condition: String, currencies: (String, String)
    ) -> [String] {
        [
            """
            SELECT \(currencies.0) AS currency, \(named) AS named, ours_net AS ours, 0 AS theirs FROM \(table)
            WHERE provider = $1 AND \(condition) AND ours_net IS NOT NULL
            """,
            """
            SELECT \(currencies.1), \(named), 0, theirs_net FROM \(table)
            WHERE provider = $1 AND \(condition) AND theirs_net IS NOT NULL
            """,
        ]
    }
}
