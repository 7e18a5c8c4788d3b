public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Reads discrepancies by their identifiers; those that do not exist are left out.
    public func discrepancies(_ ids: [DiscrepancyID]) async throws(StoreFailure) -> [Discrepancy] {
        try perform(.discrepanciesByID) { ids.compactMap { comparisons.discrepancies[$0] } }
    }

    /// Reads discrepancies, oldest first by (opened_at, id), 1 to 200 at a time.
    public func discrepancies(
        _ query: DiscrepancyQuery
    ) async throws(StoreFailure) -> CursorPage<Discrepancy, DiscrepancyCursor> {
        try perform(.discrepancies) {
            let limit = min(max(query.limit, 1), 200)
            let found = comparisons.discrepancies.values.filter { found in
                query.wants(found) && query.after.map { (found.openedAt, found.id) > ($0.openedAt, $0.id) } ?? true
            }.sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) }
            let items = Array(found.prefix(limit))
            let last = found.count > limit ? items.last : nil
            return CursorPage(items: items, next: last.map { DiscrepancyCursor(openedAt: $0.openedAt, id: $0.id) })
        }
    }

    /// Makes a person's change of a discrepancy durable; `nil` if another was first or it does not exist.
    public func change(_ discrepancy: Discrepancy) async throws(StoreFailure) -> Discrepancy? {
        try perform(.changeDiscrepancy) {
            guard comparisons.discrepancies[discrepancy.id]?.version == discrepancy.version else { return nil }
            let changed = discrepancy.stored(version: discrepancy.version + 1)
            comparisons.discrepancies[discrepancy.id] = changed
            return changed
        }
    }

    /// Counts the discrepancies that are not closed, in order of provider and class.
    public func discrepancyCounts() async throws(StoreFailure) -> [DiscrepancyCount] {
        try perform(.discrepancyCounts) {
            struct Group: Hashable {
                var provider: ProviderName
                var finding: ComparisonClass
            }
            let open = comparisons.discrepancies.values.filter { $0.state != .closed }
            let groups = Dictionary(grouping: open) { Group(provider: $0.provider, finding: $0.finding) }
            return groups.compactMap { group, found in
                found.map(\.openedAt).min().map { oldest in
                    DiscrepancyCount(
                        provider: group.provider, finding: group.finding, count: found.count, oldest: oldest,
                        atRisk: totals(found.compactMap(\.atRisk)))
                }
            }.sorted { ($0.provider, $0.finding.rawValue) < ($1.provider, $1.finding.rawValue) }
        }
    }

    private func totals(_ amounts: [Money]) -> [Money] {
        let byCurrency = Dictionary(grouping: amounts, by: \.currency)
        return byCurrency.keys.sorted { $0.code < $1.code }.compactMap { currency in
            (byCurrency[currency] ?? []).reduce(Money.zero(currency)) { sum, amount in
                do {
                    return try sum.adding(amount)
                } catch {
                    return larger(sum, amount)  // Only a sum that does not fit comes here.
                }
            }
        }
    }

    private func larger(_ left: Money, _ right: Money) -> Money { left.value > right.value ? left : right }
}
