public import PaymentCore
internal import Reconciler

extension StoredComparisons {
    /// Reads discrepancies by their identifiers; those that do not exist are left out.
    public func discrepancies(_ ids: [DiscrepancyID]) -> [Discrepancy] { ids.compactMap { discrepancies[$0] } }

    /// Reads discrepancies, oldest first by (opened_at, id), 1 to 200 at a time.
    func discrepancies(_ query: DiscrepancyQuery) -> CursorPage<Discrepancy, DiscrepancyCursor> {
        let limit = min(max(query.limit, 1), 200)
        let found = discrepancies.values.filter { found in
            query.wants(found) && query.after.map { (found.openedAt, found.id) > ($0.openedAt, $0.id) } ?? true
        }.sorted { ($0.openedAt, $0.id) < ($1.openedAt, $1.id) }
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { DiscrepancyCursor(openedAt: $0.openedAt, id: $0.id) })
    }

    /// The discrepancy as a person changed it; `nil` if another change was first or it does not exist.
    func changing(_ discrepancy: Discrepancy) -> Discrepancy? {
        guard discrepancies[discrepancy.id]?.version == discrepancy.version else { return nil }
        return discrepancy.stored(version: discrepancy.version + 1)
    }

    /// Counts the discrepancies that are not closed, in order of provider and class.
    func discrepancyCounts() -> [DiscrepancyCount] {
        struct Group: Hashable {
            var provider: ProviderName
            var finding: ComparisonClass
        }
        let open = discrepancies.values.filter { $0.state != .closed }
        let groups = Dictionary(grouping: open) { Group(provider: $0.provider, finding: $0.finding) }
        return groups.compactMap { group, found in
            found.map(\.openedAt).min().map { oldest in
                DiscrepancyCount(
                    provider: group.provider, finding: group.finding, count: found.count, oldest: oldest,
                    atRisk: totals(found.compactMap(\.atRisk)))
            }
        }.sorted { ($0.provider, $0.finding.rawValue) < ($1.provider, $1.finding.rawValue) }
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

    /// The keys of positions that agreed and that the listing showed last within a window, in order of that moment and
    /// the key.
    public func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) -> [PositionQuestion] {
        let found = rows.values.filter { row in
            row.provider == provider && row.isAgreed && row.listedAt.map(window.contains) ?? false
        }
        let sorted = found.sorted { ($0.listedAt ?? window.from, $0.key) < ($1.listedAt ?? window.from, $1.key) }
        return sorted.prefix(max(0, limit)).map { PositionQuestion($0) }
    }

    /// What explains the differences between the sides, counted anew.
    ///
    /// - Throws: If a sum does not fit.
    public func explainedDifferences(
        at provider: ProviderName
    ) throws(Money.Failure) -> [Currency: ExplainedDifference] {
        var (named, inFlight) = (NetSums(), NetSums())
        for found in discrepancies.values where found.provider == provider {
            try named.count(ours: found.oursNet, theirs: found.theirsNet)
        }
        for row in rows.values where row.provider == provider && row.finding == .inFlight && !row.isNamed {
            try inFlight.count(ours: row.ours?.net, theirs: row.theirs?.net)
        }
        var explained: [Currency: ExplainedDifference] = [:]
        for line in named.lines {
            explained[line.currency, default: ExplainedDifference()].discrepancies =
                line.sides.ours &- line.sides.theirs
        }
        for line in inFlight.lines {
            explained[line.currency, default: ExplainedDifference()].inFlight = line.sides.ours &- line.sides.theirs
        }
        return explained
    }
}
