/// What the operator decided about comparing.
public struct ComparisonSettings: Sendable, Hashable {
    /// How much time of the provider's a run covers.
    public var window: Span
    /// How long after a change it is at the earliest compared, beyond what the contract demands: time in which what is
    /// in flight comes to rest.
    public var settleDelay: Span
    /// How far before its window the listing is read, because it shows some changes late; the contract's visibility lag
    /// where it is `nil`.
    public var overlap: Span?
    /// Where the chain of windows begins; one window before the first look where it is `nil`.
    public var begin: Timestamp?
    /// Positions that are read, compared and written at a time. Memory is bounded by two such pages.
    public var pageSize: Int
    /// How long after it was compared an unsettled position is asked for again, at the earliest.
    public var askAgainAfter: Span
    /// What is done about differences.
    public var policy: ComparisonPolicy
    /// How long payments that ended are kept after their last change; for ever where it is `nil`. Older windows are not
    /// compared: what was pruned would be taken for lost.
    public var paymentsKeptFor: Span?

    /// The documented defaults.
    public init() {
        window = .hours(1)
        settleDelay = .minutes(5)
        overlap = nil
        begin = nil
        pageSize = 500
        askAgainAfter = .hours(1)
        policy = .standard
        paymentsKeptFor = nil
    }
}
