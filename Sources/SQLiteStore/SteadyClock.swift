internal import Foundation
internal import PaymentCore
internal import Synchronization

/// A clock that never goes backward within the process, even if the machine's clock is set back: a lease that was seen
/// to end does not run again.
final class SteadyClock: Sendable {
    private let source: @Sendable () -> Timestamp
    private let latest = Atomic<Int64>(.min)

    init(_ source: @escaping @Sendable () -> Timestamp) {
        self.source = source
    }

    /// The source's time, or the latest that was told if that is later.
    func now() -> Timestamp {
        let read = source().milliseconds
        let (_, newest) = latest.max(read, ordering: .sequentiallyConsistent)
        return Timestamp(milliseconds: newest)
    }

    /// The machine's wall clock.
    @Sendable static func wallClock() -> Timestamp {
        Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
    }
}
