internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Reads discrepancies by their identifiers; those that do not exist are left out.
    public func discrepancies(_ ids: [DiscrepancyID]) async throws(StoreFailure) -> [Discrepancy] {
        try await read("discrepancies by id") { db in
            let statement = try db.cachedStatement(sql: "SELECT document FROM discrepancies WHERE id = ?")
            return try ids.compactMap { id in
                try statement.first([.text(id.text)]) { try $0.document(0, as: Discrepancy.self) }
            }
        }
    }

    /// Reads discrepancies, oldest first by (opened_at, id), 1 to 200 at a time.
    public func discrepancies(
        _ query: DiscrepancyQuery
    ) async throws(StoreFailure) -> CursorPage<Discrepancy, DiscrepancyCursor> {
        let limit = min(max(query.limit, 1), 200)
        let found: [Discrepancy] = try await documents(
            "discrepancies", of: DiscrepancyRow.table, ListingFilter(query, mark: "?"), by: "opened_at, id",
            limit: limit + 1)
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { DiscrepancyCursor(openedAt: $0.openedAt, id: $0.id) })
    }

    /// Makes a person's change of a discrepancy durable; `nil` if another was first or it does not exist.
    public func change(_ discrepancy: Discrepancy) async throws(StoreFailure) -> Discrepancy? {
        let row = try DiscrepancyRow(discrepancy)
        return try await queue.write("change discrepancy") { db in
            guard try row.isCurrent(db) else { return nil }
            try row.upsert(db)
            return discrepancy.stored(version: discrepancy.version + 1)
        }
    }

    /// Counts the discrepancies that are not closed, in order of provider and class.
    public func discrepancyCounts() async throws(StoreFailure) -> [DiscrepancyCount] {
        try await read("discrepancy counts") { db in
            // In two halves: a sum that does not fit is an error here, and is to be told as a smaller one.
            let statement = try db.cachedStatement(
                sql: """
                    SELECT provider, finding, count(*), min(opened_at), risk_currency,
                        CASE WHEN risk_currency IS NULL THEN NULL
                            WHEN sum(at_risk >> 31) < 4000000000
                            THEN (sum(at_risk >> 31) << 31) + sum(at_risk & 2147483647)
                            ELSE 4000000000 << 31 END
                    FROM discrepancies WHERE state <> 'closed' GROUP BY provider, finding, risk_currency
                    """)
            return DiscrepancyGroup.counts(try statement.map([]) { try DiscrepancyGroup($0) })
        }
    }
}

extension DiscrepancyRow {
    /// Whether nobody changed it since it was read.
    func isCurrent(_ db: Database) throws -> Bool {
        let known = try db.cachedStatement(sql: "SELECT version FROM discrepancies WHERE id = ?")
        return try Int64.fetchOne(known, arguments: [id]) == readVersion
    }
}
