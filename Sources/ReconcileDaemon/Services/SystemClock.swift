import Foundation
import PaymentCore
import Reconciler
import Synchronization

/// The machine's wall clock, except that it never goes backward within the process: a step back would make things due
/// twice and reads look older than they are. It stands still instead until the wall clock has caught up.
final class SystemClock: WallClock {
    private let latest = Mutex(Int64.min)

    func now() -> Timestamp {
        let wall = Int64(Date().timeIntervalSince1970 * 1_000)
        return latest.withLock { latest in
            latest = max(latest, wall)
            return Timestamp(milliseconds: latest)
        }
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
