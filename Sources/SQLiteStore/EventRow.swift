internal import GRDB
internal import StoreRows

extension EventRow {
    /// Reads a row of ``columns``.
    init(_ row: Row) { self.init(row[0], row[1], row[2], row[3], row[4], row[5], row[6]) }

    func insert(_ payment: String, _ db: Database) throws {
        try db.cachedStatement(
            sql: "INSERT INTO events (payment_id, \(EventRow.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [payment, sequence, at, type, leg, fields, previous, hash])
    }
}
