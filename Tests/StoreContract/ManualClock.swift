public import PaymentCore
internal import Synchronization

/// A clock that moves only when it is told to.
public final class ManualClock: Sendable {
    /// Where every manual clock begins: 2026-03-01T09:00:00Z.
    public static let start = Timestamp(milliseconds: 1_772_355_600_000)

    private let milliseconds = Atomic<Int64>(ManualClock.start.milliseconds)

    /// A clock at ``start``.
    public init() {}

    /// The time.
    public func now() -> Timestamp {
        Timestamp(milliseconds: milliseconds.load(ordering: .sequentiallyConsistent))
    }

    /// Moves on, or back.
    public func advance(by span: Span) {
        milliseconds.wrappingAdd(span.milliseconds, ordering: .sequentiallyConsistent)
    }
}
