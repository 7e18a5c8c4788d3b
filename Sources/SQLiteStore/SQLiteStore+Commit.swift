internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Makes one change durable together with others that wait at the same moment, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `indeterminate` if the flush failed, `other` if the change
    ///   contradicts itself or the stored trail; for other codes see ``StoreFailure``.
    public func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult {
        let prepared = try PreparedChange(change, reportingTo: reportsTo)
        let clock = clock
        return try await queue.write("commit") { db in try prepared.write(db, clock) }
    }

    /// Stores the first settled answer under a key. Under a pruned key it stores nothing and gives back what it was
    /// given.
    ///
    /// - Throws: ``StoreFailure`` with the code `other` if the key was never used.
    public func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer {
        try await queue.write("store answer") { db in
            guard let record = try KeyRow.find(caller: caller.name, key: key.text, db) else {
                throw StoreFailure(.other, operation: "store answer", cause: "the key was never used")
            }
            if let first = record.answer { return first }
            // A pruned key is spent: what is offered now is told once, and not kept.
            guard !record.isPruned else { return answer }
            try KeyRow.setAnswer(answer, caller: caller.name, key: key.text, db)
            return answer
        }
    }

    /// Reads the record of an idempotency key.
    public func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord? {
        try await read("idempotency record") { db in
            try KeyRow.find(caller: caller.name, key: key.text, db)
        }
    }
}

extension PreparedChange {
    /// Writes the change, or says why not. Runs in the writer's savepoint.
    func write(_ db: Database, _ clock: SteadyClock) throws -> CommitResult {
        if let record, let known = try KeyRow.find(caller: record.caller.name, key: record.key.text, db) {
            return .duplicate(known)
        }
        if case .creating(let holder, let span) = lease {
            return try insert(holder: holder, until: clock.now() + span, db)
        }
        return try update(db)
    }

    private func insert(holder: String, until: Timestamp, _ db: Database) throws -> CommitResult {
        let known = try db.cachedStatement(sql: "SELECT 1 FROM payments WHERE id = ?")
        if try Row.fetchOne(known, arguments: [id]) != nil {
            // Without a record there is nothing to point at: the payment is there, and is not this one.
            let record = try KeyRow.find(caller: payment.caller.name, key: payment.key.text, db)
            return record.map { .duplicate($0) } ?? .versionConflict
        }
        try PaymentChange.requireContinuation(from: headBefore, of: .empty(payment.id))
        let token = LeaseToken(1)
        let rest: StatementArguments = [id, holder, token.number, until.milliseconds]
        try db.cachedStatement(sql: PreparedChange.insertSQL).execute(arguments: columns + rest)
        try writeParts(db)
        return .committed(version: writtenVersion, lease: token)
    }

    private func update(_ db: Database) throws -> CommitResult {
        let statement = try db.cachedStatement(
            sql: "SELECT version, lease_holder, lease_token, audit_seq, audit_hash FROM payments WHERE id = ?")
        guard let row = try Row.fetchOne(statement, arguments: [id]) else { return .versionConflict }
        let holder: String? = row[1]
        let token = LeaseToken(row[2])
        var ends = false
        switch lease {
        case .holding(let claimed):
            guard holder != nil, token == claimed else { return .leaseLost }
        case .releasing(let claimed):
            guard holder != nil, token == claimed else { return .leaseLost }
            ends = true
        case .creating, .none:
            break
        }
        guard row[0] == readVersion else { return .versionConflict }
        guard let hash = Digest(hex: row[4]) else {
            throw StoreFailure(.corrupted, operation: "commit", cause: "the stored head of a trail is no digest")
        }
        try PaymentChange.requireContinuation(from: headBefore, of: AuditHead(sequence: row[3], hash: hash))
        let rest: StatementArguments = [ends, id]
        try db.cachedStatement(sql: PreparedChange.updateSQL).execute(arguments: columns + rest)
        try writeParts(db)
        return .committed(version: writtenVersion, lease: nil)
    }

    private func writeParts(_ db: Database) throws {
        for leg in legs { try leg.write(id, db) }
        for effect in effects { try effect.write(id, db) }
        try WaitingRow.write(waiting, of: id, db)
        for event in events { try event.insert(id, db) }
        if let record { try KeyRow.insert(record, db) }
        try repair?.write(db)
        try webhook?.raise(db)
        guard let answer, let known = try KeyRow.find(caller: payment.caller.name, key: payment.key.text, db),
            known.answer == nil, !known.isPruned
        else { return }
        try KeyRow.setAnswer(answer, caller: payment.caller.name, key: payment.key.text, db)
    }
}
