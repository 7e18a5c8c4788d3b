public import PaymentCore
public import Reconciler

extension PostgresStore {
    /// Makes one change durable together with others that wait at the same moment, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `indeterminate` if the answer did not come or the standby did not
    ///   confirm, `other` if the change contradicts itself or the stored trail; for other codes see ``StoreFailure``.
    public func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
        let prepared = try PreparedChange(change)
        let result = try await changes.write(prepared)
        if case .committed = result, prepared.leavesWork { news.announce(in: reading) }
        return result
    }

    /// Stores the first settled answer under a key. Under a pruned key it stores nothing and gives back what it was
    /// given.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the key was never used, `indeterminate` if it is not known
    ///   whether the answer was stored.
    public func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer {
        try await write("store answer") { connection in
            let place = KeyRow.place(caller, key)
            let (rows, warnings) = try connection.run([
                Statement(
                    """
                    UPDATE idempotency_keys
                    SET answer_status = $2, answer_type = $3, answer_location = $4, answer_body = $5
                    WHERE place = $1 AND answer_status IS NULL AND NOT pruned
                    """,
                    [
                        place, .int(answer.status), .text(answer.contentType), .text(answer.location),
                        .bytes(answer.body),
                    ]),
                KeyRow.find(caller, key),
            ])
            guard let known = rows.last, known.count == 1 else {
                throw StoreFailure(.other, operation: "store answer", cause: "the key was never used")
            }
            // A pruned key is spent: what is offered now is told once, and not kept.
            return (try KeyRow.record(known, 0).answer ?? answer, warnings)
        }
    }

    /// Reads the record of an idempotency key.
    public func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord? {
        try await confirmed("idempotency record") { connection in
            guard let rows = try connection.run([KeyRow.find(caller, key)]).rows.first, rows.count == 1 else {
                return nil
            }
            return try KeyRow.record(rows, 0)
        }
    }
}
