import GRDB

/// Writes transactions of a bulk order to the ledger.
struct BulkWriter {
    let table: TransactionTable
    let options: ContractOptions

    /// Makes those of the range whose keys are not known.
    /// - Returns: how many were made.
    func write(_ numbers: Range<Int>, of order: BulkOrder) throws -> Int {
        var made = 0
        for number in numbers {
            let transaction = order.transaction(number)
            guard try table.id(of: transaction.key) == nil else { continue }
            let record = record(of: transaction, order)
            var stored = StoredTransaction(record: record)
            try table.save(&stored, movements: Movement.all(of: record))
            made += 1
        }
        return made
    }

    private func record(of transaction: BulkTransaction, _ order: BulkOrder) -> TransactionRecord {
        var record = TransactionRecord(
            key: transaction.key, kind: order.onePhase ? .sale : .authorize,
            status: transaction.isCaptured ? .captured : .authorized, amount: transaction.amount,
            createdAt: transaction.at, updatedAt: transaction.at)
        record.metadata = ["payment": transaction.payment, "leg": "0", "caller": order.caller]
        if !order.onePhase { record.authorizedUntil = transaction.at + options.authorizationLifeMs }
        if let key = transaction.captureKey {
            record.captures = [Entry(succeeded: key, transaction.amount, at: transaction.at)]
        }
        if let refund = transaction.refund {
            record.refunds = [Entry(succeeded: refund.key, refund.amount, at: transaction.at)]
        }
        record.fingerprint = PaymentOrder.fingerprint(
            kind: order.onePhase ? .sale : .authorize, transaction.amount, instrument: BulkOrder.instrument,
            record.metadata)
        return record
    }
}

extension Entry {
    /// One that was asked for and done.
    init(succeeded key: String, _ amount: Amount, at: Int64) {
        self.init(key: key, amount: amount, requested: amount, status: .succeeded, createdAt: at)
    }
}

extension Movement {
    /// All that moved under a record, as it shows it.
    static func all(of record: TransactionRecord) -> [Movement] {
        guard let amount = record.amount else { return [] }
        let wasAccepted = [.authorized, .captured, .voided, .expired].contains(record.status)
        guard wasAccepted else { return [] }
        var movements = [Movement(record.kind == .sale ? .charge : .hold, amount, at: record.createdAt)]
        var taken = record.kind == .sale ? amount.value : 0
        for capture in record.captures where capture.status == .succeeded {
            movements.append(Movement(.charge, capture.amount, at: capture.createdAt, entryKey: capture.key))
            taken += capture.amount.value
            if capture.amount.value < amount.value {
                let rest = amount.with(value: amount.value - capture.amount.value)
                movements.append(Movement(.release, rest, at: capture.createdAt, entryKey: capture.key))
            }
        }
        for refund in record.refunds where refund.status == .succeeded || refund.failedAt != nil {
            movements.append(Movement(.refund, refund.amount, at: refund.createdAt, entryKey: refund.key))
            guard let failedAt = refund.failedAt else {
                taken -= refund.amount.value
                continue
            }
            movements.append(Movement(.refundFailure, refund.amount, at: failedAt, entryKey: refund.key))
        }
        switch record.status {
        case .voided:
            let ended = taken > 0 ? Movement(.reversal, amount.with(value: taken), at: record.updatedAt) : nil
            movements.append(ended ?? Movement(.void, amount, at: record.updatedAt))
        case .expired: movements.append(Movement(.expiry, amount, at: record.updatedAt))
        default: break
        }
        return movements
    }
}
