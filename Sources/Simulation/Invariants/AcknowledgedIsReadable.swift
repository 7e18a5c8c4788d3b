public import PaymentCore

/// Invariant 3. What a caller was told to be taken is there, whatever fails over.
///
/// On an asynchronous standby rows may be lost; there the caller's own repeats bring a payment back, so it is
/// there at rest. What was taken of a later operation is in the rows when its caller is told, or had ended before.
public struct AcknowledgedIsReadable: Invariant {
    /// Its number in the protocol.
    public static let number = 3
    /// What holds.
    public static let sentence = "every acknowledged operation is readable, a create also after any failover"
    /// What did not.
    public private(set) var findings = Findings(number)

    private var durable: Set<PaymentID> = []
    private var known: Set<PaymentID> = []
    /// In the order of their acknowledgement.
    private var acknowledged: [PaymentID] = []

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        if commit.before == nil { durable.insert(commit.after.id) }
    }

    /// Judges an answer.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {
        guard case .create = operation.kind else { return judge(operation, answer, at, evidence) }
        guard answer.isTaken, known.insert(operation.payment).inserted else { return }
        acknowledged.append(operation.payment)
        findings.require(
            durable.contains(operation.payment), at, operation.payment,
            "a create was acknowledged before it was durable")
    }

    /// An operation that was taken is in the row, unless the payment ended by itself without a charge.
    private mutating func judge(
        _ operation: CallerOperation, _ answer: CallerAnswer, _ at: Timestamp, _ evidence: Evidence
    ) {
        guard answer.isTaken, evidence.keepsAcknowledgedRows,
            let payment = evidence.rows.payment(operation.payment)
        else { return }
        let hasEnded = payment.conclusion.map { $0.state != .succeeded } ?? false
        let isThere: Bool =
            switch operation.kind {
            case .create: true
            // One that is turned back already needs no more.
            case .cancel: payment.cancel != nil || hasEnded || payment.latch == .back || payment.latch == .compensate
            case .capture: payment.capture?.key == operation.key || hasEnded
            case .refund: payment.refunds.contains { $0.key == operation.key }
            }
        findings.require(isThere, at, operation.payment, "an operation was acknowledged before it was durable")
    }

    /// Judges a change of the active site.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        guard evidence.keepsAcknowledgedRows else { return }
        requireAll(evidence, "is gone after the failover to site \(site)")
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) { requireAll(evidence, "is gone at rest") }

    private mutating func requireAll(_ evidence: Evidence, _ words: String) {
        for payment in acknowledged {
            findings.require(
                evidence.rows.payment(payment) != nil, evidence.now, payment,
                "an acknowledged create \(words)")
        }
    }
}

extension CallerAnswer {
    /// Whether it says that the operation was taken.
    var isTaken: Bool {
        switch self {
        case .settled, .accepted: true
        case .refused, .keyReused, .unavailable: false
        }
    }
}
