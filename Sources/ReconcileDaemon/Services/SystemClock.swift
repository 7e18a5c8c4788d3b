import Foundation
import PaymentCore
import Reconciler

/// The machine's clock, kept from going backward within the process: a step back would make things due twice.
final class SystemClock: WallClock {
    private let start = ContinuousClock.now
    private let startedAt = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))

    func now() -> Timestamp {
        // Wall time at the start, carried on by the monotonic clock; corrections of the wall clock are small against
        // the skew that contracts allow for, and a process does not live for ever.
        startedAt + (ContinuousClock.now - start).span
    }

    func sleep(until moment: Timestamp) async throws {
        let wait = moment - now()
        guard wait > .zero else { return try Task.checkCancellation() }
        try await Task.sleep(for: wait.duration, tolerance: .zero)
    }
}

/// The spread of delays, from the system's generator.
struct SystemJitter: JitterSource {
    func next() -> Int { Int.random(in: 0...999) }
}

extension Duration {
    fileprivate var span: Span {
        let (seconds, attoseconds) = components
        return .milliseconds(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
