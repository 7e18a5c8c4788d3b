internal import Testing

/// Waits, for at most ten seconds unless told otherwise, until something that happens by itself has happened.
func eventually(
    within limit: Duration = .seconds(10), _ location: SourceLocation = #_sourceLocation,
    _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("did not happen within \(limit)", sourceLocation: location)
}
