/// What a comparison finds of one position.
public enum ComparisonClass: String, Sendable, Hashable, Codable, CaseIterable {
    /// Both sides say the same.
    case matched
    /// Only the provider knows it, and it holds no money: nothing is to be settled.
    case inert
    /// Another store that uses the same account made it: it is no business of ours, and is counted apart.
    case otherStore = "other_store"
    /// Our side is not decided yet, or the change is too young to be judged: not a difference.
    case inFlight = "in_flight"
    /// What is shown cannot be what was asked for: another kind, another merchant, an amount that cannot be read.
    case contradiction
    /// The currencies differ.
    case currencyDiffers = "currency_differs"
    /// What was asked, or what was taken, differs.
    case amountDiffers = "amount_differs"
    /// One side holds or took what the other did not.
    case statusDiffers = "status_differs"
    /// A refund of ours is missing there, or is of another amount.
    case refundDiffers = "refund_differs"
    /// Only our books know it: the provider, asked for the key, does not.
    case oursOnly = "ours_only"
    /// The provider shows it to whoever asks for the key, and its listing does not.
    case hidden
    /// It names a payment that our books do not know: rows were lost, or its caller has yet to come again.
    case orphan
    /// It names a leg of ours that has another transaction.
    case duplicate
    /// It names nobody that we know of, or a payment that was pruned, and is never touched.
    case foreign
    /// It succeeded here; there it was reversed, refunded or charged back by somebody else.
    case lateReversal = "late_reversal"
    /// The money of a run is not proven: a difference between the sides has no name.
    case unproven

    /// Whether it is a difference, and so a matter for a discrepancy.
    public var isDifference: Bool {
        switch self {
        case .matched, .inert, .otherStore, .inFlight: false
        default: true
        }
    }

    /// Whether a later run looks at it again although neither side changed.
    public var isUnsettled: Bool { self == .inFlight || isDifference }

    /// The classes that a policy has a rule for.
    public static let differences: [ComparisonClass] = allCases.filter(\.isDifference)
}
