/// What the operator decided about settling.
public struct SettlementPolicy: Sendable, Hashable {
    /// When to ask again.
    public var inquirySchedule: DelaySchedule
    /// When to send again what provably had no effect.
    public var resendSchedule: DelaySchedule
    /// Whether a key may be sent again in order to undo it.
    public var plugAllowed: Bool
    /// Whether a leg of which nothing was ever sent, or only what was refused, is tombstoned like any other where the
    /// provider offers that. Then a caller who was told that a payment is canceled is told the same after a restore
    /// that lost its row (W1, W2).
    public var tombstoneNeverSent: Bool
    /// The longest time from an intent to the first byte of its request. Part of `maxRequestLife`.
    public var sendWithin: Span
    /// How long after its creation an undecided payment is turned back, where the caller names no deadline.
    public var defaultDeadline: Span

    /// How many inquiries in a row must show what was asked before a leg that one answer contradicted goes on.
    public var healingReads: Int
    /// How far apart the first and the last of them must be at least.
    public var healingSpan: Span

    /// The documented defaults.
    public init() {
        inquirySchedule = .inquiry
        resendSchedule = .resend
        plugAllowed = false
        tombstoneNeverSent = false
        sendWithin = .seconds(30)
        defaultDeadline = .minutes(15)
        healingReads = 4
        healingSpan = .minutes(10)
    }
}

/// What a machine is told with each event: the time, the contracts, the policy and chance.
public struct MachineContext: Sendable {
    /// Now, by the clock of the store.
    public var now: Timestamp
    /// 0 to 999; spreads delays.
    public var jitter: Int
    /// The contract of each provider that a payment may name.
    public var contracts: [ProviderName: ProviderContract]
    /// The operator's decisions.
    public var policy: SettlementPolicy
    /// Whether an acknowledged commit survives the loss of the machine that made it: a single durable store, or a
    /// synchronous standby. If not, latches are acknowledged one by one, by ``PaymentEvent/latchAcknowledged(_:)``.
    public var commitsAreAcknowledged: Bool
    /// Whether requests and inquiries may begin. Not while shutting down: outcomes are still taken in, and what is due
    /// stays due for the next holder.
    public var mayBegin: Bool
    /// Providers whose clocks are measured to be further off than their contracts say. What relies on their clocks
    /// waits.
    public var clocksInDoubt: Set<ProviderName>
    /// The window that is open, where rows were lost: what is asked may have been asked before, by a row that is lost.
    public var recovery: RecoveryWindow?
    /// The table that decides on effects. Only checkers plant another.
    public var effectTable: EffectTable
    /// The table that decides on the payment. Only checkers plant another.
    public var paymentTable: PaymentTable
    /// The table that decides on repairs. Only checkers plant another.
    public var repairTable: RepairTable

    /// A context for the shipped tables.
    public init(
        now: Timestamp, contracts: [ProviderName: ProviderContract], policy: SettlementPolicy = SettlementPolicy(),
        jitter: Int = 0, commitsAreAcknowledged: Bool = true, mayBegin: Bool = true,
        clocksInDoubt: Set<ProviderName> = [], recovery: RecoveryWindow? = nil, effectTable: EffectTable = .shipped,
        paymentTable: PaymentTable = .shipped, repairTable: RepairTable = .shipped
    ) {
        self.now = now
        self.contracts = contracts
        self.policy = policy
        self.jitter = jitter
        self.commitsAreAcknowledged = commitsAreAcknowledged
        self.mayBegin = mayBegin
        self.clocksInDoubt = clocksInDoubt
        self.recovery = recovery
        self.effectTable = effectTable
        self.paymentTable = paymentTable
        self.repairTable = repairTable
    }
}
