import Testing

/// Waits, for at most ten seconds, until something that happens by itself has happened.
func eventually(
    _ location: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
        if try await condition() { return }
        try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("did not happen within ten seconds", sourceLocation: location)
}
