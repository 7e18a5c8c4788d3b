/// What a provider said of a leg's transaction, in the core's words.
public struct Observation: Sendable, Hashable, Codable {
    /// The status of the transaction.
    public enum Status: String, Sendable, Hashable, Codable, CaseIterable {
        /// The provider does not know the key. Not found is not never.
        case notFound = "not_found"
        /// Not decided yet.
        case pending
        /// An amount is held.
        case authorized
        /// An amount was taken.
        case captured
        /// Refused for a business reason.
        case declined
        /// The hold was released, or the sale reversed.
        case voided
        /// The key was canceled before it was used, and can never be used.
        case tombstoned
        /// The hold ran out.
        case expired
        /// The status could not be had: unreachable, 5xx, 429, an answer that does not parse.
        case unavailable
    }

    /// Whether the observation came with the answer to an attempt or from an inquiry.
    public enum Source: String, Sendable, Hashable, Codable {
        /// The answer to a request that changes something. It may be the replay of an earlier answer.
        case answer
        /// A status inquiry.
        case inquiry
    }

    /// A capture or a refund as the provider lists it.
    public struct Movement: Sendable, Hashable, Codable {
        /// The state of the movement.
        public enum State: String, Sendable, Hashable, Codable {
            /// Not decided yet.
            case pending
            /// Done.
            case succeeded
            /// Refused.
            case declined
        }

        /// Its key.
        public var key: EffectKey
        /// Its amount.
        public var amount: Money
        /// Its state.
        public var state: State
        /// Why it was declined, as a short code.
        public var reason: String?

        /// A movement.
        public init(key: EffectKey, amount: Money, state: State, reason: String? = nil) {
            self.key = key
            self.amount = amount
            self.state = state
            self.reason = reason
        }
    }

    /// The status.
    public var status: Status
    /// When the read began, by our clock. Proofs are judged by the beginning, never by the end (trap 4).
    public var began: Timestamp
    /// Where it came from.
    public var source: Source
    /// The key that the provider reported.
    public var key: EffectKey?
    /// The amount that the provider reported for the hold or the sale.
    public var amount: Money?
    /// Until when the hold lasts.
    public var authorizedUntil: Timestamp?
    /// The captures.
    public var captures: [Movement]
    /// The refunds.
    public var refunds: [Movement]
    /// Its disputes, also those that are over; `nil` for none.
    public var disputes: [Dispute]?
    /// What the payer has to do, while it is pending because of that.
    public var payerAction: PayerAction?
    /// A short code: why declined, or why the status could not be had.
    public var reason: String?
    /// Set by the adapter when what it read cannot be what was asked for (another merchant, another kind).
    public var contradiction: String?

    /// An observation.
    public init(
        _ status: Status, began: Timestamp, source: Source, key: EffectKey? = nil, amount: Money? = nil,
        authorizedUntil: Timestamp? = nil, captures: [Movement] = [], refunds: [Movement] = [],
        disputes: [Dispute]? = nil, reason: String? = nil, contradiction: String? = nil
    ) {
        self.status = status
        self.began = began
        self.source = source
        self.key = key
        self.amount = amount
        self.authorizedUntil = authorizedUntil
        self.captures = captures
        self.refunds = refunds
        self.disputes = disputes
        self.reason = reason
        self.contradiction = contradiction
    }

    /// Whether nothing is decided before the payer acts. Nothing is held or taken, and a cancel ends it.
    public var awaitsPayer: Bool { status == .pending && payerAction != nil }

    /// Whether nobody knows what becomes of it. That its payer takes time is no doubt: the deadline ends it.
    var isInDoubt: Bool {
        [.notFound, .pending, .unavailable].contains(status) && !awaitsPayer || showsPendingMovement
    }

    /// Whether a capture or a refund of it is undecided.
    var showsPendingMovement: Bool { (captures + refunds).contains { $0.state == .pending } }
}
