import Foundation
import GRDB

/// A transaction with its place in the ledger.
///
/// States other than the newest are kept as they are written, because most requests do not look at them.
struct StoredTransaction {
    /// Nil until it is written for the first time.
    var id: Int64?
    var record: TransactionRecord
    /// The record as it is written; nil until it is.
    var written: String?
    /// The state before the last change; nil when there was none.
    var previous: String?
    /// While this lies ahead, inquiries see `staleState`.
    var staleUntil: Int64?
    /// Nil: inquiries find nothing.
    var staleState: String?
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

    /// The transaction of a row.
    func find(id: Int64) throws -> StoredTransaction? {
        let statement = try db.cachedStatement(
            sql: "SELECT id, state, previous, stale_until, stale_state FROM transactions WHERE id = ?")
        return try Row.fetchOne(statement, arguments: [id]).map(read)
    }

    /// The row of the key's live transaction.
    func id(of key: String) throws -> Int64? {
        let statement = try db.cachedStatement(
            sql: "SELECT id FROM transactions WHERE provider = ? AND key = ? AND live = 1")
        return try Int64.fetchOne(statement, arguments: [provider, key])
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
    func list(_ query: ListQuery, now: Int64) throws -> [(record: TransactionRecord, id: Int64)] {
        let from = query.position ?? .init(updatedAt: query.updatedAfter ?? Int64.min, key: "", id: 0)
        let statement = try db.cachedStatement(
            sql: """
                SELECT id, state FROM transactions
                WHERE provider = ? AND (updated_at, key, id) > (?, ?, ?) AND updated_at < ?
                AND (listed_from IS NULL OR listed_from <= ?)
                ORDER BY updated_at, key, id LIMIT ?
                """)
        let arguments: StatementArguments = [
            provider, from.updatedAt, from.key, from.id, query.updatedBefore ?? Int64.max, now, query.limit + 1,
        ]
        var found: [(record: TransactionRecord, id: Int64)] = []
        let rows = try Row.fetchCursor(statement, arguments: arguments)
        while let row = try rows.next() { found.append((try TransactionState.read(row[1]), row[0])) }
        return found
    }

    /// Writes the state and the movements that led to it.
    func save(_ stored: inout StoredTransaction, movements: [Movement]) throws {
        let record = stored.record
        let written = TransactionState.write(record)
        let arguments: StatementArguments = [
            record.updatedAt, record.dueAt, written, stored.previous, stored.staleUntil, stored.staleState,
        ]
        stored.written = written
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

    /// From which instant of the provider's clock on the listing shows it; the greatest: never.
    func list(_ key: String, from instant: Int64) throws {
        let statement = try db.cachedStatement(
            sql: "UPDATE transactions SET listed_from = ? WHERE provider = ? AND key = ? AND live = 1")
        try statement.execute(arguments: [instant, provider, key])
    }

    /// Writes history anew.
    func replaceMovements(of stored: StoredTransaction, with movements: [Movement]) throws {
        guard let id = stored.id else { return }
        try db.execute(sql: "DELETE FROM movements WHERE transaction_id = ?", arguments: [id])
        for movement in movements { try add(movement, to: id) }
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
        let written: String = row["state"]
        return StoredTransaction(
            id: row["id"], record: try TransactionState.read(written), written: written, previous: row["previous"],
            staleUntil: row["stale_until"], staleState: row["stale_state"])
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
