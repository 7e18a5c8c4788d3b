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

    /// A token was refused, or none came.
    /// - Parameter refusal: Why, where it was a signed one.
    func refused(_ refusal: SignedTokenRefusal?, at now: ContinuousClock.Instant = .now) {
        came(refusal?.rawValue ?? StrangersLog.unknown, at: now)
    }
}
