public import PaymentCore
internal import Synchronization

/// The providers' clocks, for everybody who hears of an answer and for everybody who relies on one: a lock around
/// ``ProviderClocks``.
public final class ProviderClockWatch: Sendable {
    private let clocks = Mutex(ProviderClocks())

    /// Nothing is known yet.
    public init() {}

    /// The providers whose clocks are in doubt: for `MachineContext.clocksInDoubt`.
    public var inDoubt: Set<ProviderName> { clocks.withLock { $0.inDoubt } }

    /// What is known of a provider's clock; `nil` before its first answer.
    public func reading(of provider: ProviderName) -> ProviderClocks.Reading? {
        clocks.withLock { $0.reading(of: provider) }
    }

    /// Takes one answer in; says whether the clock is in doubt from now on, if that has changed.
    @discardableResult
    public func note(_ answer: ProviderClocks.Answer, of provider: ProviderName, allowed skew: Span) -> Bool? {
        clocks.withLock { $0.note(answer, of: provider, allowed: skew) }
    }
}
