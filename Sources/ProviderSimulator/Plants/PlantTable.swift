import GRDB

/// What was planted at a provider.
///
/// Every function runs inside the caller's database transaction.
struct PlantTable {
    let db: Database
    let provider: String

    /// In the order in which it was planted.
    /// - Parameter key: only what is about this transaction.
    func all(key: String? = nil) throws -> [Planted] {
        // A ledger that only an earlier version has written has none.
        guard try db.tableExists("planted") else { return [] }
        return try String.fetchAll(
            db,
            sql: """
                SELECT document FROM planted
                WHERE provider = ? AND (? IS NULL OR key = ? OR original = ?) ORDER BY id
                """, arguments: [provider, key, key, key]
        ).map { try LedgerJSON.decode(Planted.self, $0) }
    }

    /// The transactions that differ already, or of which there is a duplicate: a second difference would make the truth
    /// about the first ambiguous.
    func keys() throws -> Set<String> {
        var keys: Set<String> = []
        let rows = try Row.fetchCursor(
            db, sql: "SELECT key, original FROM planted WHERE provider = ?", arguments: [provider])
        while let row = try rows.next() {
            keys.insert(row[0])
            if let original: String = row[1] { keys.insert(original) }
        }
        return keys
    }

    func add(_ planted: Planted) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT INTO planted (provider, key, original, document) VALUES (?, ?, ?, ?)")
        try statement.execute(arguments: [
            provider, planted.key, planted.original, try LedgerJSON.encode(planted),
        ])
    }
}
