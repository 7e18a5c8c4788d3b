public import PaymentCore
public import Reconciler

/// A change of a payment, of keys, or of both, as a standby is told of it.
public struct ChangedRow: Sendable {
    /// Which payment.
    public let payment: PaymentID
    /// The payment after the change; `nil` if only keys changed.
    public let after: Payment?
    /// The audit entries of the change.
    public let entries: [AuditEntry]
    /// The payment's newest token.
    public let token: LeaseToken
    /// The records of the keys that changed.
    public let records: [IdempotencyRecord]
    /// The repair that was proposed or decided.
    public let repair: Repair?
}

extension StoreModel {
    /// What a standby is told of a change that was committed last; `nil` if its payment does not exist.
    public func changedRow(by change: PaymentChange) -> ChangedRow? {
        guard let rowIndex = rowIndices[change.payment.id], let row = rows[rowIndex] else { return nil }
        var records: [IdempotencyRecord] = []
        if let asked = change.record, let record = record(asked.caller, asked.key) { records.append(record) }
        if change.answer != nil, let record = record(change.payment.caller, change.payment.key) {
            records.append(record)
        }
        return ChangedRow(
            payment: change.payment.id, after: row.payment, entries: change.entries, token: row.token, records: records,
            repair: change.repair)
    }

    /// What a standby is told of an answer that was kept under a key; `nil` if the key or its payment does not exist.
    public func changedRow(of caller: CallerID, _ key: IdempotencyKey) -> ChangedRow? {
        guard let record = record(caller, key), let rowIndex = rowIndices[record.payment], let row = rows[rowIndex]
        else {
            return nil
        }
        return ChangedRow(
            payment: record.payment, after: nil, entries: [], token: row.token, records: [record], repair: nil)
    }

    /// Takes in what another store made durable. Nobody holds a lease here.
    public mutating func apply(_ change: ChangedRow) {
        for record in change.records { records[KeyPlace(caller: record.caller, key: record.key)] = record }
        if let repair = change.repair { repairs[repair.id] = repair }
        guard let payment = change.after else { return }
        let rowIndex = rowIndex(of: change.payment)
        let trail = rows[rowIndex]?.trail ?? []
        rows[rowIndex] = Row(
            payment: payment, trail: trail + change.entries, token: change.token, lease: nil,
            sealed: rows[rowIndex]?.sealed ?? 0)
        note(payment, at: rowIndex)
    }

    /// Takes in what another store, or this one, decided about comparisons.
    ///
    /// - Throws: If a sum does not fit; nothing is changed then.
    public mutating func apply(_ change: ComparisonChange) throws(Money.Failure) {
        try comparisons.apply(change)
        if case .repaired(_, let repair) = change { repairs[repair.id] = repair }
    }
}
