internal import Testing

/// Waits for a condition, at most ten seconds.
func poll(_ what: String, _ condition: () throws -> Bool) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while try !condition() {
        try #require(ContinuousClock.now < deadline, "in vain: \(what)")
        try await Task.sleep(for: .milliseconds(2))
    }
}
