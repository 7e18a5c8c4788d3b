public import PaymentCore

/// How far the providers' clocks are from ours, as their answers show it.
///
/// Every answer carries its time in whole seconds (HTTP `Date`). It was made between the moment at which the request
/// left and the moment at which the answer was there. So one answer says between which bounds the offset lies, and
/// several narrow it down.
///
/// A clock is in doubt once several answers in a row lie wholly beyond what the contract allows. It is believed again
/// once as many show that it is right. What relies on a provider's clock (`not_after`, and proofs by it) waits
/// meanwhile.
public struct ProviderClocks: Sendable, Hashable {
    /// One answer, by our clock and by the provider's.
    public struct Answer: Sendable, Hashable {
        /// Before the request left.
        public var sent: Timestamp
        /// When the answer was there.
        public var received: Timestamp
        /// What the provider's clock said, cut to whole seconds.
        public var said: Timestamp

        /// An answer.
        public init(sent: Timestamp, received: Timestamp, said: Timestamp) {
            self.sent = sent
            self.received = received
            self.said = said
        }
    }

    /// What is known of one clock.
    public struct Reading: Sendable, Hashable {
        /// The provider's clock less ours.
        public var offset: Span
        /// The offset is off by so much at the most.
        public var uncertainty: Span
        /// It is further off than the contract allows.
        public var isInDoubt: Bool
    }

    /// Between which milliseconds an offset lies.
    private struct Bounds: Sendable, Hashable {
        var lower: Int64
        var upper: Int64

        var middle: Int64 { lower + (upper - lower) / 2 }
        var width: Int64 { upper - lower }
    }

    private struct Known: Sendable, Hashable {
        /// The newest last.
        var bounds: [Bounds] = []
        /// Answers in a row that show that the clock is wrong, and that it is right.
        var wrong = 0
        var right = 0
        var isInDoubt = false
    }

    /// So many answers in a row change what is believed: one may come from a cache.
    public static let inARow = 3
    /// So many answers are held against each other.
    public static let kept = 8
    /// `Date` has whole seconds, and servers make its text once a second.
    private static let resolution: Int64 = 2_000

    private var known: [ProviderName: Known] = [:]

    /// Nothing is known yet, and nothing in doubt.
    public init() {}

    /// The providers whose clocks are in doubt.
    public var inDoubt: Set<ProviderName> { Set(known.filter(\.value.isInDoubt).keys) }

    /// What is known of a provider's clock; `nil` before its first answer.
    public func reading(of provider: ProviderName) -> Reading? {
        guard let found = known[provider], let newest = found.bounds.last else { return nil }
        var agreed = newest
        for bounds in found.bounds.reversed() {
            let both = Bounds(lower: max(agreed.lower, bounds.lower), upper: min(agreed.upper, bounds.upper))
            // What contradicts the newer answers was before the clock was set.
            guard both.lower <= both.upper else { break }
            agreed = both
        }
        return Reading(
            offset: .milliseconds(agreed.middle), uncertainty: .milliseconds((agreed.width + 1) / 2),
            isInDoubt: found.isInDoubt)
    }

    /// Takes one answer in.
    ///
    /// - Parameter skew: what the provider's contract allows.
    /// - Returns: whether the provider's clock is in doubt from now on, if that has changed; else `nil`.
    @discardableResult
    public mutating func note(_ answer: Answer, of provider: ProviderName, allowed skew: Span) -> Bool? {
        // Our own clock was set meanwhile: nothing can be said.
        guard answer.received >= answer.sent else { return nil }
        let bounds = Bounds(
            lower: (answer.said - answer.received).milliseconds,
            upper: (answer.said - answer.sent).milliseconds + ProviderClocks.resolution - 1)
        var found = known[provider] ?? Known()
        found.bounds = found.bounds.suffix(ProviderClocks.kept - 1) + [bounds]
        let allowed = max(0, skew.milliseconds)
        let isWrong = bounds.lower > allowed || bounds.upper < -allowed
        // An answer that took long says nothing of a clock that is nearly right.
        let isRight = abs(bounds.middle) <= allowed && bounds.width <= 2 * max(allowed, ProviderClocks.resolution)
        (found.wrong, found.right) =
            isWrong ? (found.wrong + 1, 0) : isRight ? (0, found.right + 1) : (found.wrong, found.right)
        let before = found.isInDoubt
        if found.wrong >= ProviderClocks.inARow { found.isInDoubt = true }
        if found.right >= ProviderClocks.inARow { found.isInDoubt = false }
        known[provider] = found
        return found.isInDoubt == before ? nil : found.isInDoubt
    }
}
