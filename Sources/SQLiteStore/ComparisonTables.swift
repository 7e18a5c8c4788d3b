internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// What is known of transactions, each looked up by indexes.
struct ComparisonTables {
    private let provider: ProviderName
    private let db: Database

    init(_ provider: ProviderName, _ db: Database) {
        self.provider = provider
        self.db = db
    }

    /// What is known of a key.
    func known(_ question: PositionQuestion) throws -> KnownPosition {
        KnownPosition(
            key: question.key, books: try books(question), row: try remembered(question.key))
    }

    /// What is unsettled, in order of the keys.
    func unsettled(after key: EffectKey?, limit: Int) throws -> [KnownPosition] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT key, \(ComparedRow.selection) FROM compared_positions
                WHERE provider = ?1 AND unsettled \(key == nil ? "" : "AND key > ?3") ORDER BY key LIMIT ?2
                """)
        let values: [ColumnValue] =
            [.text(provider.name), .int(Int64(limit))] + (key.map { [.text($0.text)] } ?? [])
        return try statement.map(values) { row in
            let key = EffectKey(reported: try row.word(0))
            return try ComparedRow.position(row, from: 1, at: provider, key: key)
        }.compactMap { $0 }.map { row in
            let question = PositionQuestion(key: row.key, payment: row.theirs?.payment, leg: row.theirs?.leg)
            return KnownPosition(key: row.key, books: try books(question), row: row)
        }
    }

    /// The keys of positions that agreed and that the listing showed last within a window.
    func listedKeys(in window: ComparedWindow, limit: Int) throws -> [PositionQuestion] {
        let statement = try db.cachedStatement(sql: ComparedRow.listedKeys { "?\($0)" })
        let values: [ColumnValue] = [
            .text(provider.name), .int(window.from.milliseconds), .int(window.to.milliseconds), .int(Int64(limit)),
        ]
        return try statement.map(values) { try ComparedRow.question($0) }
    }

    /// The legs of payments that changed in a window, after a place.
    func changed(in window: ComparedWindow, after cursor: BookedPlace?, limit: Int) throws -> [KnownPosition] {
        // Along the payments: without the word, the legs of the provider might be gone through.
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(BookedColumns.selection)
                FROM (
                    SELECT \(BookedColumns.payment) FROM payments
                    WHERE updated_at >= ?2 AND updated_at < ?3 AND (updated_at, id) >= (?2, ?4)
                    ORDER BY updated_at, id
                ) AS p CROSS JOIN legs AS l ON l.payment_id = p.id AND l.provider = ?1
                WHERE (p.updated_at, p.id, l.leg) > (?5, ?4, ?6)
                ORDER BY p.updated_at, p.id, l.leg LIMIT ?7
                """)
        let first = max(cursor?.updatedAt ?? window.from, window.from)
        let isAtCursor = cursor?.updatedAt == first
        let values: [ColumnValue] = [
            .text(provider.name), .int(first.milliseconds), .int(window.to.milliseconds),
            .text(isAtCursor ? cursor?.payment.text ?? "" : ""), .int(first.milliseconds),
            .int(Int64(isAtCursor ? cursor?.leg ?? -1 : -1)), .int(Int64(limit)),
        ]
        return try statement.map(values) { try BookedColumns.position($0, from: 0, at: provider) }
            .compactMap { $0 }.map { ours in
                KnownPosition(key: ours.key, ours: ours, row: try remembered(ours.key))
            }
    }

    private func remembered(_ key: EffectKey) throws -> ComparedPosition? {
        let statement = try db.cachedStatement(
            sql: "SELECT \(ComparedRow.selection) FROM compared_positions WHERE provider = ? AND key = ?")
        return try statement.first([.text(provider.name), .text(key.text)]) { row in
            try ComparedRow.position(row, from: 0, at: provider, key: key)
        }
    }

    /// The leg that has the key; where there is none, the leg that is named. Nearly always they are the same.
    private func books(_ question: PositionQuestion) throws -> BookedPosition? {
        let named = try named(question)
        if let named, named.key == question.key { return named }
        let own = try db.cachedStatement(
            sql: """
                SELECT \(BookedColumns.selection)
                FROM (
                    SELECT payment_id, leg FROM effects WHERE provider = ? AND key = ? AND \(BookedColumns.primaryKinds)
                ) AS own
                CROSS JOIN legs AS l ON l.payment_id = own.payment_id AND l.leg = own.leg
                CROSS JOIN (SELECT \(BookedColumns.payment) FROM payments) AS p ON p.id = l.payment_id
                """)
        return try own.first([.text(provider.name), .text(question.key.text)]) { row in
            try BookedColumns.position(row, from: 0, at: provider)
        } ?? named
    }

    private func named(_ question: PositionQuestion) throws -> BookedPosition? {
        guard let payment = question.payment else { return nil }
        let statement = try db.cachedStatement(
            sql: """
                SELECT \(BookedColumns.selection)
                FROM legs AS l CROSS JOIN (SELECT \(BookedColumns.payment) FROM payments) AS p ON p.id = l.payment_id
                WHERE l.payment_id = ?1 AND l.provider = ?2 AND (?3 IS NULL OR l.leg = ?3) ORDER BY l.leg LIMIT 1
                """)
        let values: [ColumnValue] = [
            .text(payment.text), .text(provider.name), .int(question.leg.map { Int64($0) }),
        ]
        return try statement.first(values) { try BookedColumns.position($0, from: 0, at: provider) }
    }
}
