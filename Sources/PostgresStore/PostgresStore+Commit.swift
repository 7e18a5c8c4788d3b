public import PaymentCore
public import Reconciler

extension PostgresStore {
    /// Makes one change durable together with others that wait at the same moment, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `indeterminate` if the answer did not come or the standby did not
    ///   confirm, `other` if the change contradicts itself or the stored trail; for other codes see ``StoreFailure``.
    public func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
        let prepared = try PreparedChange(change, reportingTo: configuration.reportsTo)
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
        try await changes.write(PreparedAnswer(answer, caller, key))
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
