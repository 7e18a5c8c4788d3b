public import PaymentCore
public import Reconciler

/// One thing that happened in a run, in order. The trace of a run is the list of these, and its hash is over what tells
/// them apart; the invariants judge them one by one.
public struct Happening: Sendable {
    /// When, by the run's true time, which nobody in the run can read.
    public let at: Timestamp
    /// What.
    public let what: What

    /// Something that happened.
    public init(at: Timestamp, _ what: What) {
        self.at = at
        self.what = what
    }

    /// What can happen.
    public enum What: Sendable {
        /// A caller asks for an operation, perhaps again.
        case asked(CallerOperation, attempt: Int)
        /// A caller is answered.
        case answered(CallerOperation, CallerAnswer)
        /// A change is durable in a site's store. `before` is nil for a new payment.
        case committed(Commit)
        /// The store refused a change.
        case refused(replica: Int, payment: PaymentID, why: String)
        /// A request leaves a replica, which holds its payment under a token, for a provider.
        case sent(replica: Int, token: LeaseToken, SendOrder)
        /// A request arrives at the provider and is executed, declined, replayed or refused.
        case arrived(SendOrder, outcome: OutcomeClass, code: String)
        /// An inquiry leaves a replica, which holds a payment under a token. Where a payment undoes what was made for
        /// another, the order names the other.
        case inquiring(replica: Int, token: LeaseToken, InquiryOrder, payment: PaymentID)
        /// A replica takes in what an attempt or an inquiry brought.
        case learned(replica: Int, token: LeaseToken, PaymentEvent, payment: PaymentID)
        /// A person is told.
        case alerted(Alert)
        /// A fault strikes.
        case fault(FaultKind, id: UInt64, detail: String)
        /// A replica begins to run.
        case started(replica: Int, site: Int)
        /// A replica is told to shut down in good order.
        case stopping(replica: Int)
        /// A replica that was told to shut down did; the leases of these payments it neither finished nor gave back.
        case stopped(replica: Int, leasesKept: [PaymentID])
        /// A replica claimed a payment under this token, or inserted it and holds it.
        case leased(site: Int, replica: Int, payment: PaymentID, token: LeaseToken)
        /// A site becomes the active one.
        case promoted(site: Int, epoch: Int64, rowsLost: Int)
        /// Both sides are compared.
        case compared(ComparisonNews)
        /// Faults are over; from here everything must come to rest.
        case faultsEnded
    }
}

/// What happens to comparisons.
public enum ComparisonNews: Sendable {
    /// A run was planned.
    case planned(ComparisonRun)
    /// A replica claimed a run, and its lane, under this token.
    case claimed(ComparisonRun, replica: Int, token: LeaseToken)
    /// A step of a run is durable; `before` is the run as it was.
    case recorded(ComparisonStep, before: ComparisonRun, replica: Int, token: LeaseToken)
    /// What the policy wants is handed on.
    case ordered(SettlementOrder, replica: Int)
}

/// A caller's operation, as the caller sees it.
public struct CallerOperation: Sendable, Hashable {
    /// What is asked.
    public enum Kind: Sendable, Hashable {
        /// Create; `body` tells apart different bodies under one key.
        case create(body: Int)
        /// Cancel.
        case cancel
        /// Capture everything, or these amounts in minor units by leg.
        case capture(amounts: [Int]?)
        /// Refund these amounts in minor units by leg, or everything.
        case refund(amounts: [Int]?)
    }

    /// Who.
    public let caller: CallerID
    /// Under which key.
    public let key: IdempotencyKey
    /// About which payment.
    public let payment: PaymentID
    /// What.
    public let kind: Kind

    /// An operation.
    public init(caller: CallerID, key: IdempotencyKey, payment: PaymentID, kind: Kind) {
        self.caller = caller
        self.key = key
        self.payment = payment
        self.kind = kind
    }
}

/// What a caller is answered.
public enum CallerAnswer: Sendable, Hashable {
    /// It is settled so; the answer never changes again.
    case settled(PaymentState, refund: RefundState?)
    /// It is durable and goes on. (202)
    case accepted(PaymentState)
    /// It cannot be: too late or the wrong state. (409)
    case refused(PaymentState)
    /// The key was used for another request. (422)
    case keyReused
    /// Nothing was taken; ask again. (503)
    case unavailable
}

/// A durable change.
public struct Commit: Sendable {
    /// Whose store.
    public let site: Int
    /// Who made it.
    public let replica: Int
    /// The lease under which it was made, if one was needed.
    public let token: LeaseToken?
    /// The site's epoch.
    public let epoch: Int64
    /// The payment before; nil if it is new.
    public let before: Payment?
    /// The payment after.
    public let after: Payment
    /// The audit entries of the change.
    public let entries: [AuditEntry]
    /// Whether whoever made it may be told that it is durable. A synchronous store that cannot reach its standby keeps
    /// a change that nobody is told of.
    public let isConfirmed: Bool

    /// A change.
    public init(
        site: Int, replica: Int, token: LeaseToken?, epoch: Int64, before: Payment?, after: Payment,
        entries: [AuditEntry], isConfirmed: Bool = true
    ) {
        self.site = site
        self.replica = replica
        self.token = token
        self.epoch = epoch
        self.before = before
        self.after = after
        self.entries = entries
        self.isConfirmed = isConfirmed
    }
}
