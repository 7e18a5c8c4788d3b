public import PaymentCore

/// Invariant 13. The audit trail of a payment is one unbroken chain, each recorded decision is made again from the
/// facts beside it, a payment is what its trail says, and nobody approves their own request.
///
/// Every change is checked to continue the chain. Hashing every entry again is dear; at rest that is done for
/// one payment in eight, by its place, and the links of all.
public struct TrailUnbroken: Invariant {
    /// Its number in the protocol.
    public static let number = 13
    /// What holds.
    public static let sentence =
        "the audit chain is unbroken, recorded decisions are made again, a payment is what its trail says, and nobody "
        + "approves their own request"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let id = commit.after.id
        var head = commit.before?.auditHead
        for entry in commit.entries {
            if let head {
                findings.require(
                    entry.sequence == head.sequence + 1 && entry.previous == head.hash, at, id,
                    "entry \(entry.sequence) does not follow entry \(head.sequence)")
            } else {
                findings.require(entry.sequence == 1, at, id, "the trail begins with entry \(entry.sequence)")
            }
            head = AuditHead(sequence: entry.sequence, hash: entry.hash)
            if entry.type == .resolved { approved(entry, id, at) }
            replay(entry, id, at)
        }
        findings.require(head == commit.after.auditHead, at, id, "the payment forgot the head of its trail")
        let changed = commit.before.map {
            $0.latch != commit.after.latch || $0.conclusion != commit.after.conclusion
        }
        if changed ?? true {
            findings.require(!commit.entries.isEmpty, at, id, "a decision was written without an entry")
        }
    }

    /// A decision that a table made keeps its facts, and the table decides the same from them.
    private mutating func replay(_ entry: AuditEntry, _ id: PaymentID, _ at: Timestamp) {
        let decisions = ReplayedDecision.all(of: entry)
        for decision in decisions {
            switch decision {
            case .same: break
            case .other(let recorded, let now):
                findings.require(false, at, id, "\(recorded) was recorded, and \(now) decides from its facts")
            case .unreadable(let row):
                findings.require(false, at, id, "the facts of \(row) cannot be read")
            }
        }
        // What undoes a leg is decided twice: about the leg, and about the request.
        let undoes = [EffectReference.void, .compensation].map(\.description)
        let effect = entry.value("effect") ?? ""
        let expected =
            switch entry.type {
            case .intent: undoes.contains(effect) ? 2 : 1
            case .latch, .concluded: 1
            default: 0
            }
        findings.require(
            decisions.count >= expected, at, id, "what made the entry of type \(entry.type.rawValue) is not in it")
    }

    private mutating func approved(_ entry: AuditEntry, _ id: PaymentID, _ at: Timestamp) {
        guard let asked = entry.value("requested_by"), let approved = entry.value("approved_by") else { return }
        findings.require(asked != approved, at, id, "somebody approved their own request")
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for (index, payment) in evidence.rows.everyPayment().enumerated() {
            let trail = evidence.rows.trail(of: payment.id)
            var account = TrailAccount()
            for entry in trail { account.take(entry) }
            for found in account.contradictions(to: payment) {
                findings.require(false, evidence.now, payment.id, found)
            }
            if index % 8 == 0 {
                do {
                    try AuditHead.verify(trail, of: payment.id, head: payment.auditHead)
                } catch {
                    findings.require(false, evidence.now, payment.id, "the trail is broken: \(error)")
                }
                continue
            }
            let linked = zip(trail, trail.dropFirst()).allSatisfy {
                $1.previous == $0.hash && $1.sequence == $0.sequence + 1
            }
            let last = trail.last.map { AuditHead(sequence: $0.sequence, hash: $0.hash) }
            findings.require(
                linked && trail.first?.sequence == 1 && last == payment.auditHead, evidence.now, payment.id,
                "the trail is not linked")
        }
    }
}
