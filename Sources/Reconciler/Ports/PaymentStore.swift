public import PaymentCore

/// Where payments live. Every store passes the same contract suite.
///
/// A write names the version that it read and, where a worker makes it, the lease under which it works; a store refuses
/// it if either is no longer current. What a call returned is durable.
public protocol PaymentStore: Sendable {
    /// The store's clock. Leases and due times are judged by it alone.
    func now() async throws(StoreFailure) -> Timestamp

    /// Makes one change durable, with its audit entries and its idempotency record, or refuses it whole.
    func commit(_ change: PaymentChange) async throws(StoreFailure) -> CommitResult

    /// Reads a payment.
    func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment?

    /// Reads payments, newest first by (created_at, id).
    func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment>

    /// Reads a payment's audit trail, oldest first, after a sequence number.
    func auditTrail(
        of id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(StoreFailure) -> [AuditEntry]

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    func payment(at provider: ProviderName, effect key: EffectKey) async throws(StoreFailure) -> PaymentID?

    /// Claims payments that are due and not leased, the longest overdue first. Overdue has no lower bound in time.
    func claimDue(_ request: ClaimRequest) async throws(StoreFailure) -> [ClaimedPayment]

    /// Claims payments that are not due yet and not leased, and whose next leg is at a provider, in the order in which
    /// they will be due.
    func claimWaiting(_ request: WaitingRequest) async throws(StoreFailure) -> [ClaimedPayment]

    /// Claims one payment, due or not; `nil` if it does not exist or another holder's lease on it runs.
    func claim(_ id: PaymentID, holder: String, leaseFor: Span) async throws(StoreFailure) -> ClaimedPayment?

    /// Prolongs leases; returns those that are still held.
    func renew(_ leases: [PaymentID: LeaseToken], leaseFor: Span) async throws(StoreFailure) -> Set<PaymentID>

    /// Ends a lease without a change. A lease that is not held any more is left alone.
    func release(_ id: PaymentID, token: LeaseToken) async throws(StoreFailure)

    /// When the next payment of a scope can be claimed as due; for a leased one not before its lease ends. `nil` if
    /// there is none.
    func nextDue(in scope: DueScope) async throws(StoreFailure) -> Timestamp?

    /// Reads the record of an idempotency key.
    func idempotencyRecord(
        caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> IdempotencyRecord?

    /// Stores the first settled answer under a key. If there is one already, that one is returned and stays.
    func storeAnswer(
        _ answer: StoredAnswer, caller: CallerID, key: IdempotencyKey
    ) async throws(StoreFailure) -> StoredAnswer

    /// Seals the heads of all trails that changed since the last seal into one chain; `nil` if none changed.
    func seal() async throws(StoreFailure) -> Seal?

    /// Checks the seals' chain and that every sealed head is in its trail; returns what is wrong.
    func verifySeals() async throws(StoreFailure) -> [SealBreak]

    /// Reads how far the log is written and how much of it the named standby has on disk; without a name, the one that
    /// has least of those that follow. Everything that was acknowledged before the call lies before
    /// ``StandbyReading/written``.
    func standbyReading(_ name: String?) async throws(StoreFailure) -> StandbyReading

    /// Counts for metrics and the console.
    func statistics() async throws(StoreFailure) -> StoreStatistics

    /// Writes and reads something small, to see whether the store works at all.
    func probe() async throws(StoreFailure)

    /// Tells whenever another process may have left something that is due at once. Nothing depends on it: what is due
    /// is also found by looking.
    func dueChanges() -> AsyncStream<Void>
}

/// What a worker asks for when it claims what waits for a provider.
public struct WaitingRequest: Sendable, Hashable {
    /// Where a claim goes on: after the payment that was claimed last.
    public struct Cursor: Sendable, Hashable {
        /// When that payment was due when it was claimed.
        public var dueAt: Timestamp
        /// That payment.
        public var id: PaymentID

        /// A place.
        public init(dueAt: Timestamp, id: PaymentID) {
            self.dueAt = dueAt
            self.id = id
        }
    }

    /// The provider.
    public var provider: ProviderName
    /// Who claims: unique for each start of each process.
    public var holder: String
    /// At most so many payments.
    public var limit: Int
    /// How long the lease runs unless it is renewed.
    public var leaseFor: Span
    /// Only those that come after this place; `nil` for all.
    public var after: Cursor?

    /// A request.
    public init(provider: ProviderName, holder: String, limit: Int, leaseFor: Span, after: Cursor? = nil) {
        self.provider = provider
        self.holder = holder
        self.limit = limit
        self.leaseFor = leaseFor
        self.after = after
    }
}

/// How much of a store's log its standby has.
public struct StandbyReading: Sendable, Hashable {
    /// The end of the log: everything that was durable when it was read lies before it.
    public var written: LogPosition
    /// Up to where the standby has the log on disk; `nil` if it does not follow.
    public var flushed: LogPosition?

    /// A reading.
    public init(written: LogPosition, flushed: LogPosition?) {
        self.written = written
        self.flushed = flushed
    }

    /// Of a store that is alone: what it acknowledged is lost with it only, and there is nobody to wait for.
    public static let alone = StandbyReading(written: LogPosition(offset: 0), flushed: LogPosition(offset: 0))
}

extension PaymentStore {
    /// A store without a standby.
    public func standbyReading(_ name: String?) async throws(StoreFailure) -> StandbyReading { .alone }

    /// A store that is not told of other processes' changes.
    public func dueChanges() -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}

/// Proof of a lease: rises with every claim of a payment, so that a worker whose lease ended cannot write.
public struct LeaseToken: Sendable, Hashable, Comparable, Codable {
    /// The number.
    public let number: Int64

    /// A token.
    public init(_ number: Int64) { self.number = number }

    public static func < (left: LeaseToken, right: LeaseToken) -> Bool { left.number < right.number }
}

/// One change of one payment.
public struct PaymentChange: Sendable {
    /// What the change requires of the payment's lease.
    public enum LeaseRequirement: Sendable, Hashable {
        /// The payment is new: it is inserted, and leased to `holder` for `span` with the first token.
        case creating(holder: String, leaseFor: Span)
        /// The lease is held under this token, and stays.
        case holding(LeaseToken)
        /// The lease is held under this token, and ends with the change.
        case releasing(LeaseToken)
        /// No lease is needed: a request of the caller that sends nothing. The version alone decides.
        case none
    }

    /// The payment after the change. Its `version` is the one that was read; the store writes the next.
    public var payment: Payment
    /// The audit entries of the change.
    public var entries: [AuditEntry]
    /// The lease under which it is made.
    public var lease: LeaseRequirement
    /// The record of the idempotency key that asked for it, if this change is the first to know it.
    public var record: IdempotencyRecord?
    /// The settled answer to the request that created the payment, if this change settles it. It is kept under the
    /// payment's key with the change, unless one is kept there already or the key is pruned.
    public var answer: StoredAnswer?
    /// The repair of the payment that is proposed or decided by this change.
    public var repair: Repair?

    /// A change.
    public init(
        payment: Payment, entries: [AuditEntry], lease: LeaseRequirement, record: IdempotencyRecord? = nil,
        answer: StoredAnswer? = nil, repair: Repair? = nil
    ) {
        self.payment = payment
        self.entries = entries
        self.lease = lease
        self.record = record
        self.answer = answer
        self.repair = repair
    }
}

/// What became of a change.
public enum CommitResult: Sendable, Hashable {
    /// It is durable; the payment has this version now, and a new payment this lease.
    case committed(version: Int64, lease: LeaseToken?)
    /// Another writer was first; nothing was written.
    case versionConflict
    /// The lease is not held any more; nothing was written.
    case leaseLost
    /// The idempotency key (or the payment's id) is known already; nothing was written.
    case duplicate(IdempotencyRecord)
}

/// A payment and the lease on it.
public struct ClaimedPayment: Sendable {
    /// The payment.
    public let payment: Payment
    /// The lease's token.
    public let token: LeaseToken
    /// When the lease ends unless it is renewed.
    public let until: Timestamp

    /// A claimed payment.
    public init(payment: Payment, token: LeaseToken, until: Timestamp) {
        self.payment = payment
        self.token = token
        self.until = until
    }
}

/// At which providers a worker takes what is due.
public struct DueScope: Sendable, Hashable {
    /// The providers of its configuration. Also what is due at no provider is its, such as a deadline.
    public var providers: Set<ProviderName>
    /// What is due at any other provider is its only once it has been due for so long: a daemon that has the provider
    /// is there first, and without any such daemon the payment's other legs are not forgotten.
    public var othersAfter: Span

    /// A scope.
    public init(providers: Set<ProviderName>, othersAfter: Span) {
        self.providers = providers
        self.othersAfter = othersAfter
    }

    /// All providers alike.
    public static let everywhere = DueScope(providers: [], othersAfter: .zero)

    /// How long something has to be due at a provider before it is taken.
    public func wait(at provider: ProviderName?) -> Span {
        guard let provider, !providers.contains(provider) else { return .zero }
        return othersAfter
    }
}

/// What a worker asks for when it claims.
public struct ClaimRequest: Sendable, Hashable {
    /// Who claims: unique for each start of each process.
    public var holder: String
    /// At most so many payments.
    public var limit: Int
    /// How long the lease runs unless it is renewed.
    public var leaseFor: Span
    /// At most so many whose next leg is at one provider, so that a slow one does not take every place.
    public var limitPerProvider: [ProviderName: Int]
    /// What is due at a provider without a limit is claimed once it has been due for so long.
    public var othersAfter: Span

    /// A request.
    public init(
        holder: String, limit: Int, leaseFor: Span, limitPerProvider: [ProviderName: Int] = [:],
        othersAfter: Span = .zero
    ) {
        self.holder = holder
        self.limit = limit
        self.leaseFor = leaseFor
        self.limitPerProvider = limitPerProvider
        self.othersAfter = othersAfter
    }

    /// From where it claims.
    public var scope: DueScope { DueScope(providers: Set(limitPerProvider.keys), othersAfter: othersAfter) }
}
