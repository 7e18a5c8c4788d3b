internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreRows

extension LegRow {
    /// Writes the row unless it is stored just so.
    func write(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO legs (payment_id, leg, provider, first_at_provider, amount, captured, status, standing,
                    created_at, key, currency, refunds, stands, work, asked_at)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (payment_id, leg) DO UPDATE
                SET captured = excluded.captured, status = excluded.status, standing = excluded.standing,
                    key = excluded.key, currency = excluded.currency, refunds = excluded.refunds,
                    stands = excluded.stands, work = excluded.work, asked_at = excluded.asked_at
                WHERE captured <> excluded.captured OR status IS NOT excluded.status
                    OR standing <> excluded.standing OR key IS NOT excluded.key OR currency IS NOT excluded.currency
                    OR refunds IS NOT excluded.refunds OR stands IS NOT excluded.stands OR work IS NOT excluded.work
                    OR asked_at IS NOT excluded.asked_at
                """
        ).execute(arguments: [
            payment, leg, provider, isFirstAtProvider, amount, captured, status, standing, createdAt, key, currency,
            refunds, stands, work, askedAt,
        ])
    }
}

/// Operations of a payment that wait, as rows of `waiting_operations`.
enum WaitingRow {
    /// Writes the rows unless they are stored just so.
    static func write(_ waiting: [WaitingOperation], of payment: String, _ db: Database) throws {
        let known = try known(of: payment, db)
        guard known != waiting else { return }
        try db.cachedStatement(sql: "DELETE FROM waiting_operations WHERE payment_id = ?").execute(arguments: [payment])
        for one in waiting {
            try db.cachedStatement(
                sql: "INSERT INTO waiting_operations (payment_id, operation, waits_for) VALUES (?, ?, ?)"
            ).execute(arguments: [payment, one.operation.rawValue, one.waitsFor.rawValue])
        }
    }

    private static func known(of payment: String, _ db: Database) throws -> [WaitingOperation] {
        let statement = try db.cachedStatement(
            sql: "SELECT operation, waits_for FROM waiting_operations WHERE payment_id = ?")
        return try Row.fetchAll(statement, arguments: [payment]).map { try one($0[0], $0[1]) }.sorted()
    }

    /// How many payments have each.
    static func counts(_ db: Database) throws -> [WaitingOperation: Int] {
        var counts: [WaitingOperation: Int] = [:]
        let rows = try Row.fetchAll(
            db, sql: "SELECT operation, waits_for, count(*) FROM waiting_operations GROUP BY operation, waits_for")
        for row in rows { counts[try one(row[0], row[1])] = row[2] }
        return counts
    }

    private static func one(_ operation: String, _ waitsFor: String) throws(StoreFailure) -> WaitingOperation {
        guard let waiting = WaitingOperation(stored: operation, waitsFor) else {
            throw StoreFailure(.corrupted, operation: "statistics", cause: "a stored operation is unknown")
        }
        return waiting
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
