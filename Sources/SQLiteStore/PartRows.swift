internal import GRDB
internal import PaymentCore
internal import StoreRows

extension LegRow {
    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
                    created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (payment_id, leg) DO UPDATE
                SET captured = excluded.captured, status = excluded.status, standing = excluded.standing
                WHERE captured <> excluded.captured OR status IS NOT excluded.status
                    OR standing <> excluded.standing
                """
        ).execute(arguments: [
            payment, leg, provider, isFirstAtProvider, amount, captured, status, standing, createdAt,
        ])
    }
}

extension EffectRow {
    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO effects (provider, key, payment_id, leg, kind, amount, generation, attempts, worst, status)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (provider, key) DO UPDATE
                SET attempts = excluded.attempts, worst = excluded.worst, status = excluded.status
                WHERE attempts <> excluded.attempts OR worst <> excluded.worst OR status <> excluded.status
                """
        ).execute(arguments: [provider, key, payment, leg, kind, amount, generation, attempts, worst, status])
    }
}
