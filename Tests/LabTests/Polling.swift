import Foundation

/// Waits until a program has ended or a condition holds, at most a minute. No thread is blocked: other tests need them.
func waitUntilEnded(_ process: Process, or condition: () throws -> Bool = { false }) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while process.isRunning, try !condition(), ContinuousClock.now < end {
        try await Task.sleep(for: .milliseconds(10))
    }
}
