public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Reads discrepancies by their identifiers; those that do not exist are left out.
    public func discrepancies(_ ids: [DiscrepancyID]) async throws(StoreFailure) -> [Discrepancy] {
        guard !ids.isEmpty else { return [] }
        return try await confirmed("discrepancies by id") { connection in
            try connection.rows("SELECT document FROM discrepancies WHERE id = ANY ($1)", [.texts(ids.map(\.text))])
                .map { try $0.document(0) }
        }
    }

    /// Reads discrepancies, oldest first by (opened_at, id), 1 to 200 at a time.
    public func discrepancies(
        _ query: DiscrepancyQuery
    ) async throws(StoreFailure) -> CursorPage<Discrepancy, DiscrepancyCursor> {
        let limit = min(max(query.limit, 1), 200)
        let found: [Discrepancy] = try await documents(
            "discrepancies", of: DiscrepancyRow.table, ListingFilter(query, mark: "$"), by: "opened_at, id",
            limit: limit + 1)
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { DiscrepancyCursor(openedAt: $0.openedAt, id: $0.id) })
    }

    /// Makes a person's change of a discrepancy durable; `nil` if another was first or it does not exist.
    public func change(_ discrepancy: Discrepancy) async throws(StoreFailure) -> Discrepancy? {
        let row = try DiscrepancyRow(discrepancy)
        let statement = Statement("\(DiscrepancyRow.change) RETURNING known.id", DiscrepancyRow.arrays([row]))
        return try await change(discrepancy, by: statement)
    }

    /// Makes a change durable by a statement that returns a row if it was made, and none otherwise.
    ///
    /// - Parameter refused: Looks why it was not made, where another who was first is not the only reason.
    func change(
        _ discrepancy: Discrepancy, by statement: Statement,
        refused: @escaping @Sendable (PostgresConnection) throws -> Void = { _ in }
    ) async throws(StoreFailure) -> Discrepancy? {
        let confirmation = confirmation
        let isWritten: Bool = try await write("change discrepancy") { connection in
            // Whoever was first may be in doubt.
            try confirmation.settle(connection.connection)
            let (rows, warnings) = try connection.run([statement])
            let isWritten = rows.first?.count == 1
            if !isWritten { try refused(connection.connection) }
            return (isWritten, warnings)
        }
        return isWritten ? discrepancy.stored(version: discrepancy.version + 1) : nil
    }

    /// Counts the discrepancies that are not closed, in order of provider and class.
    public func discrepancyCounts() async throws(StoreFailure) -> [DiscrepancyCount] {
        try await confirmed("discrepancy counts") { connection in
            let rows = try connection.rows(
                """
                SELECT provider, finding, count(*), min(opened_at), risk_currency,
                    least(sum(at_risk), \(Int64.max))::bigint
                FROM discrepancies WHERE state <> 'closed' GROUP BY provider, finding, risk_currency
                """)
            return DiscrepancyGroup.counts(try rows.map { try DiscrepancyGroup($0) })
        }
    }
}

extension DiscrepancyRow {
    /// Writes the next version over the one that was read. More conditions may follow.
    static var change: String {
        let changes = columns.map(\.name).filter { !key.contains($0) }.map { "\($0) = new.\($0)" }
        return """
            UPDATE discrepancies AS known SET \(changes.joined(separator: ", ")) FROM \(unnested)
            WHERE known.id = new.id AND known.version = new.version - 1
            """
    }
}
