/// What a provider said of one effect, kept with it where the status cannot be asked.
public struct ProviderWord: Sendable, Hashable, Codable {
    /// What became of it. What is pending may end either way.
    public var state: Observation.Movement.State
    /// A short code: why it was declined.
    public var reason: String?
    /// When the provider said so, by its own word, or when the request began that it answered. An older word never
    /// takes the place of a newer one.
    public var at: Timestamp
    /// Whether the provider told it by itself, and its moment is its own. Absent otherwise.
    public internal(set) var isTold: Bool?

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
    /// The key that the provider names: the effect's own, or that of the authorization or sale that it belongs to.
    public var key: EffectKey
    /// What kind of effect it is.
    public var kind: EffectKind
    /// The provider's own reference of the effect; `nil` where it does not say it.
    public var reference: String?
    /// The amount; `nil` where the provider does not say it.
    public var amount: Money?
    /// What became of it, and when the provider says that it did.
    public var word: ProviderWord
    /// Whether the moment of the word is signed. Otherwise whoever has an old notification may send it with another.
    public var isDateSigned: Bool

    /// News.
    public init(
        key: EffectKey, kind: EffectKind, reference: String? = nil, amount: Money?, word: ProviderWord,
        isDateSigned: Bool = true
    ) {
        self.key = key
        self.kind = kind
        self.reference = reference
        self.amount = amount
        self.word = word
        self.isDateSigned = isDateSigned
    }
}
