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
}
