/// What is known of one request on the wire once it ended. The order is the order of uncertainty: the worst outcome of
/// all attempts counts, never the last.
public enum OutcomeClass: Int, Sendable, Hashable, Comparable, Codable, CaseIterable {
    /// Provably no effect: name not resolved, refused, connect or TLS timeout, not one byte written.
    case unsent = 1
    /// Answered by a limit that the contract says is not executed: no effect, slow down.
    case throttled = 2
    /// A 4xx that says the request itself is wrong: no effect, never sent again unchanged. Believed only where the
    /// answer names our key (``AttemptReport/namesKey``).
    case refused = 3
    /// A business refusal. The contract says whether it is bound to the key.
    case declined = 4
    /// A 2xx whose body parses and whose key, amount and currency match.
    case accepted = 5
    /// Bytes were written and no proof came back: anything may have happened.
    case indeterminate = 6

    public static func < (left: OutcomeClass, right: OutcomeClass) -> Bool { left.rawValue < right.rawValue }

    /// The name in the audit trail.
    public var name: String {
        switch self {
        case .unsent: "unsent"
        case .throttled: "throttled"
        case .refused: "refused"
        case .declined: "declined"
        case .accepted: "accepted"
        case .indeterminate: "indeterminate"
        }
    }
}

/// What an adapter reports of one attempt.
public struct AttemptReport: Sendable, Hashable {
    /// The class of the outcome.
    public var outcome: OutcomeClass
    /// The transaction that the answer carried, if it did and it could be read.
    public var observation: Observation?
    /// A short code for the audit trail, such as `read_timeout`, `http_500` or `card_declined`. No secrets.
    public var code: String
    /// Not to be sent again before this moment, where the provider said so.
    public var retryAfter: Timestamp?
    /// Whether the refusal was about our credentials, which a refreshed token may cure.
    public var credentialsRefused: Bool
    /// Whether the answer names the key that it was asked about. A refusal that does not may belong to another request,
    /// or come from somebody who never asked the provider.
    public var namesKey: Bool
    /// Whether the provider said that the key is bound to another request.
    public var keyConflicts: Bool
    /// Bytes of the request that left.
    public var bytesWritten: Int
    /// The provider's own reference of what it made, where later requests have to name it; `nil` for none.
    public var reference: String?

    /// A report.
    public init(
        _ outcome: OutcomeClass, code: String, observation: Observation? = nil, retryAfter: Timestamp? = nil,
        credentialsRefused: Bool = false, namesKey: Bool = true, keyConflicts: Bool = false, bytesWritten: Int = 0,
        reference: String? = nil
    ) {
        self.outcome = outcome
        self.observation = observation
        self.code = code
        self.retryAfter = retryAfter
        self.credentialsRefused = credentialsRefused
        self.namesKey = namesKey
        self.keyConflicts = keyConflicts
        self.bytesWritten = bytesWritten
        self.reference = reference
    }
}
