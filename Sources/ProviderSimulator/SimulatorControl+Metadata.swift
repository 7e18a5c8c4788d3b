import GRDB

extension SimulatorControl {
    /// What callers said of each transaction in the ledger, by its key: whose it is. Unlike what a wire shows, it is
    /// never stale. A tombstone bears nothing, and takes nothing away from what was charged under its key before.
    public func metadata(at provider: String) async throws -> [String: [String: String]] {
        try known(provider)
        return try await database.read { db in
            var metadata: [String: [String: String]] = [:]
            let rows = try Row.fetchCursor(
                db, sql: "SELECT key, state FROM transactions WHERE provider = ? ORDER BY id", arguments: [provider])
            while let row = try rows.next() {
                let text: String = row["state"]
                let told = try TransactionState.read(text).metadata
                if !told.isEmpty { metadata[row["key"]] = told }
            }
            return metadata
        }
    }
}
