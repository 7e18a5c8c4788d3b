extension ContractRules {
    /// Answers `PUT /transactions/{key}/captures/{captureKey}`.
    func capture(_ amount: Amount, _ request: ProviderRequest, _ record: TransactionRecord?) -> Execution {
        enter(amount, request, record, into: \.captures) { record in
            guard record.status == .authorized, !record.hasPendingCapture, let held = record.amount else {
                return show(record, 409)
            }
            return tooLarge(amount, held, "The hold is \(held.value) \(held.currency).", record)
        }
    }

    /// Answers `PUT /transactions/{key}/refunds/{refundKey}`.
    func refund(_ amount: Amount, _ request: ProviderRequest, _ record: TransactionRecord?) -> Execution {
        enter(amount, request, record, into: \.refunds) { record in
            // Beside a dispute that is lost it would be paid twice.
            guard record.status == .captured, !record.isDisputed, let taken = record.amount else {
                return show(record, 409)
            }
            let left = record.capturedValue - record.refundedValue
            return tooLarge(
                amount, taken.with(value: left), "\(left) \(taken.currency) is left to refund.", record)
        }
    }

    private func tooLarge(_ amount: Amount, _ limit: Amount, _ detail: String, _ record: TransactionRecord)
        -> Execution?
    {
        guard amount.currency == limit.currency else { return refuse(.currencyMismatch, record) }
        guard amount.value <= limit.value else { return refuse(.amountTooLarge(detail), record) }
        return nil
    }

    /// What captures and refunds have in common.
    ///
    /// The checks come in the order that the contract gives them.
    private func enter(
        _ amount: Amount, _ request: ProviderRequest, _ record: TransactionRecord?,
        into entries: WritableKeyPath<TransactionRecord, [Entry]>,
        unless refusal: (TransactionRecord) -> Execution?
    ) -> Execution {
        guard var record else { return refuse(.notFound, nil) }
        if options.notAfterRefusesReplays, isLate(request) { return refuse(.notAfterPassed, record) }
        let known = record[keyPath: entries].firstIndex { $0.key == request.entryKey }
        if let known {
            let entry = record[keyPath: entries][known]
            guard entry.requested == amount else { return refuse(.keyReused, record) }
            switch entry.status {
            case .pending: return show(record, 202)
            case .succeeded: return show(record, 200)
            case .declined: if entry.declineIsBound { return show(record, 402) }
            }
        }
        if isLate(request) { return refuse(.notAfterPassed, record) }
        if let refused = refusal(record) { return refused }
        let (entry, status) = decide(amount, key: request.entryKey, entries == \.captures, record)
        if let known {
            record[keyPath: entries][known] = entry
        } else {
            record[keyPath: entries].append(entry)
        }
        record.updatedAt = changed(record)
        var movements: [Movement] = []
        if entry.status == .succeeded { movements = settle(entry, entries == \.captures, &record) }
        return Execution(record: record, movements: movements, answer: .transaction(status, record))
    }

    private func decide(_ amount: Amount, key: String, _ isCapture: Bool, _ record: TransactionRecord)
        -> (Entry, status: Int)
    {
        var entry = Entry(
            key: key, amount: twist.recorded(amount), requested: amount, status: .succeeded, createdAt: now)
        let refuses: InstrumentBehaviour = isCapture ? .declinesCapture : .declinesRefund
        let decline = twist.decline ?? (record.behaviour == refuses ? .bound : nil)
        if let decline {
            entry.status = .declined
            entry.reason = "account_closed"
            entry.declineIsBound = decline == .bound
            return (entry, 402)
        }
        if let pending = twist.pending {
            entry.status = .pending
            entry.resolution = Resolution(at: now + pending.afterMs, succeeds: pending.succeeds)
            return (entry, 202)
        }
        return (entry, 201)
    }

    /// Moves the money of an entry that succeeded.
    ///
    /// The first capture is final: what it leaves of the hold is free.
    func settle(_ entry: Entry, _ isCapture: Bool, _ record: inout TransactionRecord) -> [Movement] {
        guard isCapture else { return [Movement(.refund, entry.amount, at: now, entryKey: entry.key)] }
        record.status = .captured
        var movements = [Movement(.charge, entry.amount, at: now, entryKey: entry.key)]
        if let held = record.amount, held.value > entry.amount.value {
            let rest = held.with(value: held.value - entry.amount.value)
            movements.append(Movement(.release, rest, at: now, entryKey: entry.key))
        }
        return movements
    }
}
