public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore: RepairStore {
    /// Reads a repair.
    public func repair(_ id: String) async throws(StoreFailure) -> Repair? {
        try await confirmed("repair") { connection in
            let found: [Repair] = try connection.rows("SELECT document FROM repairs WHERE id = $1", [.text(id)])
                .map { try $0.document(0) }
            return found.first
        }
    }

    /// Reads repairs, newest first by (proposed_at, id), 1 to 200 at a time.
    public func repairs(_ query: RepairQuery) async throws(StoreFailure) -> CursorPage<Repair, RepairCursor> {
        let limit = query.boundedLimit
        let found: [Repair] = try await documents(
            "repairs", of: RepairRow.table, ListingFilter(query, mark: "$"), by: "proposed_at DESC, id DESC",
            limit: limit + 1)
        return CursorPage(found, limit: limit)
    }

    /// Makes a proposal about a discrepancy, or a decision, durable with the discrepancy's next version.
    public func change(
        _ discrepancy: Discrepancy, with repair: Repair
    ) async throws(StoreFailure) -> Discrepancy? {
        let (row, written) = (try DiscrepancyRow(discrepancy), try RepairRow(repair))
        return try await change(discrepancy, by: row.changing(with: written)) { connection in
            let known = try connection.rows("SELECT version FROM discrepancies WHERE id = $1", [.text(row.id)])
            if try known.count == 1 && known.int(0, 0) == row.readVersion { throw StoreFailure.repairOutOfOrder }
        }
    }
}

extension DiscrepancyRow {
    /// Writes both, or neither: the repair is new, or it waits and is decided now. Whoever changes the discrepancy
    /// first is the only one, so that nobody else writes the repair meanwhile.
    fileprivate func changing(with repair: RepairRow) -> Statement {
        let others = DiscrepancyRow.columns.count
        let repairs = RepairRow.unnested(after: others, as: "repair")
        let (place, words) =
            repair.isDecided
            ? (
                "EXISTS (SELECT FROM repairs JOIN \(repairs) USING (id) WHERE repairs.state = 'proposed')",
                """
                UPDATE repairs AS written
                SET state = repair.state, decided_by = repair.decided_by, document = repair.document
                FROM \(repairs), changed WHERE written.id = repair.id AND written.state = 'proposed'
                """
            )
            : (
                "NOT EXISTS (SELECT FROM repairs JOIN \(repairs) USING (id))",
                "INSERT INTO repairs (\(RepairRow.names)) SELECT repair.* FROM \(repairs), changed"
            )
        return Statement(
            """
            WITH changed AS (
                \(DiscrepancyRow.change) AND \(place) RETURNING known.id
            ), written AS (\(words)) SELECT id FROM changed
            """, DiscrepancyRow.arrays([self]) + RepairRow.arrays([repair]))
    }
}
