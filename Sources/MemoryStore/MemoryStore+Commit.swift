public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Takes one change in, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the change contradicts itself or the stored trail.
    public func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
        try perform(.commit) { () throws(StoreFailure) in
            let result = try model.commit(change, at: moment())
            if case .committed = result { written = LogPosition(offset: written.offset + 1) }
            return result
        }
    }

    /// Reads the record of an idempotency key.
    public func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord? {
        try perform(.idempotencyRecord) { model.record(caller, key) }
    }

    /// Stores the first settled answer under a key. Under a pruned key it stores nothing and gives back what it was
    /// given.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the key was never used.
    public func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer {
        try perform(.storeAnswer) { () throws(StoreFailure) in
            guard let kept = model.keep(answer, caller, key) else {
                throw StoreFailure(.other, operation: "store answer", cause: "the key was never used")
            }
            return kept
        }
    }
}
