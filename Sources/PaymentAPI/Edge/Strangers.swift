internal import HTTPEdge
internal import Logging

extension StrangersLog {
    /// The reason of a token that nobody has, or none.
    private static let unknown = "unknown"

    /// Of the callers' listener.
    static func ofCallers(_ logger: Logger) -> StrangersLog {
        StrangersLog(
            logger, counter: "reconciled_tokens_refused",
            reasons: SignedTokenRefusal.allCases.map(\.rawValue) + [unknown])
    }

    /// Another one came.
    /// - Parameter refusal: Why, where it came with a signed token.
    func came(_ refusal: SignedTokenRefusal?, at now: ContinuousClock.Instant = .now) {
        came(refusal?.rawValue ?? StrangersLog.unknown, at: now)
    }
}
