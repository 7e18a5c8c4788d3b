import Foundation
import GRDB

/// Where a request came from.
public enum RequestOrigin: String, Codable, Sendable, Hashable {
    /// A caller sent it.
    case client
    /// The second arrival of a `duplicated` request.
    case duplicate
    /// A `late_delivery` that arrived.
    case late
    /// A `slow` request that executed after its wait.
    case delayed
}

/// One line of the request journal.
public struct JournalEntry: Codable, Sendable, Equatable {
    /// Ascending; also the position for reading on.
    public let id: Int64
    /// Milliseconds since 1970, by the simulator's clock.
    public let at: Int64
    /// What it asked.
    public let operation: Operation
    /// The transaction's key; empty for listings and malformed keys.
    public let key: String
    /// The capture's or refund's key; else empty.
    public let entryKey: String
    /// Where it came from.
    ///
    /// Count `client` to count sends.
    public let origin: RequestOrigin
    /// What it suffered.
    public let fault: FaultKind?
    /// Whether the contract judged it; without that it had no effect.
    public let executed: Bool
    /// The status that the contract answered; nil unless executed.
    public let result: Int?
    /// The status that was sent; nil when none was.
    public let status: Int?

    private enum CodingKeys: String, CodingKey {
        case id, at, operation, key, origin, fault, executed, result, status
        case entryKey = "entry_key"
    }
}

/// The append-only record of requests.
///
/// Every function runs inside the caller's database transaction.
struct Journal {
    let db: Database

    /// Counts one more request of this operation under these keys.
    /// - Returns: which one it is, from 1.
    func countAttempt(_ request: ProviderRequest) throws -> Int64 {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO attempts (provider, key, operation, entry_key, count) VALUES (?, ?, ?, ?, 1)
                ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count
                """)
        let count = try Int64.fetchOne(
            statement,
            arguments: [request.provider, request.key, request.operation.rawValue, request.entryKey])
        return count ?? 1
    }

    func add(
        _ request: ProviderRequest, at: Int64, origin: RequestOrigin, fault: FaultKind?, result: Int?,
        status: Int?
    ) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO journal
                    (at, provider, operation, key, entry_key, origin, fault, executed, result, status)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            at, request.provider, request.operation.rawValue, request.key, request.entryKey, origin.rawValue,
            fault?.rawValue, result != nil, result, status,
        ])
    }

    /// - Parameters:
    ///   - after: only entries with a greater id.
    ///   - key: only entries whose transaction key is this.
    func read(_ provider: String, key: String?, operation: Operation?, after: Int64, limit: Int) throws
        -> [JournalEntry]
    {
        try Row.fetchAll(
            db,
            sql: """
                SELECT id, at, operation, key, entry_key, origin, fault, executed, result, status FROM journal
                WHERE provider = ? AND id > ? AND (? IS NULL OR key = ?) AND (? IS NULL OR operation = ?)
                ORDER BY id LIMIT ?
                """,
            arguments: [provider, after, key, key, operation?.rawValue, operation?.rawValue, limit]
        ).map { row in
            let (operation, origin): (String, String) = (row["operation"], row["origin"])
            guard let operation = Operation(rawValue: operation), let origin = RequestOrigin(rawValue: origin)
            else {
                throw SimulatorError(.ledgerUnreadable, "a journal entry of an unknown kind")
            }
            let fault: String? = row["fault"]
            return JournalEntry(
                id: row["id"], at: row["at"], operation: operation, key: row["key"],
                entryKey: row["entry_key"],
                origin: origin, fault: fault.flatMap(FaultKind.init), executed: row["executed"],
                result: row["result"], status: row["status"])
        }
    }
}
