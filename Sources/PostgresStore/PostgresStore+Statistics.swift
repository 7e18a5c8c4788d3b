internal import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Counts by indexes and by counters that triggers keep, so that it costs the same at any size.
    public func statistics() async throws(StoreFailure) -> StoreStatistics {
        let clock = clock.parameter
        return try await perform("statistics") { connection in
            let unsettled = PaymentState.allCases.filter(\.isUnsettled)
            let rows = try connection.run([
                Statement("SELECT state, sum(count)::bigint FROM state_counts GROUP BY state HAVING sum(count) > 0"),
                DueStatements.count(clock: clock),
                Statement(
                    """
                    SELECT min((SELECT created_at FROM payments
                        WHERE payments.state = unsettled.state AND payments.state <> 'succeeded'
                        ORDER BY created_at LIMIT 1))
                    FROM unnest($1::text[]) AS unsettled (state)
                    """, [.texts(unsettled.map(\.rawValue))]),
                Statement(
                    """
                    SELECT operation, waits_for, count(*) FROM waiting_operations AS waiting
                    JOIN payments ON payments.id = waiting.payment_id AND payments.version = waiting.version
                    GROUP BY operation, waits_for
                    """),
                Statement(
                    """
                    SELECT (SELECT at FROM events WHERE id > coalesce((SELECT max(through_event) FROM seals), 0)
                        ORDER BY id LIMIT 1)
                    """),
            ]).rows
            guard rows.count == 5 else {
                throw StoreFailure(.other, operation: "statistics", cause: "a statement returned nothing at all")
            }
            var counts: [PaymentState: Int] = [:]
            for row in 0..<rows[0].count {
                guard let state = PaymentState(rawValue: try rows[0].text(row, 0)) else {
                    throw StoreFailure(.corrupted, operation: "statistics", cause: "a stored state is unknown")
                }
                counts[state] = Int(try rows[0].int(row, 1))
            }
            return StoreStatistics(
                paymentsByState: counts, due: Int(try rows[1].int(0, 0)),
                oldestUnsettled: try rows[2].optionalInt(0, 0).map { Timestamp(milliseconds: $0) },
                waiting: try PostgresStore.waiting(rows[3]),
                oldestUnsealed: try rows[4].optionalInt(0, 0).map { Timestamp(milliseconds: $0) })
        }
    }

    private static func waiting(_ rows: Rows) throws -> [WaitingOperation: Int] {
        var counts: [WaitingOperation: Int] = [:]
        for row in 0..<rows.count {
            guard let waiting = WaitingOperation(stored: try rows.text(row, 0), try rows.text(row, 1)) else {
                throw StoreFailure(.corrupted, operation: "statistics", cause: "a stored operation is unknown")
            }
            counts[waiting] = Int(try rows.int(row, 2))
        }
        return counts
    }
}
