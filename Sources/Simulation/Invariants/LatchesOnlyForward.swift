public import PaymentCore

/// Invariant 12. A latch moves from none to forward to compensate, or from none to back, and never otherwise;
/// one that was acknowledged survives every failover.
public struct LatchesOnlyForward: Invariant {
    /// Its number in the protocol.
    public static let number = 12
    /// What holds.
    public static let sentence = "no latch moves backward"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// Latches that are kept by every store that must keep them.
    private var acknowledged: [PaymentID: Latch] = [:]

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let id = commit.after.id
        // What undoes a transaction that no payment knows is turned back from its first version on.
        var latch = commit.before?.latch ?? (commit.after.isUndoing ? .back : .none)
        for entry in commit.entries where entry.type == .latch {
            guard let next = entry.value("latch").flatMap(Latch.init(rawValue:)) else { continue }
            findings.require(latch.permits(next), at, id, "the latch moved from \(latch) to \(next)")
            latch = next
        }
        findings.require(
            latch == commit.after.latch, at, id,
            "the latch moved from \(latch) to \(commit.after.latch) without an entry")
        if let known = acknowledged[id] {
            findings.require(
                commit.after.latch == known || known.permits(commit.after.latch), at, id,
                "the latch was acknowledged as \(known), and now is \(commit.after.latch)")
        }
        if commit.isConfirmed, commit.after.latch != .none, commit.after.latchAcknowledged {
            acknowledged[id] = commit.after.latch
        }
    }
}
