internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore: RepairStore {
    /// Reads a repair.
    public func repair(_ id: String) async throws(StoreFailure) -> Repair? {
        try await read("repair") { db in
            let statement = try db.cachedStatement(sql: "SELECT document FROM repairs WHERE id = ?")
            return try statement.first([.text(id)]) { try $0.document(0, as: Repair.self) }
        }
    }

    /// Reads repairs, newest first by (proposed_at, id), 1 to 200 at a time.
    public func repairs(_ query: RepairQuery) async throws(StoreFailure) -> CursorPage<Repair, RepairCursor> {
        let limit = query.boundedLimit
        let found: [Repair] = try await documents(
            "repairs", of: RepairRow.table, ListingFilter(query, mark: "?"), by: "proposed_at DESC, id DESC",
            limit: limit + 1)
        return CursorPage(found, limit: limit)
    }

    /// Makes a proposal about a discrepancy, or a decision, durable with the discrepancy's next version.
    public func change(
        _ discrepancy: Discrepancy, with repair: Repair
    ) async throws(StoreFailure) -> Discrepancy? {
        let (row, written) = (try DiscrepancyRow(discrepancy), try RepairRow(repair))
        return try await queue.write("change discrepancy") { db in
            guard try row.isCurrent(db) else { return nil }
            try written.write(db)
            try row.upsert(db)
            return discrepancy.stored(version: discrepancy.version + 1)
        }
    }
}

extension RepairRow {
    /// Writes it, where it is new, or where it waits and is decided now.
    func write(_ db: Database) throws {
        let isWritten: Bool
        if isDecided {
            let words = "UPDATE repairs SET state = ?, decided_by = ?, document = ? WHERE id = ? AND state = 'proposed'"
            let arguments = StatementArguments(decision + [.text(id)])
            try db.cachedStatement(sql: words).execute(arguments: arguments)
            isWritten = db.changesCount == 1
        } else {
            isWritten = try insert(db)
        }
        guard isWritten else { throw StoreFailure.repairOutOfOrder }
    }
}
