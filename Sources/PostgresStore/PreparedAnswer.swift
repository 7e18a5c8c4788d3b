internal import PaymentCore
internal import Reconciler

/// The first settled answer under a key, as it is to be kept.
struct PreparedAnswer: Sendable {
    let caller: CallerID
    let key: IdempotencyKey
    /// Where its key's row lies.
    let place: String
    let answer: StoredAnswer

    init(_ answer: StoredAnswer, _ caller: CallerID, _ key: IdempotencyKey) {
        self.caller = caller
        self.key = key
        self.answer = answer
        place = PaymentID(caller: caller, key: key).text
    }

    /// The answer that was kept before. A pruned key is spent: what is offered now is told once, and not kept.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the key was never used.
    func earlier(_ connection: PostgresConnection) throws -> StoredAnswer {
        guard let known = try connection.run([KeyRow.find(caller, key)]).rows.first, known.count == 1 else {
            throw StoreFailure(.other, operation: "store answer", cause: "the key was never used")
        }
        return try KeyRow.record(known, 0).answer ?? answer
    }
}
