internal import PaymentCore

extension SettlementEngine {
    /// What came of inserting a new payment.
    enum Insertion: Sendable {
        /// It is durable, and in work.
        case inserted(Payment)
        /// Its key was used before, and this is the record of that; nothing was written.
        case keySpent(IdempotencyRecord)
        /// Another payment has its identifier; nothing was written.
        case placeTaken
    }

    /// Makes a new payment durable together with its key and its first intents, and puts it to work.
    ///
    /// - Parameter operation: What wants it, for the words of a failure.
    func insert(
        _ created: (machine: PaymentMachine, actions: [PaymentAction]), _ record: IdempotencyRecord, operation: String
    ) async throws(StoreFailure) -> Insertion {
        let change = PaymentChange(
            payment: created.machine.payment, entries: created.machine.newEntries,
            lease: .creating(holder: settings.holder, leaseFor: settings.sweep.lease), record: record)
        switch try await commitNew(change, record, operation) {
        case .committed(let version, let lease):
            guard let lease else {
                throw StoreFailure(.other, operation: operation, cause: "the store gave no lease")
            }
            var machine = created.machine
            machine.committed(version: version)
            begin(machine, lease, created.actions)
            return .inserted(machine.payment)
        case .duplicate(let record): return .keySpent(record)
        case .versionConflict: return .placeTaken
        case .leaseLost:
            throw StoreFailure(.other, operation: operation, cause: "a new payment has no lease to lose")
        }
    }

    /// Tries again where that is safe. If it is not known whether the row was written, the row is looked for.
    private func commitNew(
        _ change: PaymentChange, _ record: IdempotencyRecord, _ operation: String
    ) async throws(StoreFailure) -> CommitResult {
        var last: StoreFailure?
        var isUncertain = false
        for index in 0..<3 {
            do {
                return try await store.commit(change)
            } catch {
                telemetry.storeFailed(error)
                // Uncertainty only grows: once a try may have been written, "nothing was done" is never said again.
                isUncertain = isUncertain || error.code == .indeterminate
                last = isUncertain ? StoreFailure(.indeterminate, operation: operation, cause: error.cause) : error
                if isUncertain, let written = await recordIfReadable(record) {
                    // Its intents are taken up by the sweep, as after a crash.
                    return .duplicate(written)
                }
                guard error.code == .busy || error.code == .serialization || error.code == .indeterminate else { break }
                let delay = Span(milliseconds: Int64(20 << index) + Int64(jitter.next() / 50))
                do {
                    try await clock.sleep(until: clock.now() + delay)
                } catch { break }
            }
        }
        throw last ?? StoreFailure(.unavailable, operation: operation, cause: "interrupted")
    }

    private func recordIfReadable(_ record: IdempotencyRecord) async -> IdempotencyRecord? {
        do {
            return try await store.idempotencyRecord(caller: record.caller, key: record.key)
        } catch {
            telemetry.storeFailed(error)
            return nil
        }
    }
}
