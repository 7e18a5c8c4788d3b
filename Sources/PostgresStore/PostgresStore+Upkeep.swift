internal import Logging
internal import PaymentCore
public import Reconciler

extension PostgresStore {
    /// What an upkeep did.
    public struct Upkeep: Sendable, Hashable {
        /// Months that were prepared.
        public var prepared = 0
        /// Payments that were removed.
        public var pruned = 0
        /// Months of events that were removed.
        public var dropped = 0
        /// Of comparisons: positions, findings, runs and discrepancies that were removed.
        public var forgotten = 0
    }

    /// Prepares the months to come, and removes what ended longer ago than the retention allows. Several processes may
    /// do so at the same moment.
    ///
    /// Removed are payments that are final and were neither created nor changed since, with their legs, effects and
    /// kept answers. Their idempotency keys stay for ever: a caller who uses one again is told that it is spent. Events
    /// are removed by whole months, once no payment is left that may have one there. What is removed of comparisons is
    /// told at ``forget(before:)``; a payment with a discrepancy that is not closed stays.
    public func upkeep() async throws(StoreFailure) -> Upkeep {
        var done = Upkeep()
        let now = try await now()
        for months in 0...2 { done.prepared += try await prepare(months, after: now) ? 1 : 0 }
        guard let retention = configuration.retention else { return done }
        let before = now + (Span.zero - retention)
        while true {
            let pruned = try await prune(before: before)
            done.pruned += pruned
            if pruned < PostgresStore.pruningStep { break }
        }
        done.dropped = try await dropEvents(before: before)
        done.forgotten = try await forget(before: before)
        if done.pruned > 0 || done.dropped > 0 || done.forgotten > 0 {
            configuration.logger.info(
                "what ended long ago was removed",
                metadata: [
                    "payments": "\(done.pruned)", "months": "\(done.dropped)", "compared": "\(done.forgotten)",
                ])
        }
        return done
    }

    /// So many payments are removed in one transaction: few enough that nobody waits for it.
    private static let pruningStep = 500

    private func prepare(_ months: Int, after moment: Timestamp) async throws(StoreFailure) -> Bool {
        try await write("prepare events") { connection in
            let (rows, warnings) = try connection.run([
                // Nobody waits long for a lock behind which everybody would wait.
                Statement("SELECT set_config('lock_timeout', '2s', true)"),
                Statement("SELECT prepare_events($1, $2)", [.int(moment.milliseconds), .int(months)]),
            ])
            return (try rows.last?.bool(0, 0) ?? false, warnings)
        }
    }

    private func prune(before: Timestamp) async throws(StoreFailure) -> Int {
        try await write("prune") { connection in
            let (rows, warnings) = try connection.run([
                Statement("SELECT set_config('reconciled.prunes', 'yes', true)"),
                Statement(
                    """
                    WITH ended AS (
                        SELECT id FROM payments
                        WHERE created_at < $1 AND updated_at < $1 AND due_at IS NULL
                            AND (lease_until IS NULL OR lease_until < $1)
                            AND state IN ('succeeded', 'canceled', 'failed')
                            AND NOT EXISTS (
                                SELECT 1 FROM discrepancies
                                WHERE discrepancies.payment = payments.id AND discrepancies.state <> 'closed')
                            AND NOT EXISTS (
                                -- A refund that people have not decided about.
                                SELECT 1 FROM waiting_operations AS waiting
                                WHERE waiting.payment_id = payments.id AND waiting.version = payments.version)
                        ORDER BY created_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
                    ), keys AS (
                        UPDATE idempotency_keys SET pruned = true, answer_status = NULL, answer_type = NULL,
                            answer_location = NULL, answer_body = NULL
                        WHERE place IN (SELECT id FROM ended)
                            OR place <> payment_id AND payment_id IN (SELECT id FROM ended)
                    ), gone_waiting AS (
                        DELETE FROM waiting_operations WHERE payment_id IN (SELECT id FROM ended)
                    ), gone_webhooks AS (
                        DELETE FROM webhooks WHERE payment_id IN (SELECT id FROM ended)
                    ), gone_effects AS (
                        DELETE FROM effects WHERE payment_id IN (SELECT id FROM ended)
                    ), gone_legs AS (
                        DELETE FROM legs WHERE payment_id IN (SELECT id FROM ended)
                    ), gone AS (
                        DELETE FROM payments WHERE id IN (SELECT id FROM ended) RETURNING 1
                    ) SELECT count(*) FROM gone
                    """, [.int(before.milliseconds), .int(PostgresStore.pruningStep)]),
            ])
            return (Int(try rows.last?.int(0, 0) ?? 0), warnings)
        }
    }

    private func dropEvents(before: Timestamp) async throws(StoreFailure) -> Int {
        try await write("drop events") { connection in
            let (rows, warnings) = try connection.run([
                Statement("SELECT set_config('lock_timeout', '2s', true)"),
                Statement("SELECT drop_events($1)", [.int(before.milliseconds)]),
            ])
            return (Int(try rows.last?.int(0, 0) ?? 0), warnings)
        }
    }
}
