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

/// Waits for something that is true in the end, with a bound.
enum Polling {
    struct Expired: Error {
        let what: String
    }

    static func until(_ what: String, _ condition: () async throws -> Bool) async throws {
        let clock = MachineClock()
        let end = clock.now() + .seconds(20)
        while clock.now() < end {
            if try await condition() { return }
            try await clock.sleep(until: clock.now() + .milliseconds(5))
        }
        throw Expired(what: what)
    }
}
