internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// Finds out why a change was not written, by reading what it met.
struct Refusal {
    private let change: PreparedChange
    private let connection: PostgresConnection

    init(_ change: PreparedChange, _ connection: PostgresConnection) {
        self.change = change
        self.connection = connection
    }

    private func known(_ caller: CallerID, _ key: IdempotencyKey) throws -> IdempotencyRecord? {
        guard let rows = try connection.run([KeyRow.find(caller, key)]).rows.first, rows.count == 1 else { return nil }
        return try KeyRow.record(rows, 0)
    }

    func result() throws -> CommitResult {
        if let record = change.record, let known = try known(record.caller, record.key) { return .duplicate(known) }
        let row = try connection.rows(
            "SELECT version, lease_holder, lease_token, audit_seq, audit_hash FROM payments WHERE id = $1",
            [.text(change.id)])
        guard row.count == 1 else { return .versionConflict }
        if change.isNew {
            // Without a record there is nothing to point at: the payment is there, and is not this one.
            return try known(change.payment.caller, change.payment.key).map { .duplicate($0) } ?? .versionConflict
        }
        if let token = change.token {
            guard try row.optionalText(0, 1) != nil, try row.int(0, 2) == token else { return .leaseLost }
        }
        guard try row.int(0, 0) == change.readVersion else { return .versionConflict }
        guard let hash = Digest(hex: try row.text(0, 4)) else {
            throw StoreFailure(.corrupted, operation: "commit", cause: "the stored head of a trail is no digest")
        }
        try PaymentChange.requireContinuation(
            from: change.headBefore, of: AuditHead(sequence: try row.int(0, 3), hash: hash))
        if let repair = change.repair {
            let known = try connection.rows("SELECT state = 'proposed' FROM repairs WHERE id = $1", [.text(repair.id)])
            let isWaiting = try known.count == 1 ? known.bool(0, 0) : nil
            guard isWaiting == (repair.isDecided ? true : nil) else { throw StoreFailure.repairOutOfOrder }
        }
        throw StoreFailure(.serialization, operation: "commit", cause: "another writer was there in between")
    }
}
