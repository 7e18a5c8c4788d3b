/// What a provider said of one effect, kept with it where the status cannot be asked.
public struct ProviderWord: Sendable, Hashable, Codable {
    /// What became of it. What is pending may end either way.
    public var state: Observation.Movement.State
    /// A short code: why it was declined.
    public var reason: String?
    /// When the provider said so, by its own word, or when the request began that it answered. An older word never
    /// takes the place of a newer one.
    public var at: Timestamp

    /// A word.
    public init(_ state: Observation.Movement.State, reason: String? = nil, at: Timestamp) {
        self.state = state
        self.reason = reason
        self.at = at
    }
}

/// A provider's own news of one effect that it was not asked about: a notification that its adapter read and that its
/// contract counts as evidence. It says what became of the effect; where none comes, that says nothing.
public struct EffectNews: Sendable, Hashable {
    /// The key of the effect.
    public var key: EffectKey
    /// The amount; `nil` where the provider does not say it.
    public var amount: Money?
    /// What became of it, and when the provider says that it did.
    public var word: ProviderWord

    /// News.
    public init(key: EffectKey, amount: Money?, word: ProviderWord) {
        self.key = key
        self.amount = amount
        self.word = word
    }
}
