import GRDB

extension SimulatorControl {
    /// What callers said of each transaction in the ledger, by its key: whose it is. Unlike what a wire shows, it is
    /// never stale.
    public func metadata(at provider: String) async throws -> [String: [String: String]] {
        try known(provider)
        return try await database.read { db in
            var metadata: [String: [String: String]] = [:]
            let rows = try Row.fetchCursor(
                db, sql: "SELECT key, state FROM transactions WHERE provider = ? ORDER BY id", arguments: [provider])
            while let row = try rows.next() {
                let text: String = row["state"]
                metadata[row["key"]] = try TransactionState.read(text).metadata
            }
            return metadata
        }
    }
}
