internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// A change as rows, made by the caller's own task, so that the one writer does nothing but write.
struct PreparedChange: Sendable {
    let id: String
    /// The version that was read.
    let readVersion: Int64
    let payment: Payment
    let document: Data
    let legs: [LegRow]
    let effects: [EffectRow]
    let waiting: [WaitingOperation]
    let events: [EventRow]
    let lease: PaymentChange.LeaseRequirement
    let record: IdempotencyRecord?
    /// The answer that is kept with it.
    let answer: StoredAnswer?
    /// The repair that is proposed or decided by it.
    let repair: RepairRow?
    /// What it reports to its caller.
    let webhook: WebhookRow?
    /// The head of the trail to which the entries must be added.
    let headBefore: AuditHead

    var writtenVersion: Int64 { payment.version }

    /// - Throws: ``StoreFailure`` with the code `other` if the change contradicts itself.
    init(_ change: PaymentChange, reportingTo callers: Set<CallerID>) throws(StoreFailure) {
        readVersion = change.payment.version
        headBefore = try change.checkedHeadBefore()
        var machine = PaymentMachine(payment: change.payment)
        machine.committed(version: change.payment.version + 1)
        payment = machine.payment
        id = payment.id.text
        document = Data(try PaymentDocument.encode(payment))
        legs = try LegRow.rows(of: payment)
        effects = EffectRow.rows(of: payment)
        waiting = payment.waiting
        events = change.entries.map { EventRow($0) }
        lease = change.lease
        webhook = WebhookRow(of: payment, reportingTo: callers)
        record = change.record
        answer = change.answer
        repair = try change.repair.map { (repair) throws(StoreFailure) in try RepairRow(repair) }
    }

    /// The values of the columns that a change sets, in the order of ``insertSQL`` and ``updateSQL``.
    var columns: StatementArguments {
        [
            payment.caller.name, payment.key.text, payment.state.rawValue, payment.latch.rawValue,
            payment.reference, payment.amount.value, payment.amount.currency.code,
            payment.createdAt.milliseconds, payment.updatedAt.milliseconds, payment.version,
            payment.dueAt?.milliseconds, payment.dueProvider?.name ?? "", payment.auditHead.sequence,
            payment.auditHead.hash.hex, document, payment.version,
        ]
    }

    static let insertSQL = """
        INSERT INTO payments (caller, key, state, latch, reference, amount, currency, created_at, updated_at, version,
            due_at, due_provider, audit_seq, audit_hash, document, booked_version, id, lease_holder, lease_token,
            lease_until)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """

    /// Ends with whether the lease ends.
    static let updateSQL = """
        UPDATE payments SET caller = ?, key = ?, state = ?, latch = ?, reference = ?, amount = ?, currency = ?,
            created_at = ?, updated_at = ?, version = ?, due_at = ?, due_provider = ?, audit_seq = ?, audit_hash = ?,
            document = ?, booked_version = ?, lease_holder = iif(?17, NULL, lease_holder),
            lease_until = iif(?17, NULL, lease_until)
        WHERE id = ?18
        """
}
