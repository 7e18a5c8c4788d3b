public import PaymentCore

/// What a probe may do, and how long it may wait.
public struct ProbeSettings: Sendable {
    /// Names the run. Every key of the run is derived from it, so that what it did is found again by its name alone.
    public var run: String
    /// The largest amount that one transaction may take, of at least 4 minor units.
    public var amount: Money
    /// What approves.
    public var instrument: Instrument
    /// What declines; `nil`: declines are not looked at.
    public var declinedInstrument: Instrument?
    /// What the provider does not know; `nil`: nothing is sent with it.
    public var unknownInstrument: Instrument?
    /// What is looked at.
    public var parts: Set<ProbePart>
    /// How long something may take to show.
    public var patience: Span
    /// The time between two reads of the same thing.
    public var readEvery: Span
    /// So many transactions are watched until reads show them.
    public var rounds: Int
    /// So many reads in a row must show a change before it counts as visible.
    public var agreeingReads: Int
    /// How long keys, statuses and tombstones are kept waiting before they are tried again; zero for not at all.
    public var wait: Span
    /// The highest rate that is tried, in requests per second.
    public var highestRate: Int

    /// The defaults, for a run of this name.
    public init(run: String, amount: Money, instrument: Instrument) {
        self.run = run
        self.amount = amount
        self.instrument = instrument
        declinedInstrument = nil
        unknownInstrument = nil
        parts = Set(ProbePart.allCases)
        patience = .seconds(20)
        readEvery = .milliseconds(200)
        rounds = 3
        agreeingReads = 5
        wait = .zero
        highestRate = 20
    }
}

/// What can be looked at by itself.
public enum ProbePart: String, Sendable, Hashable, CaseIterable {
    /// Inquiries, the listing, and how late both show what happened.
    case reads
    /// What happens to a second request under the same key.
    case keys
    /// Cancels of what is there, and of what is not.
    case cancels
    /// Whether a request that names a moment is executed after it.
    case notAfter = "not_after"
    /// How refunds are shown.
    case refunds
    /// Whether a decline is bound to its key.
    case declines
    /// How many requests are answered in a second.
    case rate
    /// What an answer with an error leaves behind.
    case errors
    /// How far the provider's clock is from ours.
    case clock
}
