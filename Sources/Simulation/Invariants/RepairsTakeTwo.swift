internal import MemoryStore
public import PaymentCore

/// Invariant 25. What people do to a payment, one of them proposed with evidence, and another one approved while it was
/// still known as it was.
public struct RepairsTakeTwo: Invariant {
    /// Its number in the protocol.
    public static let number = 25
    /// What holds.
    public static let sentence = "a repair is proposed with evidence, and approved by another person on the same facts"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// A proposal as its entry in the trail tells it, and the payment as it was then.
    private struct Proposal {
        let entry: AuditEntry
        let payment: Payment
    }

    private var proposals: [String: Proposal] = [:]
    private var decided: Set<String> = []

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        for entry in commit.entries {
            guard let id = entry.value("repair") else { continue }
            if entry.type == .resolved {
                approved(entry, id, commit, at)
            } else if entry.value("operation") == "repair proposed" {
                // One that was lost with its row is proposed again.
                proposals[id] = Proposal(entry: entry, payment: commit.before ?? commit.after)
                decided.remove(id)
            }
        }
    }

    /// Judges an order of a comparison: what two people ordered was proposed by one, and approved by another.
    public mutating func compared(_ news: ComparisonNews, at: Timestamp, _ evidence: Evidence) {
        guard case .ordered(let order, _) = news, order.action == .undo,
            let kept = evidence.rows.comparisons.discrepancies[order.discrepancy]?.undoOrder
        else { return }
        let repair = evidence.rows.repair(kept.repair)
        let isByTwo = repair?.decision.map { $0.isApproved && $0.by != repair?.proposedBy } ?? false
        findings.require(
            isByTwo && repair?.action == .undo && repair?.subject == order.discrepancy.text, at, nil,
            "\(order.discrepancy) is to be undone, and no two people said so")
    }

    private mutating func approved(_ entry: AuditEntry, _ id: String, _ commit: Commit, _ at: Timestamp) {
        let payment = commit.after.id
        findings.require(decided.insert(id).inserted, at, payment, "\(id) was carried out twice")
        guard let proposal = proposals[id] else {
            return findings.require(false, at, payment, "\(id) was carried out, and nobody had proposed it")
        }
        let (by, other) = (entry.value("approved_by") ?? "", proposal.entry.value("requested_by") ?? "")
        findings.require(!by.isEmpty && by != other, at, payment, "\(id) was proposed and approved by \(by)")
        findings.require(
            !(entry.value("evidence") ?? "").isEmpty, at, payment, "\(id) was carried out without evidence")
        if entry.value("resolution") == Repair.Action.charged.rawValue {
            let amount = RepairsTakeTwo.asked(entry, commit.after)
            findings.require(
                entry.value("reference") != nil && entry.value("amount") == amount?.description, at, payment,
                "\(id) says that it was charged, without a reference or with another amount than was asked for")
        }
        guard let leg = entry.leg, let now = commit.before else { return }
        let then = proposal.payment
        findings.require(
            RepairsTakeTwo.known(then, leg) == RepairsTakeTwo.known(now, leg), at, payment,
            "\(id) was approved, but something became known of leg \(leg) since it was proposed")
    }

    /// What was asked of the leg, or of its part of the refund, that a repair is about.
    private static func asked(_ entry: AuditEntry, _ payment: Payment) -> Money? {
        guard let leg = entry.leg else { return nil }
        guard let effect = entry.value("effect") else {
            return SucceededMeansAsked.asked(of: payment.legs[leg], payment)
        }
        return payment.refunds.indices.first { EffectReference.refund($0).description == effect }
            .flatMap { payment.refunds[$0].parts.first { $0.leg == leg }?.effect.amount }
    }

    /// What both people must have seen alike.
    private static func known(_ payment: Payment, _ leg: Int) -> [String] {
        let leg = payment.legs[leg]
        return [
            payment.latch.rawValue, "\(String(describing: leg.quarantine?.since))",
            "\(String(describing: leg.knowledge?.status))", "\(leg.capturedAmount)", "\(leg.primary.attempts)",
        ]
    }
}
