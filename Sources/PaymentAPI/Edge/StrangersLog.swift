internal import Logging
internal import Metrics
internal import Synchronization

/// Tells of requests without a valid token: the first one, and after that how many there were, so that whoever guesses
/// tokens does not fill the log.
final class StrangersLog: Sendable {
    private struct State {
        var toldAt: ContinuousClock.Instant?
        var untold: [String: Int] = [:]
    }

    /// How often a sum is told at most.
    private static let every = Duration.seconds(60)
    /// The reason of a token that nobody has, or none.
    private static let unknown = "unknown"

    private let logger: Logger
    private let state = Mutex(State())

    /// A log that has told nothing.
    init(_ logger: Logger) {
        self.logger = logger
        for reason in SignedTokenRefusal.allCases.map(\.rawValue) + [StrangersLog.unknown] {
            StrangersLog.counter(reason).increment(by: 0)
        }
    }

    /// Another one came.
    /// - Parameter refusal: Why, where it came with a signed token.
    func came(_ refusal: SignedTokenRefusal? = nil, at now: ContinuousClock.Instant = .now) {
        let reason = refusal?.rawValue ?? StrangersLog.unknown
        StrangersLog.counter(reason).increment()
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

    private static func counter(_ reason: String) -> Counter {
        Counter(label: "reconciled_tokens_refused", dimensions: [("reason", reason)])
    }
}
