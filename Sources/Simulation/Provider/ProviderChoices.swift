public import PaymentCore

/// What a simulated provider chooses to do with one request, where the request would be executed at all.
public struct ProviderChoices: Sendable {
    /// It declines for a business reason.
    public var declines: Bool
    /// How long what it does stays undecided.
    public var pendingFor: Span
    /// How a hold or a sale that stays undecided ends.
    public var ending: Ending
    /// What is undecided waits for its payer, who acts then.
    public var asksPayer = false
    /// Its status shows another amount than was asked for.
    public var contradicts: Bool

    /// How what was undecided ends.
    public enum Ending: Sendable, Hashable {
        /// As it was asked for.
        case done
        /// Declined.
        case declined
        /// It was accepted, and its provider lost it: nobody has heard of it, and its key is free.
        case lost
    }

    /// Nothing unless something is said.
    public init(
        declines: Bool = false, pendingFor: Span = .zero, ending: Ending = .done, contradicts: Bool = false
    ) {
        self.declines = declines
        self.pendingFor = pendingFor
        self.ending = ending
        self.contradicts = contradicts
    }

    /// A provider that does what it is asked to.
    public static let none = ProviderChoices()
}

/// What came of a request at a simulated provider.
public struct Execution: Sendable {
    /// What the answer says, if it arrives.
    public let report: AttemptReport
    /// Whether the request changed something; a replay or a refusal does not.
    public let changed: Bool
    /// Which of the choices made a difference, so that the others are not counted as faults.
    public let effective: ProviderChoices

    init(_ report: AttemptReport, changed: Bool = false, effective: ProviderChoices = .none) {
        self.report = report
        self.changed = changed
        self.effective = effective
    }
}

/// What somebody may do at a provider's own console.
public enum OutsideChange: String, Sendable, Hashable, CaseIterable {
    /// Release a hold.
    case void
    /// Take what is held.
    case capture
    /// Give back one minor unit of what was taken.
    case refundPart = "refund_part"
    /// Give back everything that was taken.
    case refundAll = "refund_all"
    /// The card's owner takes everything back.
    case chargeback
}
