public import PaymentCore

/// A fault that struck.
public struct StruckFault: Sendable, Hashable {
    /// Its kind.
    public let kind: FaultKind
    /// Its identity: a plan that suppresses it runs as if it had not struck.
    public let id: UInt64
}

/// What came of a run.
public struct RunResult: Sendable {
    /// The hash of everything that happened. The same plan gives the same.
    public let hash: UInt64
    /// Everything that happened, if it was asked for.
    public let happenings: [Happening]
    /// What was wrong.
    public let violations: [Violation]
    /// The faults that struck, in order.
    public let faultsStruck: [StruckFault]
    /// The situations that came about.
    public let probesHit: [Situation]
    /// Steps taken.
    public let events: Int
    /// How much virtual time went by.
    public let simulatedTime: Span
    /// Payments that were asked for.
    public let payments: Int
    /// What an engine did that none may do, in words; the run ended with it.
    public let misconduct: String?
    /// What was not at rest when the run had to end, in words; nil where everything came to rest before.
    public let unrest: String?
}
