/// How long to wait before each further try. Past the last entry it repeats that one for ever: nothing gives up.
public struct DelaySchedule: Sendable, Hashable {
    /// The delays, in order.
    public let delays: [Span]

    /// A schedule must have an entry, none may be negative, and none shorter than the one before it.
    public enum Failure: Error, Sendable, Hashable {
        /// No entry.
        case empty
        /// An entry is zero or negative.
        case notPositive
        /// An entry is shorter than the one before it.
        case notAscending
    }

    /// Checks the entries.
    public init(_ delays: [Span]) throws(Failure) {
        guard !delays.isEmpty else { throw .empty }
        guard delays.allSatisfy({ $0 > .zero }) else { throw .notPositive }
        guard zip(delays, delays.dropFirst()).allSatisfy({ $0 <= $1 }) else { throw .notAscending }
        self.delays = delays
    }

    private init(checked delays: [Span]) { self.delays = delays }

    /// For status inquiries: 2 s, 10 s, 30 s, 2 min, 10 min, 1 h, 6 h, then daily with an alert.
    public static let inquiry = DelaySchedule(checked: [
        .seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10), .hours(1), .hours(6), .days(1),
    ])

    /// For requests that provably had no effect: 500 ms, 2 s, 10 s, 30 s, 2 min, 10 min, then hourly.
    public static let resend = DelaySchedule(checked: [
        .milliseconds(500), .seconds(2), .seconds(10), .seconds(30), .minutes(2), .minutes(10), .hours(1),
    ])

    /// The delay before a further try, lengthened by up to a tenth.
    ///
    /// - Parameters:
    ///   - index: the number of the try, from 0.
    ///   - jitter: 0 to 999, drawn by whoever executes the actions; it spreads tries that would coincide.
    public func delay(_ index: Int, jitter: Int) -> Span {
        let base = delays[min(max(index, 0), delays.count - 1)]
        let drawn = Int64(min(max(jitter, 0), 999))
        return base
            + Span(
                milliseconds: base.milliseconds / 10_000 * drawn + base.milliseconds % 10_000 * drawn / 10_000)
    }

    /// Whether try number `index` is on the last, repeating entry: a person should know.
    public func isLast(_ index: Int) -> Bool { index >= delays.count - 1 }
}
