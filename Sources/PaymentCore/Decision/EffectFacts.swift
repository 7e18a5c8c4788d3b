/// What is to become of an effect.
public enum EffectGoal: String, Sendable, Hashable, CaseIterable {
    /// It shall be done.
    case `do`
    /// It shall not be done, or be undone.
    case undo
}

/// The worst outcome of all attempts of an effect.
public enum WorstAttempt: Int, Sendable, Hashable, Comparable, Codable, CaseIterable {
    /// Nothing was ever sent, as far as the rows say.
    case none = 0
    /// Every attempt provably had no effect.
    case unsent = 1
    /// At worst, the provider asked to slow down.
    case throttled = 2
    /// At worst, the provider called the request wrong.
    case refused = 3
    /// At worst, a business refusal.
    case declined = 4
    /// At worst, a success that was answered.
    case accepted = 5
    /// An attempt of which anything may have become.
    case indeterminate = 6

    /// The worst outcome so far after one more outcome.
    public func worsened(by outcome: OutcomeClass) -> WorstAttempt {
        WorstAttempt(rawValue: max(rawValue, outcome.rawValue)) ?? .indeterminate
    }

    /// Its name in the audit trail: that of the outcome, whose number it has.
    public var name: String { OutcomeClass(rawValue: rawValue)?.name ?? "none" }

    public static func < (left: WorstAttempt, right: WorstAttempt) -> Bool { left.rawValue < right.rawValue }
}

/// The status of an effect since the last request that could have changed it.
public enum StatusFact: String, Sendable, Hashable, CaseIterable {
    /// Not asked since.
    case notAsked = "not_asked"
    /// Asked, and not there.
    case notFound = "not_found"
    /// The transaction that a refund belongs to was seen, and the provider denies all of it now: that says nothing of
    /// what became of the refund.
    case denied
    /// Undecided.
    case pending
    /// Could not be asked: unreachable, 5xx, 429.
    case unavailable
    /// Key, amount, currency or merchant differ from what was asked.
    case contradiction
    /// Done as asked.
    case asAsked = "as_asked"
    /// Held, where it should not be.
    case held
    /// Taken, where it should not be.
    case taken
    /// Declined, and the same key will always be declined.
    case declinedBound = "declined_bound"
    /// Declined, and the same key may yet succeed.
    case declinedUnbound = "declined_unbound"
    /// Released or reversed.
    case voided
    /// Canceled before it was used.
    case tombstoned
    /// The hold ran out.
    case expired
    /// Taken and given back.
    case refunded

    var isGoneForGood: Bool {
        switch self {
        case .declinedBound, .voided, .tombstoned, .expired, .refunded: true
        default: false
        }
    }
}

/// What an effect under a key of its own is for.
public enum EffectPurpose: String, Sendable, Hashable, CaseIterable {
    /// It takes what is held. If it cannot be had, the payment turns back.
    case capture
    /// It undoes a leg: a void, or a refund of the compensation's own. It must not fail.
    case undo
    /// It is a refund that the caller asked for. It may fail, once it is certain that it did.
    case refund
}

/// Everything that the decision on one effect may depend on. Nothing else does.
public struct EffectFacts: Sendable, Hashable {
    /// How far rows can be believed.
    public enum Trust: String, Sendable, Hashable, CaseIterable {
        /// No acknowledged row was lost.
        case trusted
        /// In a recovery window, and the two sides' listings were not compared yet.
        case recovering
        /// In a recovery window, with the listings compared.
        case recoveringCompared = "recovering_compared"
    }

    /// Whether the same key may still be sent again (`Rsafe`).
    public enum ResendAge: String, Sendable, Hashable, CaseIterable {
        /// Within the retention less the longest request life and the clock skew.
        case safe
        /// Past it, or unknown.
        case past
    }

    /// Whether it is proven that no request can be executed any more (D).
    public enum Proof: String, Sendable, Hashable, CaseIterable {
        /// The provider does not enforce `not_after`: there is no proof.
        case none
        /// The status was not read since the proof would hold.
        case notYet = "not_yet"
        /// A read began after the latest `not_after` of all attempts, the skew and the lag.
        case proven
    }

    /// How many reads that could not be stale were made since the last request.
    public enum Visibility: String, Sendable, Hashable, CaseIterable {
        /// None: what was read may be older than what was done.
        case lagging
        /// One.
        case readOnce = "read_once"
        /// Two, neither of which showed what was wanted.
        case missedTwice = "missed_twice"
    }

