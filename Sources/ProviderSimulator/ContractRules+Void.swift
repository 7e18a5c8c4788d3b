extension ContractRules {
    /// Answers `POST /transactions/{key}/void`.
    func void(_ request: ProviderRequest, _ record: TransactionRecord?) -> Execution {
        guard var record else {
            guard options.tombstoning else { return refuse(.notFound, nil) }
            let tombstone = TransactionRecord(
                key: request.key, kind: nil, status: .tombstoned, amount: nil, createdAt: now, updatedAt: now)
            return Execution(record: tombstone, answer: .transaction(200, tombstone))
        }
        switch record.status {
        case .voided, .tombstoned, .expired:
            return show(record, 200)
        case .pending where record.awaitsPayer:
            // Nothing is held yet.
            record.status = .voided
            record.updatedAt = changed(record)
            return Execution(record: record, answer: .transaction(200, record))
        case .pending:
            return show(record, 409)
        case .declined:
            guard !record.declineIsBound, options.tombstoning else { return show(record, 200) }
            // Nothing binds this decline: only a tombstone keeps a duplicate that is still on its way from
            // charging.
            record.status = .tombstoned
            record.updatedAt = changed(record)
            return Execution(record: record, answer: .transaction(200, record))
        case .authorized:
            guard !record.hasPendingCapture else { return show(record, 409) }
            return undo(&record, .void)
        case .captured:
            guard options.voidReversesSale, record.kind == .sale,
                record.refunds.allSatisfy({ $0.status == .declined })
            else { return show(record, 409) }
            return undo(&record, .reversal)
        }
    }

    private func undo(_ record: inout TransactionRecord, _ kind: MovementKind) -> Execution {
        record.status = .voided
        record.updatedAt = changed(record)
        let movements = record.amount.map { [Movement(kind, $0, at: now)] } ?? []
        return Execution(record: record, movements: movements, answer: .transaction(200, record))
    }
}
