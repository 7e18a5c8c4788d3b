import PaymentCore
import Reconciler

/// The monotonic clock, counted from a fixed moment.
struct MachineClock: WallClock {
    private static let start = ContinuousClock.now

    func now() -> Timestamp {
        let passed = ContinuousClock.now - MachineClock.start
        return RunnerStage.start + .milliseconds(Int64(passed / .milliseconds(1)))
    }

    func sleep(until moment: Timestamp) async throws {
        try await ContinuousClock().sleep(for: .milliseconds((moment - now()).milliseconds))
    }
}
