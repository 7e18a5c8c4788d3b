internal import MemoryStore
public import PaymentCore

/// Invariant 26. What is given back beside a dispute that is lost is paid twice.
public struct NothingBesideDisputes: Invariant {
    /// Its number in the protocol.
    public static let number = 26
    /// What holds.
    public static let sentence = "nothing is given back beside a dispute that is known to be open"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        for intent in commit.newIntents where commit.after.legs.indices.contains(intent.leg) {
            let isRefund: Bool =
                switch intent.effect {
                case .compensation, .refund: true
                case .primary, .capture, .void: false
                }
            guard isRefund else { continue }
            let open = commit.after.legs[intent.leg].openDisputes.map(\.id).joined(separator: ", ")
            findings.require(
                open.isEmpty, at, commit.after.id,
                "\(intent.effect) of leg \(intent.leg) is to be sent while it is disputed: \(open)")
        }
    }

    /// Judges the end: whoever reads the payment, or compares both sides, learns how a dispute stands. One that ended
    /// and is called open would hold up refunds for ever.
    public mutating func atRest(_ evidence: Evidence) {
        for payment in evidence.rows.everyPayment() {
            for leg in payment.legs where !leg.openDisputes.isEmpty {
                guard let provider = evidence.provider(leg.provider),
                    NothingBesideDisputes.isTold(leg, provider, evidence),
                    let transaction = provider.transaction(leg.primary.key, at: evidence.now)
                else { continue }
                let over = leg.openDisputes.filter { dispute in
                    transaction.disputes.contains { $0.id == dispute.id && $0.state != .open }
                }
                findings.require(
                    over.isEmpty, evidence.now, payment.id,
                    "leg \(leg.index): \(over.map(\.id).joined(separator: ", ")) is over, and is called open")
            }
        }
    }

    /// Whether a comparison looked at the provider's listing since the dispute was decided, and whose it is can be
    /// told.
    private static func isTold(_ leg: Leg, _ provider: SimulatedProvider, _ evidence: Evidence) -> Bool {
        guard provider.contract.listing, provider.hiddenUntil[leg.primary.key] == nil,
            provider.transactions(under: leg.primary.key, at: evidence.now).count == 1,
            let head = evidence.rows.comparisons.head(of: provider.name), head.state == .completed,
            let changed = provider.transaction(leg.primary.key, at: evidence.now)?.changedAt
        else { return false }
        return head.horizon > changed + provider.contract.clockSkew
    }
}
