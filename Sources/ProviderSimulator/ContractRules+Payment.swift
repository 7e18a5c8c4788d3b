extension ContractRules {
    /// Answers `PUT /transactions/{key}`.
    func pay(_ order: PaymentOrder, _ request: ProviderRequest, _ record: TransactionRecord?) -> Execution {
        if options.notAfterRefusesReplays, isLate(request) { return refuse(.notAfterPassed, record) }
        if let record {
            guard record.status != .tombstoned else { return show(record, 409) }
            guard record.fingerprint == order.fingerprint else { return refuse(.keyReused, record) }
            switch record.status {
            case .voided, .tombstoned, .expired: return show(record, 409)
            case .pending: return show(record, 202)
            case .authorized, .captured: return show(record, 200)
            case .declined: if record.declineIsBound { return show(record, 402) }
            }
        }
        if isLate(request) { return refuse(.notAfterPassed, record) }
        return decide(order, key: request.key, after: record)
    }

    /// The first attempt under a key, or another one after a decline that was not bound to it.
    private func decide(_ order: PaymentOrder, key: String, after declined: TransactionRecord?) -> Execution {
        let amount = twist.recorded(order.amount)
        var record = TransactionRecord(
            key: key, kind: order.kind, status: .pending, amount: amount,
            createdAt: declined?.createdAt ?? now, updatedAt: declined.map(changed) ?? now)
        record.metadata = order.metadata
        record.fingerprint = order.fingerprint
        record.behaviour = order.behaviour
        record.unboundDeclines = declined?.unboundDeclines ?? 0

        if let decline = decline(of: order.behaviour, attempts: record.unboundDeclines) {
            record.status = .declined
            record.reason = "insufficient_funds"
            record.declineIsBound = decline == .bound
            if decline == .unbound { record.unboundDeclines += 1 }
            return Execution(record: record, answer: .transaction(402, record))
        }
        if order.behaviour == .asksPayer {
            guard order.returnURL != nil else {
                record.status = .declined
                record.reason = "payer_action_required"
                return Execution(record: record, answer: .transaction(402, record))
            }
            return Execution(record: record, answer: .transaction(202, record))
        }
        if let pending = twist.pending {
            record.resolution = Resolution(at: now + pending.afterMs, succeeds: pending.succeeds)
            return Execution(record: record, answer: .transaction(202, record))
        }
        let movement = accept(&record)
        return Execution(record: record, movements: [movement], answer: .transaction(201, record))
    }

    private func decline(of behaviour: InstrumentBehaviour, attempts: Int) -> Twist.Decline? {
        if let decline = twist.decline { return decline }
        switch behaviour {
        case .declines:
            return options.declinesBound ? .bound : .unbound
        case .declinesUnbound:
            return attempts < options.unboundDeclineTimes || chance < options.unboundDeclineRate
                ? .unbound : nil
        case .approves, .declinesCapture, .declinesRefund, .asksPayer, .unknown:
            return nil
        }
    }

    /// Takes or holds the record's amount.
    func accept(_ record: inout TransactionRecord) -> Movement {
        let amount = record.amount ?? Amount(value: 0, currency: "XXX")
        if record.kind == .sale {
            record.status = .captured
            return Movement(.charge, amount, at: now)
        }
        record.status = .authorized
        record.authorizedUntil = now + options.authorizationLifeMs
        return Movement(.hold, amount, at: now)
    }
}
