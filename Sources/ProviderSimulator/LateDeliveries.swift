import GRDB

/// Requests that the network still holds.
///
/// They survive a restart, as requests do.
struct LateDeliveries {
    let db: Database

    /// - Parameter dueAt: milliseconds since 1970, by the simulator's clock.
    func add(_ request: ProviderRequest, dueAt: Int64) throws {
        try db.execute(
            sql: "INSERT INTO deliveries (provider, due_at, request) VALUES (?, ?, ?)",
            arguments: [request.provider, dueAt, try LedgerJSON.encode(request)])
    }

    /// Removes and returns those that arrive by now; the caller executes them in the same transaction.
    func take(provider: String, by now: Int64, limit: Int) throws -> [ProviderRequest] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT id, request FROM deliveries WHERE provider = ? AND due_at <= ?
                ORDER BY due_at, id LIMIT ?
                """,
            arguments: [provider, now, limit])
        return try rows.map { row in
            let id: Int64 = row["id"]
            try db.execute(sql: "DELETE FROM deliveries WHERE id = ?", arguments: [id])
            return try LedgerJSON.decode(ProviderRequest.self, row["request"])
        }
    }
}
