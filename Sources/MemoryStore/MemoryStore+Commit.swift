public import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Takes one change in, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the change contradicts itself or the stored trail.
    public func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
        try perform(.commit) { () throws(StoreFailure) in
            let result = try write(change)
            if case .committed = result { written = LogPosition(offset: written.offset + 1) }
            return result
        }
    }

    private func write(_ change: PaymentChange) throws(StoreFailure) -> CommitResult {
        let headBefore = try change.checkedHeadBefore()
        if let record = change.record, let known = records[KeyPlace(caller: record.caller, key: record.key)] {
            return .duplicate(known)
        }
        if case .creating(let holder, let span) = change.lease {
            return try insert(change, headBefore, Lease(holder: holder, until: moment() + span))
        }
        return try update(change, headBefore)
    }

    private func insert(
        _ change: PaymentChange, _ headBefore: AuditHead, _ lease: Lease
    ) throws(StoreFailure) -> CommitResult {
        let id = change.payment.id
        guard stored[id] == nil else {
            // Without a record there is nothing to point at: the payment is there, and is not this one.
            let record = records[KeyPlace(caller: change.payment.caller, key: change.payment.key)]
            return record.map { .duplicate($0) } ?? .versionConflict
        }
        try PaymentChange.requireContinuation(from: headBefore, of: .empty(id))
        let token = LeaseToken(1)
        let payment = keep(change)
        stored[id] = Stored(payment: payment, token: token, lease: lease)
        return .committed(version: payment.version, lease: token)
    }

    private func update(_ change: PaymentChange, _ headBefore: AuditHead) throws(StoreFailure) -> CommitResult {
        guard var found = stored[change.payment.id] else { return .versionConflict }
        switch change.lease {
        case .holding(let token):
            guard found.lease != nil, found.token == token else { return .leaseLost }
        case .releasing(let token):
            guard found.lease != nil, found.token == token else { return .leaseLost }
            found.lease = nil
        case .creating, .none:
            break
        }
        guard found.payment.version == change.payment.version else { return .versionConflict }
        try PaymentChange.requireContinuation(from: headBefore, of: found.payment.auditHead)
        found.payment = keep(change)
        stored[change.payment.id] = found
        return .committed(version: found.payment.version, lease: nil)
    }

    /// Keeps the entries and the record; gives the payment with its next version.
    private func keep(_ change: PaymentChange) -> Payment {
        trails[change.payment.id, default: []] += change.entries
        if !change.entries.isEmpty { sealing.unsealed.insert(change.payment.id) }
        for leg in change.payment.legs {
            legs[Comparisons.Place(provider: leg.provider, key: leg.primary.key)] = change.payment.id
        }
        if let record = change.record { records[KeyPlace(caller: record.caller, key: record.key)] = record }
        let place = KeyPlace(caller: change.payment.caller, key: change.payment.key)
        if let answer = change.answer, let known = records[place], known.answer == nil, !known.isPruned {
            records[place]?.answer = answer
        }
        var machine = PaymentMachine(payment: change.payment)
        machine.committed(version: change.payment.version + 1)
        return machine.payment
    }

    /// Reads the record of an idempotency key.
    public func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord? {
        try perform(.idempotencyRecord) { records[KeyPlace(caller: caller, key: key)] }
    }

    /// Stores the first settled answer under a key. Under a pruned key it stores nothing and gives back what it was
    /// given.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the key was never used.
    public func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer {
        try perform(.storeAnswer) { () throws(StoreFailure) in
            let place = KeyPlace(caller: caller, key: key)
            guard var record = records[place] else {
                throw StoreFailure(.other, operation: "store answer", cause: "the key was never used")
            }
            if let first = record.answer { return first }
            // A pruned key is spent: what is offered now is told once, and not kept.
            guard !record.isPruned else { return answer }
            record.answer = answer
            records[place] = record
            return answer
        }
    }
}
