internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// A change as rows, made by the caller's own task, so that a writer does nothing but write.
struct PreparedChange: Sendable {
    let id: String
    /// The version that was read.
    let readVersion: Int64
    let payment: Payment
    let document: String
    let legs: [LegRow]
    let effects: [EffectRow]
    let waiting: [WaitingOperation]
    let events: [EventRow]
    let lease: PaymentChange.LeaseRequirement
    let record: IdempotencyRecord?
    /// The answer that is kept with it.
    let answer: PreparedAnswer?
    /// The repair that is proposed or decided by it.
    let repair: RepairRow?
    /// What it reports to its caller.
    let webhook: WebhookRow?
    /// The head of the trail to which the entries must be added.
    let headBefore: AuditHead

    /// - Throws: ``StoreFailure`` with the code `other` if the change contradicts itself.
    init(_ change: PaymentChange, reportingTo callers: Set<CallerID>) throws(StoreFailure) {
        readVersion = change.payment.version
        headBefore = try change.checkedHeadBefore()
        var machine = PaymentMachine(payment: change.payment)
        machine.committed(version: change.payment.version + 1)
        payment = machine.payment
        id = payment.id.text
        document = String(decoding: try PaymentDocument.encode(payment), as: UTF8.self)
        answer = change.answer.map { PreparedAnswer($0, change.payment.caller, change.payment.key) }
        repair = try change.repair.map { (repair) throws(StoreFailure) in try RepairRow(repair) }
        legs = try LegRow.rows(of: payment)
        effects = EffectRow.rows(of: payment)
        waiting = payment.waiting
        events = change.entries.map { EventRow($0) }
        lease = change.lease
        webhook = WebhookRow(of: payment, reportingTo: callers)
        record = change.record
        if case .creating = lease { try PaymentChange.requireContinuation(from: headBefore, of: .empty(payment.id)) }
    }

    /// Whether the payment is new.
    var isNew: Bool {
        if case .creating = lease { return true }
        return false
    }

    /// The lease under which it is made; nil where the version alone decides.
    var token: Int64? {
        switch lease {
        case .holding(let token), .releasing(let token): token.number
        case .creating, .none: nil
        }
    }

    /// Whether the lease ends with it.
    var ends: Bool {
        if case .releasing = lease { return true }
        return false
    }

    /// What became of it, once it is durable.
    var result: CommitResult { .committed(version: payment.version, lease: isNew ? LeaseToken(1) : nil) }

    /// Whether it leaves something to do at once to whoever is there first.
    var leavesWork: Bool {
        switch lease {
        case .creating, .holding: return false
        case .releasing, .none: break
        }
        guard let due = payment.dueAt else { return false }
        return due <= payment.updatedAt
    }

    /// Where its key's row lies.
    var keyPlace: String? { record.map { PaymentID(caller: $0.caller, key: $0.key).text } }
}
