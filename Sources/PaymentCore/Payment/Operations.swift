/// A caller's cancel.
public struct CancelRequest: Sendable, Hashable, Codable {
    /// The caller's key of the operation.
    public let key: IdempotencyKey
    /// The caller's words.
    public let reason: String?
    /// When it was asked.
    public let at: Timestamp

    /// A cancel.
    public init(key: IdempotencyKey, reason: String? = nil, at: Timestamp) {
        self.key = key
        self.reason = reason
        self.at = at
    }
}

/// A caller's capture of a manual payment.
public struct CaptureRequest: Sendable, Hashable, Codable {
    /// The caller's key of the operation.
    public let key: IdempotencyKey
    /// The amount for each leg, in the order of the legs; what is not captured is released.
    public let amounts: [Money]
    /// When it was asked, or found.
    public let at: Timestamp
    /// Whether its row was lost, and it was found at the providers: the key is one of ours until its caller asks again.
    /// `nil` for one that was asked for here.
    public internal(set) var isFound: Bool? = nil

    /// A request whose row was lost, as the providers show it. Its caller's key cannot be told from what they show; the
    /// transaction's stands for it. `nil` where they do not show how much was taken of a leg.
    static func found(_ amounts: [Money], of transaction: EffectKey, at now: Timestamp) -> CaptureRequest? {
        guard !amounts.contains(where: \.isZero) else { return nil }
        do {
            let key = try IdempotencyKey("found/\(transaction.text)")
            return CaptureRequest(key: key, amounts: amounts, at: now, isFound: true)
        } catch {
            return nil  // Not reached: keys of ours are short.
        }
    }
}

/// The state of a refund that was asked for.
public enum RefundState: String, Sendable, Hashable, Codable {
    /// Settling.
    case processing
    /// Given back. Final.
    case succeeded
    /// Not given back. Final.
    case failed
    /// People decide.
    case quarantined

    /// Whether it never changes again.
    public var isFinal: Bool { self == .succeeded || self == .failed }
}

/// A refund that was asked for, over one leg or several.
public struct Refund: Sendable, Hashable, Codable {
    /// The refund of one leg.
    public struct Part: Sendable, Hashable, Codable {
        /// The leg's index.
        public let leg: Int
        /// The effect.
        public internal(set) var effect: Effect
        /// Its state.
        public internal(set) var state: RefundState
        /// Why it failed, as a short code.
        public internal(set) var reason: String?
    }

    /// The caller's key of the operation.
    public let key: IdempotencyKey
    /// The caller's words.
    public let reason: String?
    /// When it was asked.
    public let createdAt: Timestamp
    /// The legs' parts.
    public internal(set) var parts: [Part]

    /// The identifier: `ref_` and 40 hexadecimal digits, derived from the payment and the operation's key.
    public func id(of payment: Payment) -> String {
        "ref_" + Digest.hex(Digest(of: ["reconciled.refund.1", payment.id.text, key.text]).bytes.prefix(20))
    }

    /// The state over all parts.
    public var state: RefundState {
        if parts.contains(where: { $0.state == .quarantined }) { return .quarantined }
        if parts.contains(where: { $0.state == .processing }) { return .processing }
        return parts.contains { $0.state == .failed } ? .failed : .succeeded
    }
}

/// Why an operation cannot be taken.
public enum OperationRefusal: Error, Sendable, Hashable {
    /// The payment moved past the point where this could be done (409, too late).
    case tooLate(state: PaymentState)
    /// The payment is not in a state that allows it (409, state conflict).
    case wrongState(PaymentState, allowed: String)
    /// Rows were lost, and the payment is read at its providers before it is known what it permits (503, asked again).
    /// Reads count from that moment.
    case beingConfirmed(from: Timestamp)
    /// Its payer disputes the charge of a leg: a refund beside it may pay twice (409, disputed).
    case disputed(leg: Int, dispute: String)
    /// A field of the request is wrong (422).
    case invalid(field: String, detail: String)
}
