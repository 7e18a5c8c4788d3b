import Foundation
import GRDB

/// The answers that are kept under idempotency keys, and what became of modifications that the ledger does not show.
///
/// Every function runs inside the caller's database transaction.
struct AdyenTables {
    /// How long a key is kept at least (docs.adyen.com/development-resources/api-idempotency).
    static let keyRetentionMs: Int64 = 7 * 86_400_000

    let db: Database
    let provider: String

    static let schema = """
        CREATE TABLE adyen_keys (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            reference TEXT NOT NULL,
            status INTEGER NOT NULL,
            body TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (provider, key)
        ) WITHOUT ROWID;
        CREATE INDEX adyen_keys_by_reference ON adyen_keys (provider, reference);
        CREATE TABLE adyen_results (
            provider TEXT NOT NULL,
            reference TEXT NOT NULL,
            event TEXT NOT NULL,
            transaction_id INTEGER NOT NULL,
            value INTEGER NOT NULL,
            currency TEXT NOT NULL,
            reason TEXT,
            at INTEGER NOT NULL,
            PRIMARY KEY (provider, reference)
        ) WITHOUT ROWID;
        """

    /// What was answered under a key; nil if nothing was, or if it is too long ago.
    func kept(_ key: String, now: Int64, retentionMs: Int64) throws -> AdyenAnswer? {
        let statement = try db.cachedStatement(
            sql: "SELECT status, body FROM adyen_keys WHERE provider = ? AND key = ? AND created_at > ?")
        return try Row.fetchOne(statement, arguments: [provider, key, now - retentionMs]).map { row in
            AdyenAnswer(status: row["status"], stored: row["body"])
        }
    }

    func keep(_ answer: AdyenAnswer, under key: String, of payment: String, now: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO adyen_keys (provider, key, reference, status, body, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [provider, key, payment, answer.status, answer.stored, now])
    }

    /// As if the retention had passed.
    func forgetKeys(of payment: String) throws {
        let statement = try db.cachedStatement(sql: "DELETE FROM adyen_keys WHERE provider = ? AND reference = ?")
        try statement.execute(arguments: [provider, payment])
        try TransactionTable(db: db, provider: provider).forget(payment)
    }

    /// What became of a modification: a cancel, or one that could not be done.
    struct Outcome {
        let reference: String
        let event: String
        let row: Int64
        let amount: Amount
        /// Why it was not done; nil where it was.
        let reason: String?
        let at: Int64
    }

    func add(_ outcome: Outcome) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO adyen_results
                    (provider, reference, event, transaction_id, value, currency, reason, at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            provider, outcome.reference, outcome.event, outcome.row, outcome.amount.value, outcome.amount.currency,
            outcome.reason, outcome.at,
        ])
    }

    func outcomes() throws -> [Outcome] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT reference, event, transaction_id, value, currency, reason, at FROM adyen_results
                WHERE provider = ? ORDER BY at, reference
                """)
        return try Row.fetchAll(statement, arguments: [provider]).map { row in
            Outcome(
                reference: row[0], event: row[1], row: row[2], amount: Amount(value: row[3], currency: row[4]),
                reason: row[5], at: row[6])
        }
    }

    /// Every transaction with its row, in order.
    func transactions() throws -> [(row: Int64, record: TransactionRecord)] {
        let statement = try db.cachedStatement(sql: "SELECT id, state FROM transactions WHERE provider = ? ORDER BY id")
        return try Row.fetchAll(statement, arguments: [provider]).map { row in
            (row[0], try TransactionState.read(row[1]))
        }
    }
}

/// Adyen's own references: 16 capital letters and digits.
enum AdyenReferences {
    /// Of a payment in the ledger.
    static func payment(ofRow row: Int64) -> String {
        let digits = String(row)
        return "P" + String(repeating: "0", count: max(0, 15 - digits.utf8.count)) + digits
    }

    /// The payment in the ledger; nil for what is no such reference.
    static func row(ofPayment reference: String) -> Int64? {
        reference.utf8.count == 16 && reference.first == "P" ? Int64(reference.dropFirst()) : nil
    }

    /// Of a modification, by the merchant's reference of it.
    static func modification(_ reference: String) -> String {
        "M" + BulkOrder.digest([reference]).prefix(15).uppercased()
    }
}
