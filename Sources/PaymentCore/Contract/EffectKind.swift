/// One kind of change at a provider.
public enum EffectKind: String, Sendable, Hashable, Codable, CaseIterable {
    /// Hold an amount.
    case authorize
    /// Take an amount in one step.
    case sale
    /// Take what is held.
    case capture
    /// Release a hold, or make sure that a key that is not there can never be used (a tombstone).
    case void
    /// Give back what was taken.
    case refund
}
