/// What one person proposes to do about a leg or a refund that waits for people, or about a discrepancy, and another
/// decides.
///
/// It moves nothing before another person approved it, and then only if the facts are still those that the first one
/// read. Everything about it is in the audit trail of its payment, or in the history of its discrepancy.
public struct Repair: Sendable, Hashable, Codable {
    /// What it is about.
    public enum Target: Sendable, Hashable, Codable {
        /// A leg, by its index.
        case leg(Int)
        /// The part of a refund: the refund's index in the payment's list, and the leg's.
        case refund(Int, leg: Int)
        /// A discrepancy.
        case discrepancy(DiscrepancyID)

        /// The leg's index; `nil` for a discrepancy.
        public var leg: Int? {
            switch self {
            case .leg(let leg), .refund(_, let leg): leg
            case .discrepancy: nil
            }
        }
    }

    /// What is to be done.
    public enum Action: String, Sendable, Hashable, Codable, CaseIterable {
        /// It was charged as asked, or the refund was made.
        case charged
        /// It never was, and never will be.
        case neverCharged = "never_charged"
        /// It was charged or held, and was undone outside of the daemon.
        case undoneOutside = "undone_outside"
        /// Ask about it, and send it again under the same key where the provider does not show it.
        case sendAgain = "send_again"
        /// Give it back, and turn the payment back with it; of a discrepancy, void or give back what the provider has
        /// beyond our books.
        case undo
        /// Ask about it, and decide by what the provider says then and by the contract as it is now.
        case resume
        /// Settle it here and accept whatever the provider keeps; of a discrepancy, close it.
        case writeOff = "write_off"
    }

    /// What shows that it is so.
    public struct Evidence: Sendable, Hashable, Codable {
        /// In words: who at the provider said what, and where it is kept.
        public var text: String
        /// The SHA-256 digest of a file, such as a letter of the provider.
        public var file: Digest?
        /// The provider's reference of the transaction or of what undid it.
        public var reference: String?
        /// The amount by the provider's word.
        public var amount: Money?

        /// Evidence.
        public init(text: String, file: Digest? = nil, reference: String? = nil, amount: Money? = nil) {
            self.text = text
            self.file = file
            self.reference = reference
            self.amount = amount
        }
    }

    /// What somebody decided about it.
    public struct Decision: Sendable, Hashable, Codable {
        /// Approved, or rejected.
        public var isApproved: Bool
        /// Who.
        public var by: String
        /// When, by the store's clock.
        public var at: Timestamp
        /// Why.
        public var reason: String

        /// A decision.
        public init(isApproved: Bool, by: String, at: Timestamp, reason: String) {
            self.isApproved = isApproved
            self.by = by
            self.at = at
            self.reason = reason
        }
    }

    /// Where it stands.
    public enum State: String, Sendable, Hashable, Codable, CaseIterable {
        /// Waits for another person.
        case proposed
        /// Carried out; an `undo` of a discrepancy is ordered, and its history says what became of it.
        case approved
        /// Refused by a person. Final.
        case rejected
        /// Nobody decided in time. Final.
        case expired
    }

    /// The identifier: `rep_` and 40 hexadecimal digits, derived from the payment and the place in its trail, or from
    /// the discrepancy, when it was opened, and its version.
    public let id: String
    /// The payment; `nil` where it is about a discrepancy.
    public let payment: PaymentID?
    /// What it is about.
    public let target: Target
    /// What is to be done.
    public let action: Action
    /// What shows that it is so.
    public let evidence: Evidence
    /// Whether it says something else than the provider's own answers, and the proposer said that this is known.
    public let isAgainstProvider: Bool
    /// The version of the payment or the discrepancy that the proposer read.
    public let version: Int64
    /// A digest of what was known of the target then.
    public let facts: Digest
    /// Who proposed it.
    public let proposedBy: String
    /// When, by the store's clock.
    public let proposedAt: Timestamp
    /// Nobody approves it after this moment.
    public let expiresAt: Timestamp
    /// What somebody decided; `nil` while it waits.
    public internal(set) var decision: Decision?

    /// The identifier of the payment or the discrepancy that it is about.
    public var subject: String {
        if case .discrepancy(let id) = target { return id.text }
        return payment?.text ?? ""
    }

    /// Where it stands at a moment.
    public func state(at now: Timestamp) -> State {
        if let decision { return decision.isApproved ? .approved : .rejected }
        return now >= expiresAt ? .expired : .proposed
    }

    /// The same, decided.
    public func decided(_ decision: Decision) -> Repair {
        var decided = self
        decided.decision = decision
        return decided
    }
}

/// What one person asks to be proposed.
public struct RepairRequest: Sendable, Hashable {
    /// The payment; `nil` where it is about a discrepancy.
    public var payment: PaymentID?
    /// What it is about.
    public var target: Repair.Target
    /// What is to be done.
    public var action: Repair.Action
    /// What shows that it is so.
    public var evidence: Repair.Evidence
    /// Whether the proposer knows that the provider's own answers say something else.
    public var isAgainstProvider: Bool
    /// The version of the payment or the discrepancy that the proposer read.
    public var version: Int64
    /// Who proposes it.
    public var by: String
    /// How long another person may approve it.
    public var lasts: Span

    /// A request.
    public init(
        payment: PaymentID?, target: Repair.Target, action: Repair.Action, evidence: Repair.Evidence,
        isAgainstProvider: Bool, version: Int64, by: String, lasts: Span
    ) {
        self.payment = payment
        self.target = target
        self.action = action
        self.evidence = evidence
        self.isAgainstProvider = isAgainstProvider
        self.version = version
        self.by = by
        self.lasts = lasts
    }
}

extension Repair {
    /// Proposes it for the payment as it is: `facts` is what is known of the target.
    init(_ request: RepairRequest, of payment: Payment, facts: Digest, at now: Timestamp) {
        self.init(
            request, place: [payment.id.text, String(payment.auditHead.sequence)], payment: payment.id, facts: facts,
            at: now)
    }

    /// Proposes it for a discrepancy as it is.
    init(_ request: RepairRequest, of discrepancy: Discrepancy, at now: Timestamp) {
        self.init(
            request,
            place: [
                discrepancy.id.text, String(discrepancy.openedAt.milliseconds), String(discrepancy.version),
            ], payment: nil, facts: discrepancy.repairFacts, at: now)
    }

    private init(_ request: RepairRequest, place: [String], payment: PaymentID?, facts: Digest, at now: Timestamp) {
        id = "rep_" + Digest.hex(Digest(of: ["reconciled.repair.1"] + place).bytes.prefix(20))
        self.payment = payment
        target = request.target
        action = request.action
        evidence = request.evidence
        isAgainstProvider = request.isAgainstProvider
        version = request.version
        self.facts = facts
        proposedBy = request.by
        proposedAt = now
        expiresAt = now + request.lasts
        decision = nil
    }

    /// Whether a text has the form of an identifier.
    public static func isID(_ text: String) -> Bool { derivedForm(of: text, prefix: "rep_") }
}
