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
            findings.require(
                entry.value("reference") != nil && entry.value("amount") != nil, at, payment,
                "\(id) says that it was charged, without a reference and an amount")
        }
        guard let leg = entry.leg, let now = commit.before else { return }
        let then = proposal.payment
        findings.require(
            RepairsTakeTwo.known(then, leg) == RepairsTakeTwo.known(now, leg), at, payment,
            "\(id) was approved, but something became known of leg \(leg) since it was proposed")
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
