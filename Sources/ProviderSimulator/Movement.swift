/// What happened to money.
public enum MovementKind: String, Codable, Sendable, Hashable, CaseIterable {
    /// An amount was reserved.
    case hold
    /// An amount was taken.
    case charge
    /// What a capture left of a hold was given free.
    case release
    /// A hold was undone by a void.
    case void
    /// A hold ran out.
    case expiry
    /// An amount that was taken was given back by a refund.
    case refund
    /// A refund that was made failed later: the amount came back.
    case refundFailure = "refund_failure"
    /// A completed sale was undone by a void: the amount was given back.
    case reversal
}

/// One movement of money in the ledger.
///
/// Movements are only ever added.
public struct Movement: Codable, Sendable, Hashable {
    /// What happened.
    public let kind: MovementKind
    /// How much.
    public let amount: Amount
    /// When, in milliseconds since 1970, by the provider's clock.
    public let at: Int64
    /// The capture's or refund's key, where there is one.
    public let entryKey: String?
    /// Which record under the key this belongs to.
    ///
    /// More than one appears when the provider forgot the key.
    public internal(set) var incarnation: Int64

    init(_ kind: MovementKind, _ amount: Amount, at: Int64, entryKey: String? = nil) {
        self.kind = kind
        self.amount = amount
        self.at = at
        self.entryKey = entryKey
        self.incarnation = 0
    }

    private enum CodingKeys: String, CodingKey {
        case kind, amount, at, incarnation
        case entryKey = "entry_key"
    }
}
