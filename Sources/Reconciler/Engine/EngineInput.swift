public import PaymentCore

/// What the engine's machine is told. Whoever executes its jobs gives back what came of each.
public enum EngineInput: Sendable {
    // Wishes. Each is answered under its ticket, once.

    /// A caller wants a new payment.
    case create(ticket: Int, CreateRequest, IdempotencyRecord)
    /// A caller wants something of a payment that exists. The request has the ticket.
    case submit(OperationRunner.Request)
    /// Somebody wants the status of a payment to be read now.
    case askNow(ticket: Int, PaymentID)
    /// A provider that cannot be asked told what became of an effect of a leg; the answer is ``EngineAnswer/told`` once
    /// that is durable.
    case news(ticket: Int, PaymentID, leg: Int, EffectNews)
    /// A caller repeats what created the payment, which is as it was read; the answer is ``EngineAnswer/told``.
    case repeated(ticket: Int, Payment)
    /// A comparison wants a difference to be settled.
    case settle(ticket: Int, SettlementOrder)
    /// Something happened to a payment; nobody waits for what comes of it.
    case tell(PaymentID, [PaymentEvent])

    // What came of jobs.

    /// Of ``EngineJob/commit(_:_:_:after:)``.
    case committed(PaymentID, LeaseToken, PaymentChange, Result<CommitResult, StoreFailure>)
    /// Of ``EngineJob/perform(_:_:_:)``.
    case learned(PaymentID, LeaseToken, PaymentEvent)
    /// Of ``EngineJob/reload(_:_:try:after:)``.
    case reloaded(PaymentID, LeaseToken, try: Int, Result<Payment?, StoreFailure>)
    /// Of ``EngineJob/claim(_:holder:leaseFor:)``.
    case claimed(PaymentID, Result<ClaimedPayment?, StoreFailure>)
    /// Of ``EngineJob/insert(ticket:_:after:)``.
    case inserted(ticket: Int, Result<CommitResult, StoreFailure>)
    /// Of ``EngineJob/lookUp(ticket:caller:key:)``.
    case lookedUp(ticket: Int, Result<IdempotencyRecord?, StoreFailure>)
    /// Of ``EngineJob/readOccupant(ticket:_:)``.
    case occupant(ticket: Int, Result<Payment?, StoreFailure>)
    /// Of ``EngineJob/readToWrite(_:_:)``.
    case readToWrite(Int, Result<Payment?, StoreFailure>)
    /// Of ``EngineJob/write(_:_:)``.
    case wrote(Int, Result<CommitResult, StoreFailure>)
    /// Of ``EngineJob/claimDue(_:)``.
    case claimedDue(ClaimRequest, Result<[ClaimedPayment], StoreFailure>)
    /// Of ``EngineJob/claimWaiting(_:)``.
    case claimedWaiting(WaitingRequest, Result<[ClaimedPayment], StoreFailure>)
    /// Of ``EngineJob/askNextDue(_:)``.
    case nextDue(Result<Timestamp?, StoreFailure>)
    /// Of ``EngineJob/readResting(after:limit:pause:)``.
    case resting(after: PageCursor?, Result<Page<Payment>, StoreFailure>)
    /// Of ``EngineJob/release(_:_:)``: the lease was given back, or will run out.
    case released
    /// Of ``EngineJob/wake(at:)``: the moment has come.
    case woke(Timestamp)
    /// Of ``EngineJob/renewLater(after:)``: the time is over.
    case renewalIsDue
    /// Of ``EngineJob/renew(_:leaseFor:)``: which of the leases are still held.
    case renewed([PaymentID: LeaseToken], Result<Set<PaymentID>, StoreFailure>)

    /// Of ``EngineJob/askStandby(after:)``.
    case standby(Result<StandbyReading, StoreFailure>)

    // What happens around it.

    /// Something may be due: another process left it, or this one has just got the right to act.
    case look
    /// From now on it works for this term (`nil`: for none), and payments enter this window of recovery.
    case entered(term: Int64?, RecoveryWindow?)
    /// Nothing new is begun; what is on the wire is taken in.
    case drain
    /// It ends here. Whoever waits for an answer hears that it is not known.
    case stopped
}

/// What surrounds an input: the moment, chance, and what this process may do.
public struct EngineMoment: Sendable {
    /// Now, by the clock of this process.
    public var now: Timestamp
    /// 0 to 999; spreads delays.
    public var jitter: Int
    /// What the site may do now.
    public var standing: SiteStanding
    /// Providers whose clocks are measured to be further off than their contracts say.
    public var clocksInDoubt: Set<ProviderName>

    /// A moment.
    public init(now: Timestamp, jitter: Int, standing: SiteStanding, clocksInDoubt: Set<ProviderName> = []) {
        self.now = now
        self.jitter = jitter
        self.standing = standing
        self.clocksInDoubt = clocksInDoubt
    }
}
