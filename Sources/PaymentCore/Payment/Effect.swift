/// One change at one provider for one leg, with the record of its attempts.
public struct Effect: Sendable, Hashable, Codable {
    /// An intent that was written, and whose outcome was not.
    public struct Open: Sendable, Hashable, Codable {
        /// Which attempt it is, from 1.
        public var number: Int
        /// When the intent was written.
        public var at: Timestamp
    }

    /// The kind.
    public let kind: EffectKind
    /// The key K.
    public let key: EffectKey
    /// The amount.
    public let amount: Money
    /// 0, raised only by an approved repair.
    public let generation: Int
    /// Attempts so far.
    public internal(set) var attempts: Int
    /// How many of them provably never left; nil in rows that were written before this was counted.
    public internal(set) var unsent: Int?
    /// The attempt under way, or left by a crash.
    public internal(set) var open: Open?
    /// The worst outcome of the attempts that ended.
    public internal(set) var worst: WorstAttempt
    /// When the first intent was written.
    public internal(set) var firstIntentAt: Timestamp?
    /// When the latest intent was written.
    public internal(set) var lastIntentAt: Timestamp?
    /// The latest `not_after` of all attempts.
    public internal(set) var latestNotAfter: Timestamp?
    /// When an attempt was last accepted, since the last one that was made after a decline: what had been accepted
    /// before came to its end by the decline. Of a refund that a read found done, when that was known.
    public internal(set) var acceptedAt: Timestamp?
    /// Consecutive failures: the tries in a row, up to the last one, that provably had no effect.
    public internal(set) var consecutiveFailures: Int
    /// The code of the last outcome.
    public internal(set) var lastCode: String?
    /// The outcome of the attempt that ended last.
    public internal(set) var lastOutcome: OutcomeClass?
    /// Attempts that were made after a decline that may yet change.
    public internal(set) var sentAfterDecline: Int
    /// How often our credentials were refused.
    public internal(set) var credentialRefusals: Int
    /// An attempt went out that the provider may execute at any time: it carried no `not_after`.
    public internal(set) var hasUnboundedAttempt: Bool
    /// The provider said that the key is bound to another request; `nil` until it did.
    public internal(set) var keyConflicts: Bool? = nil
    /// The last refusal named no key: it counts as a doubt.
    public internal(set) var isRefusalKeyless: Bool? = nil
    /// Since when it is tried again and again without an end: people were told then. `nil` while it is not.
    public internal(set) var troubledSince: Timestamp? = nil
    /// For a refund where the provider shows only sums: what was given back before it, in minor units.
    public internal(set) var sumBefore: Int64?
    /// What the provider said last of what its key stands for, where the status cannot be asked; `nil` until it said
    /// something that is certain.
    public internal(set) var word: ProviderWord? = nil
    /// When the newest intent before the latest one was written of which nobody knows what became.
    public internal(set) var earlierIntentAt: Timestamp? = nil
    /// The last refusal was about our credentials: it says nothing of the key.
    public internal(set) var isCredentialRefusal: Bool? = nil
    /// The provider's own reference of it, where later requests have to name it.
    public internal(set) var theirs: String? = nil

    /// The names under which it is stored, in the order in which they are written.
    private enum CodingKeys: String, CodingKey {
        case kind, key, amount, generation, attempts, unsent, open, worst
        case firstIntentAt, lastIntentAt, latestNotAfter, acceptedAt
        case consecutiveFailures = "fruitless"
        case lastCode, lastOutcome, sentAfterDecline, credentialRefusals, hasUnboundedAttempt
        case keyConflicts, isRefusalKeyless, troubledSince, sumBefore, word, theirs, earlierIntentAt,
            isCredentialRefusal
    }

    /// An effect that was never sent.
    public init(kind: EffectKind, key: EffectKey, amount: Money, generation: Int = 0) {
        self.kind = kind
        self.key = key
        self.amount = amount
        self.generation = generation
        attempts = 0
        unsent = 0
        open = nil
        worst = .none
        firstIntentAt = nil
        lastIntentAt = nil
        latestNotAfter = nil
        acceptedAt = nil
        consecutiveFailures = 0
        lastCode = nil
        lastOutcome = nil
        sentAfterDecline = 0
        credentialRefusals = 0
        hasUnboundedAttempt = false
        sumBefore = nil
    }

    /// Writes the intent of one more attempt.
    mutating func begin(at now: Timestamp, notAfter: Timestamp?, wasDeclined: Bool) -> Int {
        attempts += 1
        if wasDeclined {
            sentAfterDecline += 1
            acceptedAt = nil
        }
        open = Open(number: attempts, at: now)
        if attempts - 1 > (unsent ?? 0), isUnanswered { earlierIntentAt = lastIntentAt }
        firstIntentAt = firstIntentAt ?? now
        lastIntentAt = now
        if let notAfter {
            latestNotAfter = max(latestNotAfter ?? notAfter, notAfter)
        } else {
            hasUnboundedAttempt = true
        }
        return attempts
    }

    /// Whether nobody knows what becomes of the latest request: no answer came, or one that says nothing of the key, or
    /// it was throttled and a copy of it may yet be executed.
    private var isUnanswered: Bool {
        if isRefusalKeyless == true || isCredentialRefusal == true { return true }
        return lastOutcome == nil || lastOutcome == .throttled || lastOutcome == .indeterminate
    }

    /// Writes the outcome of the attempt under way.
    ///
    /// - Parameters:
    ///   - outcome: What it counts as.
    ///   - said: What the answer said, where that is believed only together with an inquiry.
    mutating func end(_ outcome: OutcomeClass, said: OutcomeClass? = nil, code: String, at now: Timestamp) {
        open = nil
        worst = worst.worsened(by: outcome)
        lastCode = code
        lastOutcome = said ?? outcome
        isRefusalKeyless = said == nil ? nil : true
        isCredentialRefusal = nil
        if outcome == .accepted { acceptedAt = now }
        if outcome == .unsent { unsent = (unsent ?? 0) + 1 }
        consecutiveFailures = outcome <= .throttled ? consecutiveFailures + 1 : 0
    }

    /// The code of an attempt of which nobody knows what became.
    static let outcomeUnknown = "outcome_unknown"

    /// An intent without an outcome is in doubt, whoever wrote it.
    mutating func abandonOpenAttempt() -> Bool {
        guard open != nil else { return false }
        open = nil
        worst = .indeterminate
        lastOutcome = .indeterminate
        lastCode = Effect.outcomeUnknown
        return true
    }
}
