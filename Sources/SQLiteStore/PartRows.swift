internal import GRDB
internal import PaymentCore
internal import StoreRows

extension LegRow {
    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
                    created_at, key, currency, refunds, stands, work)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (payment_id, leg) DO UPDATE
                SET captured = excluded.captured, status = excluded.status, standing = excluded.standing,
                    key = excluded.key, currency = excluded.currency, refunds = excluded.refunds,
                    stands = excluded.stands, work = excluded.work
                WHERE captured <> excluded.captured OR status IS NOT excluded.status
                    OR standing <> excluded.standing OR key IS NOT excluded.key OR currency IS NOT excluded.currency
                    OR refunds IS NOT excluded.refunds OR stands IS NOT excluded.stands OR work IS NOT excluded.work
                """
        ).execute(arguments: [
            payment, leg, provider, isFirstAtProvider, amount, captured, status, standing, createdAt, key, currency,
            refunds, stands, work,
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
