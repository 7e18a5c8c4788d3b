import Foundation
import GRDB

/// A transaction with its place in the ledger.
struct StoredTransaction {
    /// Nil until it is written for the first time.
    var id: Int64?
    var record: TransactionRecord
    /// The state before the last change; nil when there was none.
    var previous: TransactionRecord?
    /// While this lies ahead, inquiries see `staleState`.
    var staleUntil: Int64?
    /// Nil: inquiries find nothing.
    var staleState: TransactionRecord?
}

/// Reads and writes transactions.
///
/// Every function runs inside the caller's database transaction.
struct TransactionTable {
    let db: Database
    let provider: String

    func find(_ key: String) throws -> StoredTransaction? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, state, previous, stale_until, stale_state FROM transactions
                WHERE provider = ? AND key = ? AND live = 1
                """)
        return try Row.fetchOne(statement, arguments: [provider, key]).map(read)
    }

    /// Those that time changes by this instant of the provider's clock, at most so many.
    func due(by now: Int64, limit: Int) throws -> [StoredTransaction] {
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, state, previous, stale_until, stale_state FROM transactions
                WHERE provider = ? AND due_at <= ? ORDER BY due_at LIMIT ?
                """)
        return try Row.fetchAll(statement, arguments: [provider, now, limit]).map(read)
    }

    /// One more than asked for, where there are more: that is how the caller knows.
    func list(_ query: ListQuery) throws -> [(record: TransactionRecord, id: Int64)] {
        let from = query.position ?? .init(updatedAt: query.updatedAfter ?? Int64.min, key: "", id: 0)
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, state FROM transactions
                WHERE provider = ? AND (updated_at, key, id) > (?, ?, ?) AND updated_at < ?
                ORDER BY updated_at, key, id LIMIT ?
                """)
        let arguments: StatementArguments = [
            provider, from.updatedAt, from.key, from.id, query.updatedBefore ?? Int64.max, query.limit + 1,
        ]
        return try Row.fetchAll(statement, arguments: arguments).map { row in
            (try LedgerJSON.decode(TransactionRecord.self, row["state"]), row["id"])
        }
    }

    /// Writes the state and the movements that led to it.
    func save(_ stored: inout StoredTransaction, movements: [Movement]) throws {
        let record = stored.record
        let arguments: StatementArguments = [
            record.updatedAt, record.dueAt, try LedgerJSON.encode(record),
            try stored.previous.map(LedgerJSON.encode),
            stored.staleUntil, try stored.staleState.map(LedgerJSON.encode),
        ]
        let id: Int64
        if let known = stored.id {
            id = known
            let statement = try db.cachedStatement(
                sql: """
                    UPDATE transactions SET updated_at = ?, due_at = ?, state = ?, previous = ?,
                    stale_until = ?, stale_state = ? WHERE id = ?
                    """)
            try statement.execute(arguments: arguments + [id])
        } else {
            let statement = try db.cachedStatement(
                sql: """
                    INSERT INTO transactions (updated_at, due_at, state, previous, stale_until, stale_state,
                    provider, key, live) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)
                    """)
            try statement.execute(arguments: arguments + [provider, record.key])
            id = db.lastInsertedRowID
            stored.id = id
        }
        for movement in movements { try add(movement, to: id) }
    }

    /// The provider no longer knows the key.
    ///
    /// What happened under it stays in the ledger.
    func forget(_ key: String) throws {
        let statement = try db.cachedStatement(
            sql: "UPDATE transactions SET live = 0 WHERE provider = ? AND key = ? AND live = 1")
        try statement.execute(arguments: [provider, key])
    }

    private func add(_ movement: Movement, to id: Int64) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO movements (transaction_id, kind, value, currency, at, entry_key)
                VALUES (?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            id, movement.kind.rawValue, movement.amount.value, movement.amount.currency, movement.at,
            movement.entryKey,
        ])
    }

    private func read(_ row: Row) throws -> StoredTransaction {
        let previous: String? = row["previous"]
        let stale: String? = row["stale_state"]
        return StoredTransaction(
            id: row["id"], record: try LedgerJSON.decode(TransactionRecord.self, row["state"]),
            previous: try previous.map { try LedgerJSON.decode(TransactionRecord.self, $0) },
            staleUntil: row["stale_until"],
            staleState: try stale.map { try LedgerJSON.decode(TransactionRecord.self, $0) })
    }
}

/// How values stand in the ledger's text columns.
enum LedgerJSON {
    static func encode(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }
}
