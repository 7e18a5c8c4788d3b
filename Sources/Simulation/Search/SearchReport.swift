internal import PaymentCore

/// What a search found.
public struct SearchReport: Sendable {
    /// The verdict.
    public enum Verdict: Sendable {
        /// No invariant can be broken, and every payment comes to its end. So many steps were taken twice on rows that
        /// were held to be equal, and led to the same.
        case safe(audited: Int)
        /// An invariant is broken by these steps; there is no shorter way.
        case violated(SearchFinding, [String])
        /// No invariant is broken before it, but from here a payment may never end.
        case stuck(String, [String])
        /// The bound on states was reached before the end.
        case unfinished
        /// Rows that were held to be equal are not: the search itself is wrong.
        case unsound(String)
    }

    /// How many states were in which condition.
    public struct Ends: Sendable, Hashable {
        /// Not at an end.
        public var open = 0
        /// Succeeded.
        public var succeeded = 0
        /// Canceled or failed.
        public var undone = 0
        /// Waiting for people.
        public var quarantined = 0

        mutating func count(_ traits: LocalTraits) {
            if traits.isQuarantined {
                quarantined += 1
            } else if traits.told == 1 {
                succeeded += 1
            } else if traits.told == 2 {
                undone += 1
            } else {
                open += 1
            }
        }
    }

    /// The scenario's name.
    public let scenario: String
    /// The planted change's name.
    public let plant: String
    /// States met.
    public let states: Int
    /// Transitions taken.
    public let transitions: Int
    /// Different rows met; each step on one is a call of the shipped machine.
    public let rows: Int
    /// Steps from the beginning to the farthest state.
    public let depth: Int
    /// States by condition.
    public let ends: Ends
    /// The verdict.
    public let verdict: Verdict

    /// Whether the search went through everything and found nothing.
    public var isSafe: Bool {
        if case .safe = verdict { return true }
        return false
    }
}
