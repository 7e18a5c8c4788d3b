import Foundation

/// Waits for something that is true in the end, with a bound.
enum Polling {
    struct Expired: Error, CustomStringConvertible {
        let what: String
        var description: String { "waited too long until \(what)" }
    }

    static func until(
        _ what: String, within limit: Duration = .seconds(20), isolation: isolated (any Actor)? = #isolation,
        _ condition: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if try await condition() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Expired(what: what)
    }

    /// Lets so much time pass: for what must last so long, never for what should have happened by then.
    static func hold(for duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }
}
