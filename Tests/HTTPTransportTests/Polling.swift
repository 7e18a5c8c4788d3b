/// Polls until the condition holds or ten seconds have passed.
func eventually(_ condition: @Sendable () -> Bool) async throws -> Bool {
    let deadline = ContinuousClock.now + .seconds(10)
    while ContinuousClock.now < deadline {
        if condition() { return true }
        try await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}

/// Lets an age limit pass: the only way to see one. libcurl counts it in whole seconds.
func letPass(_ age: Duration) async throws {
    let end = ContinuousClock.now + age
    while ContinuousClock.now < end { try await Task.sleep(until: end) }
}
