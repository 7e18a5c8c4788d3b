internal import PaymentCore
package import Reconciler

/// The discrepancies of a provider, class and currency that are not closed, counted by a database.
package struct DiscrepancyGroup: Sendable {
    private let provider: ProviderName
    private let finding: ComparisonClass
    private let count: Int
    private let oldest: Timestamp
    private let atRisk: Money?

    /// Reads provider, class, count, when the oldest was opened, currency and sum of what is at risk.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package init(_ row: some ColumnReader) throws {
        provider = try ProviderName(row.word(0))
        finding = try row.choice(1)
        count = Int(try row.number(2))
        oldest = Timestamp(milliseconds: try row.number(3))
        atRisk = try row.int(5).map { try Money($0, row.currency(4)) }
    }

    private var code: String { atRisk?.currency.code ?? "" }

    /// The counts by provider and class, in their order.
    package static func counts(_ groups: [DiscrepancyGroup]) -> [DiscrepancyCount] {
        var counts: [DiscrepancyCount] = []
        let sorted = groups.sorted { left, right in
            (left.provider, left.finding.rawValue, left.code) < (right.provider, right.finding.rawValue, right.code)
        }
        for group in sorted {
            let amounts = group.atRisk.map { [$0] } ?? []
            guard var last = counts.last, last.provider == group.provider, last.finding == group.finding else {
                counts.append(
                    DiscrepancyCount(
                        provider: group.provider, finding: group.finding, count: group.count, oldest: group.oldest,
                        atRisk: amounts))
                continue
            }
            last.count += group.count
            last.oldest = min(last.oldest, group.oldest)
            last.atRisk += amounts
            counts[counts.count - 1] = last
        }
        return counts
    }
}
