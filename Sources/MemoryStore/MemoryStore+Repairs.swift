public import PaymentCore
public import Reconciler

extension MemoryStore: RepairStore {
    /// Reads a repair.
    public func repair(_ id: String) async throws(StoreFailure) -> Repair? {
        try perform(.repair) { model.repairs[id] }
    }

    /// Reads repairs, newest first by (proposed_at, id), 1 to 200 at a time.
    public func repairs(_ query: RepairQuery) async throws(StoreFailure) -> CursorPage<Repair, RepairCursor> {
        try perform(.repairs) {
            let limit = query.boundedLimit
            let found = model.repairs.values.filter { query.includes($0) }
                .sorted { ($0.proposedAt, $0.id) > ($1.proposedAt, $1.id) }
            return CursorPage(Array(found.prefix(limit + 1)), limit: limit)
        }
    }

    /// Makes a proposal about a discrepancy, or a decision, durable with the discrepancy's next version.
    public func change(
        _ discrepancy: Discrepancy, with repair: Repair
    ) async throws(StoreFailure) -> Discrepancy? {
        try perform(.changeDiscrepancy) { () throws(StoreFailure) in
            guard let change = try model.changing(discrepancy, with: repair) else { return nil }
            try take(change)
            return model.comparisons.discrepancies[discrepancy.id]
        }
    }
}

extension RepairQuery {
    fileprivate func includes(_ repair: Repair) -> Bool {
        if let isDecided, isDecided != (repair.decision != nil) { return false }
        if let subject, subject != repair.subject { return false }
        guard let after else { return true }
        return (repair.proposedAt, repair.id) < (after.proposedAt, after.id)
    }
}