    /// Whether the provider surely remembers what it may have executed under the key.
    public enum Memory: String, Sendable, Hashable, CaseIterable {
        /// It does: "not found" and a tombstone tell about the past as well.
        case whole
        /// Its key or status retention may be over, counted from the first intent. A tombstone that is left now
        /// stands on a forgotten key, and proves nothing about what was executed before.
        case mayBeLost = "may_be_lost"
    }

    /// What is to become of it.
    public var goal: EffectGoal
    /// The worst outcome of its attempts.
    public var worst: WorstAttempt
    /// Its status.
    public var status: StatusFact
    /// How far rows can be believed.
    public var trust: Trust
    /// Whether nothing may begin before the caller asks again: what it was told may be lost with the rows.
    public var awaitsCaller: Bool
    /// Whether the key may be sent again.
    public var age: ResendAge
    /// Whether it is proven that nothing can happen.
    public var proof: Proof
    /// How many reads could not be stale.
    public var visibility: Visibility
    /// Whether the provider remembers the key.
    public var memory: Memory
    /// Whether the status was read after the longest life of every request: safe if requests live at most as long as
    /// the contract assumes.
    public var lifeIsOver: Bool
    /// Whether a decline that is shown after the longest life of every request stays what it is, as the contract says.
    public var declinesStay: Bool
    /// Whether the provider said that the key is bound to another request.
    public var keyConflicts: Bool
    /// Whether the last refusal named the key, if there was one.
    public var refusalNamesKey: Bool
    /// What an effect under a key of its own is for; `nil` for the authorization or sale.
    public var purpose: EffectPurpose?
    /// Whether an attempt was ever answered as done, whatever became of later ones.
    public var wasAccepted: Bool
    /// Whether a refusal was about the one request that was ever sent, so that every copy of it is refused as well. Not
    /// after other attempts, and not where our credentials were refused.
    public var refusedForGood: Bool
    /// Whether the payment's latch is acknowledged by every store that must keep it.
    public var latchAcknowledged: Bool
    /// Whether what is taken was captured by nobody that the rows know, of a payment that nobody asked to cancel.
    public var capturedByOthers: Bool
    /// Whether it is a sale of a one-phase provider.
    public var isOnePhase: Bool
    /// Whether declines are bound to the key.
    public var declinesBound: Bool
    /// Whether a cancel under the own key leaves a tombstone.
    public var tombstoneOffered: Bool
    /// Whether a cancel under the own key also reverses a completed sale.
    public var cancelReversesSale: Bool
    /// Whether a key may be sent again in order to undo it: the configuration allows it, and it was not tried in vain.
    public var plugAllowed: Bool
    /// Whether the provider must be told of the end even of what was never sent.
    public var traceWanted: Bool
    /// Whether the attempt that ended last was refused or declined; sent again unchanged it would be so again.
    public var lastRefused: Bool
    /// Whether it gives money back, or undoes what would have to be given back, and a dispute of the charge is open.
    public var isDisputed: Bool
    /// Whether the status cannot be asked, and is learned by sending again.
    public var isAskedByResend: Bool
    /// Whether nobody knows what became of this effect, where that is learned by sending again. It is another one of
    /// the leg otherwise of which nobody knows.
    public var isInDoubt: Bool
    /// Whether the status cannot be asked, and the provider has not told within the inquiry schedule how what it
    /// received ends.
    public var isUnconfirmed: Bool

    /// Facts of an effect of which nothing is known, on trusted rows, with a tombstoning provider.
    public init(goal: EffectGoal, worst: WorstAttempt, status: StatusFact) {
        self.goal = goal
        self.worst = worst
        self.status = status
        trust = .trusted
        awaitsCaller = false
        age = .safe
        proof = .none
        visibility = .lagging
        memory = .whole
        lifeIsOver = false
        declinesStay = true
        keyConflicts = false
        refusalNamesKey = true
        purpose = nil
        wasAccepted = worst == .accepted
        refusedForGood = true
        latchAcknowledged = true
        capturedByOthers = false
        isOnePhase = false
        declinesBound = true
        tombstoneOffered = true
        cancelReversesSale = false
        plugAllowed = false
        traceWanted = false
        lastRefused = false
        isDisputed = false
        isAskedByResend = false
        isInDoubt = false
        isUnconfirmed = false
    }
}
