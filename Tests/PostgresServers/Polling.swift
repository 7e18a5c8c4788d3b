/// Waits for something that is true in the end, with a bound.
enum Polling {
    /// Returns as soon as the condition holds.
    ///
    /// - Throws: ``PostgresServerError/timedOut(_:)`` after the limit, `CancellationError` when the task is cancelled,
    ///   or what the condition threw.
    static func until(
        _ what: String, within limit: Duration = .seconds(20), _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while try await !condition() {
            guard ContinuousClock.now < end else { throw PostgresServerError.timedOut(what) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
