package import Logging
internal import Metrics
internal import Synchronization

/// Counts requests without a valid token, and tells of them: of the first one at once, and after that how many there
/// were, so that whoever guesses tokens does not fill the log.
package final class StrangersLog: Sendable {
    private struct State {
        var toldAt: ContinuousClock.Instant?
        var untold: [String: Int] = [:]
    }

    /// How often a sum is told at most.
    private static let every = Duration.seconds(60)

    private let counter: String
    private let logger: Logger
    private let state = Mutex(State())

    /// A log that has told nothing.
    /// - Parameters:
    ///   - logger: Gets the first one, and sums.
    ///   - counter: The name of the counter, which has one series for each reason from the start.
    ///   - reasons: What can be wrong with a token, or where it was shown.
    package init(_ logger: Logger, counter: String, reasons: [String]) {
        self.logger = logger
        self.counter = counter
        for reason in reasons { Counter(label: counter, dimensions: [("reason", reason)]).increment(by: 0) }
    }

    /// Another one came.
    /// - Parameter reason: One of those that the log was made with.
    package func came(_ reason: String, at now: ContinuousClock.Instant = .now) {
        Counter(label: counter, dimensions: [("reason", reason)]).increment()
        let counts: [String: Int]? = state.withLock { state in
            state.untold[reason, default: 0] += 1
            if let toldAt = state.toldAt, now - toldAt < StrangersLog.every { return nil }
            defer { state = State(toldAt: now) }
            return state.untold
        }
        guard let counts else { return }
        let reasons = counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        logger.notice(
            "requests without a valid token were refused",
            metadata: ["count": .stringConvertible(counts.values.reduce(0, +)), "reasons": .string(reasons)])
    }
}
