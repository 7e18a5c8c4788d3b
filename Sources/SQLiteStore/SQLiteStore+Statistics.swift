internal import GRDB
internal import PaymentCore
public import Reconciler

extension SQLiteStore {
    /// Counts by an index and by counters that triggers keep, so that it costs the same at any size.
    public func statistics() async throws(StoreFailure) -> StoreStatistics {
        let clock = clock
        return try await read("statistics") { db in
            StoreStatistics(
                paymentsByState: try counts(db), due: try DuePayments.count(now: clock.now(), db),
                oldestUnsettled: try oldestUnsettled(db), waiting: try WaitingRow.counts(db),
                oldestUnsealed: try oldestUnsealed(db))
        }
    }
}

/// Kept by triggers: counting millions of rows each time would not be cheap.
private func counts(_ db: Database) throws -> [PaymentState: Int] {
    var counts: [PaymentState: Int] = [:]
    for row in try Row.fetchAll(db, sql: "SELECT state, count FROM state_counts WHERE count > 0") {
        guard let state = PaymentState(rawValue: row[0]) else {
            throw StoreFailure(.corrupted, operation: "statistics", cause: "a stored state is unknown")
        }
        counts[state] = row[1]
    }
    return counts
}

private func oldestUnsettled(_ db: Database) throws -> Timestamp? {
    let unsettled = PaymentState.allCases.filter(\.isUnsettled)
    let statement = try db.cachedStatement(
        sql: "SELECT min(created_at) FROM payments WHERE state = ? AND state <> 'succeeded'")
    return try unsettled.compactMap { try Int64.fetchOne(statement, arguments: [$0.rawValue]) }.min()
        .map { Timestamp(milliseconds: $0) }
}

private func oldestUnsealed(_ db: Database) throws -> Timestamp? {
    let sealed = try Int64.fetchOne(db, sql: "SELECT through_event FROM seals ORDER BY number DESC LIMIT 1") ?? 0
    return try Int64.fetchOne(
        db, sql: "SELECT at FROM events WHERE id > ? ORDER BY id LIMIT 1", arguments: [sealed]
    ).map { Timestamp(milliseconds: $0) }
}
