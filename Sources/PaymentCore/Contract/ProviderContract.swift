/// What a provider can do, as data. A new provider is a value of this type and an adapter, never a new branch.
public struct ProviderContract: Sendable, Hashable {
    /// In how many steps the provider takes money.
    public enum Phases: String, Sendable, Hashable, Codable, CaseIterable {
        /// Hold first, take later.
        case authorizeCapture = "authorize_capture"
        /// Take at once.
        case sale
    }

    /// How the status of an effect can be asked.
    public enum Inquiry: String, Sendable, Hashable, Codable, CaseIterable {
        /// Under the key that we chose.
        case byOwnKey = "by_own_key"
        /// Only by searching the provider's listing.
        case byListing = "by_listing"
        /// Not at all. A request in doubt is sent again under its key, and the answer that the key keeps tells what
        /// became of it: a key that stands for something is answered by that, before anything else is looked at.
        /// Everything that was answered is known from our own rows.
        case byResend = "by_resend"
        /// Not at all.
        case none
    }

    /// What a cancel under our own key does to something that the provider does not know.
    public enum Cancel: String, Sendable, Hashable, Codable, CaseIterable {
        /// It leaves a tombstone: a later request under the key is refused for ever.
        case tombstoning
        /// It answers, but a later request under the key is executed all the same.
        case onlyIfPresent = "only_if_present"
        /// Nothing can be canceled under our own key.
        case none
    }

    /// How refunds can be told apart when the status is read.
    public enum RefundVisibility: String, Sendable, Hashable, Codable, CaseIterable {
        /// Each refund is listed under its key.
        case byKey = "by_key"
        /// Only the sum is shown; two refunds of one leg must then never overlap in time.
        case sumsOnly = "sums_only"
    }

    /// Where the provider keeps the keys that we send: its account in one region. A key that is kept in one key space
    /// is unknown in every other. `nil` if there is only one, as in a search or a simulation.
    public var keySpace: KeySpace?
    /// In how many steps money is taken.
    public var phases: Phases
    /// How keys must look.
    public var keyFormat: KeyFormat
    /// How long a key is remembered, from its first use; `nil` for ever, zero if keys are not idempotent at all.
    public var keyRetention: Span?
    /// Whether the same key always gives the same decline.
    public var declinesBound: Bool
    /// Whether a decline that is not bound stays what it is once no request under its key can arrive any more. If not,
    /// what was declined and cannot be tombstoned is for people.
    public var declinesStay: Bool
    /// How the status is asked.
    public var inquiry: Inquiry
    /// How long after an effect a status read may still show the state before it.
    public var visibilityLag: Span
    /// How long a status can be read; `nil` for ever.
    public var statusRetention: Span?
    /// What a cancel under our own key does.
    public var cancel: Cancel
    /// Whether the provider refuses to execute a request after the moment that the request names.
    public var enforcesNotAfter: Bool
    /// How long a hold lasts where the provider does not say so itself.
    public var authorizationLife: Span?
    /// Until how long after a sale a cancel under its key still works; `nil` for as long as the key is known.
    public var cancelDeadline: Span?
    /// Whether a cancel under the own key reverses a completed sale.
    public var cancelReversesSale: Bool
    /// Whether the provider lists its transactions by time.
    public var listing: Bool
    /// Whether refunds are shown one by one.
    public var refundVisibility: RefundVisibility
    /// Requests per second that the provider allows.
    public var requestsPerSecond: Int
    /// Requests per second that the provider allows at one endpoint; `nil` where it only counts all of them.
    public var endpointRequestsPerSecond: Int?
    /// Requests at the same time that the provider allows.
    public var concurrency: Int
    /// The assumed longest time from an intent to its execution at the provider. Verdicts read "safe if requests live
    /// at most this long".
    public var maxRequestLife: Span
    /// The largest difference assumed between our clock and the provider's.
    public var clockSkew: Span

    /// A contract that starts from the reference provider's: idempotent for ever by our own keys, bound declines,
    /// tombstones, enforced `Not-After`. Change what differs.
    public init(phases: Phases) {
        self.phases = phases
        keySpace = nil
        keyFormat = .hex40
        keyRetention = nil
        declinesBound = true
        declinesStay = true
        inquiry = .byOwnKey
        visibilityLag = .zero
        statusRetention = nil
        cancel = .tombstoning
        enforcesNotAfter = true
        authorizationLife = .days(7)
        cancelDeadline = nil
        cancelReversesSale = false
        listing = true
        refundVisibility = .byKey
        requestsPerSecond = 200
        endpointRequestsPerSecond = nil
        concurrency = 64
        maxRequestLife = .minutes(2)
        clockSkew = .seconds(5)
    }

    /// Until what age of its first intent a request may be sent again under the same key (`Rsafe`); `nil` without
    /// limit.
    public var safeResendAge: Span? {
        keyRetention.map { $0 - maxRequestLife - clockSkew }
    }

    /// Until what age of its first intent the provider surely remembers what it executed under a key, so that a request
    /// which is sent now meets that memory; `nil` without limit.
    public var memory: Span? {
        let limits = [keyRetention, statusRetention].compactMap { $0 }
        return limits.min().map { $0 - maxRequestLife - clockSkew }
    }

    /// How long after the latest `not_after` a status read must have begun to prove that nothing can happen any more
    /// (D).
    public var proofMargin: Span { clockSkew + visibilityLag }
}
