public import PaymentCore
public import Reconciler

extension StoreModel {
    /// Takes one change in, or refuses it whole.
    ///
    /// - Parameter overlooked: What is not checked; only sabotage names anything.
    /// - Throws: ``StoreFailure`` with the code `other` if the change contradicts itself or the stored trail.
    public mutating func commit(
        _ change: PaymentChange, at now: Timestamp, overlooking overlooked: StoreLaxness = []
    ) throws(StoreFailure) -> CommitResult {
        let headBefore = overlooked.contains(.trails) ? nil : try change.checkedHeadBefore()
        if let record = change.record, let known = self.record(record.caller, record.key),
            !overlooked.contains(.keys)
        {
            return .duplicate(known)
        }
        if case .creating(let holder, let span) = change.lease {
            return try insert(change, headBefore, Lease(holder: holder, until: now + span), overlooked)
        }
        return try update(change, headBefore, overlooked)
    }

    private mutating func insert(
        _ change: PaymentChange, _ headBefore: AuditHead?, _ lease: Lease, _ overlooked: StoreLaxness
    ) throws(StoreFailure) -> CommitResult {
        let id = change.payment.id
        let known = row(id)
        if known != nil, !overlooked.contains(.keys) {
            // Without a record there is nothing to point at: the payment is there, and is not this one.
            let record = record(change.payment.caller, change.payment.key)
            return record.map { .duplicate($0) } ?? .versionConflict
        }
        if let headBefore { try PaymentChange.requireContinuation(from: headBefore, of: .empty(id)) }
        try requirePlace(for: change.repair, overlooked)
        let token = LeaseToken((known?.token.number ?? 0) + 1)
        let payment = StoreModel.stored(change.payment)
        let rowIndex = rowIndex(of: id)
        rows[rowIndex] = Row(payment: payment, trail: change.entries, token: token, lease: lease)
        note(payment, at: rowIndex)
        keepRest(of: change, payment)
        return .committed(version: payment.version, lease: token)
    }

    private mutating func update(
        _ change: PaymentChange, _ headBefore: AuditHead?, _ overlooked: StoreLaxness
    ) throws(StoreFailure) -> CommitResult {
        guard let rowIndex = rowIndices[change.payment.id] else { return .versionConflict }
        if let refusal = try refusal(of: change, headBefore, at: rowIndex, overlooked) { return refusal }
        try requirePlace(for: change.repair, overlooked)
        let payment = StoreModel.stored(change.payment)
        if rows[rowIndex]?.payment.legs.count != payment.legs.count { note(payment, at: rowIndex) }
        if case .releasing = change.lease { rows[rowIndex]?.lease = nil }
        rows[rowIndex]?.payment = payment
        rows[rowIndex]?.trail.append(contentsOf: change.entries)
        keepRest(of: change, payment)
        return .committed(version: payment.version, lease: nil)
    }

    /// Why a change is not taken; `nil` if it is.
    private func refusal(
        of change: PaymentChange, _ headBefore: AuditHead?, at rowIndex: Int, _ overlooked: StoreLaxness
    ) throws(StoreFailure) -> CommitResult? {
        guard let row = rows[rowIndex] else { return .versionConflict }
        switch change.lease {
        case .holding(let token), .releasing(let token):
            let isHeld = row.lease != nil && row.token == token
            guard isHeld || overlooked.contains(.leases) else { return .leaseLost }
        case .creating, .none: break
        }
        guard row.payment.version == change.payment.version || overlooked.contains(.versions) else {
            return .versionConflict
        }
        if let headBefore { try PaymentChange.requireContinuation(from: headBefore, of: row.payment.auditHead) }
        return nil
    }

    /// A payment's place, which it gets now if it has none.
    mutating func rowIndex(of id: PaymentID) -> Int {
        if let rowIndex = rowIndices[id] { return rowIndex }
        rowIndices[id] = rows.count
        ids.append(id)
        rows.append(nil)
        return rows.count - 1
    }

    /// A payment under its next version.
    private static func stored(_ payment: Payment) -> Payment {
        var machine = PaymentMachine(payment: payment)
        machine.committed(version: payment.version + 1)
        return machine.payment
    }

    /// Notes under which keys a payment's legs are found.
    mutating func note(_ payment: Payment, at rowIndex: Int) {
        for leg in payment.legs {
            legs[StoredComparisons.Place(provider: leg.provider, key: leg.primary.key)] = rowIndex
        }
    }

    /// A repair is proposed once and decided once, and nobody approves what they proposed.
    private func requirePlace(for repair: Repair?, _ overlooked: StoreLaxness) throws(StoreFailure) {
        guard let repair, !overlooked.contains(.repairs) else { return }
        let known = repairs[repair.id]
        let isInOrder = repair.decision == nil ? known == nil : known != nil && known?.decision == nil
        guard isInOrder else { throw .repairOutOfOrder }
        guard let decision = repair.decision, decision.isApproved, decision.by == repair.proposedBy else { return }
        throw StoreFailure(.other, operation: "commit", cause: "nobody approves what they proposed")
    }

    /// The change by which a repair of a discrepancy is written; `nil` if another was first.
    public func changing(
        _ discrepancy: Discrepancy, with repair: Repair, overlooking: StoreLaxness = []
    ) throws(StoreFailure) -> ComparisonChange? {
        guard let changed = comparisons.changing(discrepancy) else { return nil }
        try requirePlace(for: repair, overlooking)
        return .repaired(changed, repair)
    }

    /// Keeps a change's record, its repair, its report, and its answer unless one is kept already or the key is pruned.
    private mutating func keepRest(of change: PaymentChange, _ payment: Payment) {
        raiseWebhook(of: payment)
        if let record = change.record { records[KeyPlace(caller: record.caller, key: record.key)] = record }
        if let repair = change.repair { repairs[repair.id] = repair }
        if let answer = change.answer { _ = keep(answer, change.payment.caller, change.payment.key) }
    }

    /// Keeps the first settled answer under a key. Under a pruned key it keeps nothing.
    ///
    /// - Returns: The answer that counts: under a pruned key the one that was given; `nil` if the key was never used.
    public mutating func keep(
        _ answer: StoredAnswer, _ caller: CallerID, _ key: IdempotencyKey
    ) -> StoredAnswer? {
        let recordKey = KeyPlace(caller: caller, key: key)
        guard let record = records[recordKey] else { return nil }
        if let first = record.answer { return first }
        // A pruned key is spent: what is offered now is told once, and not kept.
        guard !record.isPruned else { return answer }
        records[recordKey]?.answer = answer
        return answer
    }
}
