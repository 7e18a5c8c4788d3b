import Foundation
import GRDB

/// Intents, and the answers that are kept under idempotency keys.
///
/// Every function runs inside the caller's database transaction.
struct StripeTables {
    /// How long an answer is replayed (docs.stripe.com/api/idempotent_requests).
    static let keyRetentionMs: Int64 = 86_400_000

    let db: Database
    let provider: String

    static let schema = """
        CREATE TABLE stripe_intents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            provider TEXT NOT NULL,
            id TEXT NOT NULL,
            transfer_group TEXT,
            document TEXT NOT NULL
        );
        CREATE UNIQUE INDEX stripe_intents_by_id ON stripe_intents (provider, id);
        CREATE INDEX stripe_intents_by_group ON stripe_intents (provider, transfer_group, number);
        CREATE INDEX stripe_intents_newest ON stripe_intents (provider, number);
        CREATE TABLE stripe_keys (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            transfer_group TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            status INTEGER NOT NULL,
            body TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (provider, key)
        ) WITHOUT ROWID;
        CREATE INDEX stripe_keys_by_group ON stripe_keys (provider, transfer_group);
        """

    /// `charged_row`: the transaction of its newest charge, by which charges are listed; null for none.
    static let chargedSchema = """
        ALTER TABLE stripe_intents ADD COLUMN charged_row INTEGER;
        UPDATE stripe_intents SET charged_row = json_extract(document, '$.row')
        WHERE json_array_length(document, '$.charges') > 0;
        CREATE INDEX stripe_intents_charged ON stripe_intents (provider, charged_row);
        """

    // MARK: Intents

    func intent(_ id: String) throws -> StripeIntent? {
        let statement = try db.cachedStatement(
            sql: "SELECT document FROM stripe_intents WHERE provider = ? AND id = ?")
        return try String.fetchOne(statement, arguments: [provider, id]).map {
            try LedgerJSON.decode(StripeIntent.self, $0)
        }
    }

    /// The intent of a charge; nil where there is no such charge.
    func intent(ofCharge id: String) throws -> StripeIntent? {
        let intent = try intent(StripeIntent.id(ofCharge: id))
        return intent?.charges.contains { $0.id == id } == true ? intent : nil
    }

    /// Those that were charged, the newest charge first; of one group, or all.
    /// - Parameter row: only those whose newest charge is of this row or an earlier one.
    func charged(group: String?, upTo row: Int64, limit: Int) throws -> [StripeIntent] {
        // Named, because the other one has to look at every charge of the account for those of one group.
        let index = group == nil ? "stripe_intents_charged" : "stripe_intents_by_group"
        let statement = try db.cachedStatement(
            sql: """
                SELECT document FROM stripe_intents INDEXED BY \(index)
                WHERE provider = ? AND charged_row <= ? \(group == nil ? "" : "AND transfer_group = ?")
                ORDER BY charged_row DESC LIMIT ?
                """)
        let arguments: StatementArguments = [provider, row]
        return try String.fetchAll(
            statement, arguments: arguments + (group.map { [$0] } ?? []) + [limit]
        ).map { try LedgerJSON.decode(StripeIntent.self, $0) }
    }

    /// The intent whose newest charge a transaction is.
    func intent(ofRow row: Int64) throws -> StripeIntent? {
        let statement = try db.cachedStatement(
            sql: "SELECT document FROM stripe_intents WHERE provider = ? AND charged_row = ?")
        return try String.fetchOne(statement, arguments: [provider, row]).map {
            try LedgerJSON.decode(StripeIntent.self, $0)
        }
    }

    /// What took money or gave it back in these seconds, and is listed by now.
    func moved(_ seconds: Range<Int64>, now: Int64) throws -> [Moved] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT movements.kind, movements.value, movements.at, movements.entry_key, transactions.id
                FROM movements JOIN transactions ON transactions.id = movements.transaction_id
                WHERE transactions.provider = ? AND movements.kind IN ('charge', 'refund', 'refund_failure')
                AND movements.at / 1000 >= ? AND movements.at / 1000 < ?
                AND (transactions.listed_from IS NULL OR transactions.listed_from <= ?)
                """)
        let arguments: StatementArguments = [provider, seconds.lowerBound, seconds.upperBound, now]
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            Moved(
                row: row[4], isRefund: row[0] != "charge", hasFailed: row[0] == "refund_failure", value: row[1],
                at: row[2], entryKey: row[3])
        }
    }

    /// The transactions with disputes.
    func disputed() throws -> [Int64] {
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM transactions WHERE provider = ? AND state LIKE '%\"disputes\"%'")
        return try Int64.fetchAll(statement, arguments: [provider])
    }

    /// A movement of the ledger.
    struct Moved {
        /// The row of its transaction.
        let row: Int64
        let isRefund: Bool
        /// Whether it is what came back of a refund that failed later.
        let hasFailed: Bool
        let value: Int64
        /// Milliseconds since 1970, by the provider's clock.
        let at: Int64
        /// The refund's key.
        let entryKey: String?
    }

    func save(_ intent: StripeIntent) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO stripe_intents (provider, id, transfer_group, document, charged_row) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (provider, id)
                DO UPDATE SET document = excluded.document, charged_row = excluded.charged_row
                """)
        try statement.execute(arguments: [
            provider, intent.id, intent.transferGroup, try LedgerJSON.encode(intent),
            intent.charges.isEmpty ? nil : intent.row,
        ])
    }

    /// Once its payer has confirmed it, there is a charge of the intent.
    func charge(row: Int64?, of group: String, at now: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                SELECT document FROM stripe_intents WHERE provider = ? AND transfer_group = ? ORDER BY number DESC
                """)
        for text in try String.fetchAll(statement, arguments: [provider, group]) {
            var intent = try LedgerJSON.decode(StripeIntent.self, text)
            guard intent.row == row else { continue }
            intent.addCharge(at: now, failureCode: nil)
            return try save(intent)
        }
    }

    // MARK: Keys

    /// What was answered under a key; nil if nothing was, or if it is too long ago.
    func kept(_ key: String, now: Int64, retentionMs: Int64) throws -> (fingerprint: String, answer: StripeAnswer)? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT fingerprint, status, body FROM stripe_keys
                WHERE provider = ? AND key = ? AND created_at > ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [provider, key, now - retentionMs]) else { return nil }
        return (row["fingerprint"], StripeAnswer(status: row["status"], stored: row["body"]))
    }

    func keep(_ answer: StripeAnswer, of call: StripeCall, group: String, now: Int64) throws {
        guard let key = call.idempotencyKey else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO stripe_keys
                    (provider, key, transfer_group, fingerprint, status, body, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            provider, key, group, call.fingerprint, answer.status, try answer.text(), now,
        ])
    }

    /// As if the retention had passed.
    func forgetKeys(of group: String) throws {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM stripe_keys WHERE provider = ? AND transfer_group = ?")
        try statement.execute(arguments: [provider, group])
    }
}
