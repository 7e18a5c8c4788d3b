/// What is remembered of one transaction of one provider: what each side said when they were compared last.
public struct ComparedPosition: Sendable, Hashable, Codable {
    /// The provider.
    public let provider: ProviderName
    /// The transaction's key.
    public let key: EffectKey
    /// What the provider showed last; `nil` if it showed nothing.
    public var theirs: ListedPosition?
    /// What our books said; `nil` if they did not know the key.
    public var ours: BookedPosition?
    /// The latest change that the listing itself showed, by the provider's clock; `nil` if it never showed it.
    public var listedAt: Timestamp?
    /// What was found.
    public var finding: ComparisonClass
    /// The row of the table that found it.
    public var row: String
    /// Whether a discrepancy, open or closed by a person, accounts for what differs. It does so too while the
    /// position is in flight again, so that no difference is explained twice.
    public var isNamed: Bool
    /// When it was compared last, by the store's clock.
    public var comparedAt: Timestamp
    /// The run that compared it last.
    public var run: ComparisonRunID

    /// A position.
    public init(
        provider: ProviderName, key: EffectKey, theirs: ListedPosition?, ours: BookedPosition?, listedAt: Timestamp?,
        finding: ComparisonClass, row: String, isNamed: Bool, comparedAt: Timestamp, run: ComparisonRunID
    ) {
        self.provider = provider
        self.key = key
        self.theirs = theirs
        self.ours = ours
        self.listedAt = listedAt
        self.finding = finding
        self.row = row
        self.isNamed = isNamed
        self.comparedAt = comparedAt
        self.run = run
    }

    /// Whether both sides agreed, and nothing of it is named.
    public var isAgreed: Bool { finding == .matched && !isNamed }

    /// Whether a later run looks at it again although neither side changed: what differs, and what is in flight.
    public var isUnsettled: Bool { finding.isUnsettled || isNamed }
}
