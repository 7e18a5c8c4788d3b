import Synchronization

/// Waits until a condition holds, at most ten seconds.
func poll(_ condition: @Sendable () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while try await !condition() {
        guard ContinuousClock.now < deadline else {
            throw RunningAdmin.Failure(description: "the condition did not come true in time")
        }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Holds everybody up until it is opened, cancelled or not.
final class TurnStile: Sendable {
    private let isOpen = Mutex(false)

    func open() { isOpen.withLock { $0 = true } }

    func pass() async {
        do {
            try await poll { isOpen.withLock { $0 } }
        } catch {
            return  // The test fails by what it expects afterwards.
        }
    }
}
