internal import Logging
internal import Synchronization

/// Tells of requests without a valid token: the first one, and after that how many there were, so that whoever guesses
/// tokens does not fill the log.
final class StrangersLog: Sendable {
    private struct State {
        var toldAt: ContinuousClock.Instant?
        var untold = 0
    }

    /// How often a sum is told at most.
    private static let every = Duration.seconds(10)

    private let logger: Logger
    private let state = Mutex(State())

    /// A log that has told nothing.
    init(_ logger: Logger) { self.logger = logger }

    /// Another one came.
    func came(at now: ContinuousClock.Instant = .now) {
        let count: Int? = state.withLock { state in
            state.untold += 1
            if let toldAt = state.toldAt, now - toldAt < StrangersLog.every { return nil }
            defer { state = State(toldAt: now, untold: 0) }
            return state.untold
        }
        guard let count else { return }
        logger.notice(
            "requests without a valid token were refused", metadata: ["count": .stringConvertible(count)])
    }
}
