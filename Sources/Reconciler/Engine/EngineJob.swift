public import PaymentCore

/// What the engine's machine wants done. Whoever executes a job gives back what came of it as the input named with it.
public enum EngineJob: Sendable {
    // Of the store.

    /// Make a change durable, after a pause. ``EngineInput/committed(_:_:_:_:)``.
    case commit(PaymentID, LeaseToken, PaymentChange, after: Span)
    /// Read a payment again, after a pause. ``EngineInput/reloaded(_:_:try:_:)``.
    case reload(PaymentID, LeaseToken, try: Int, after: Span)
    /// End a lease. Nothing comes back: one that cannot be ended runs out.
    case release(PaymentID, LeaseToken)
    /// Claim one payment. ``EngineInput/claimed(_:_:)``.
    case claim(PaymentID, holder: String, leaseFor: Span)
    /// Insert a new payment, after a pause. ``EngineInput/inserted(ticket:_:)``.
    case insert(ticket: Int, PaymentChange, after: Span)
    /// Read the record of a key. ``EngineInput/lookedUp(ticket:_:)``.
    case lookUp(ticket: Int, caller: CallerID, key: IdempotencyKey)
    /// Read the payment whose identifier a new one wanted. ``EngineInput/occupant(ticket:_:)``.
    case readOccupant(ticket: Int, PaymentID)
    /// Read a payment that another holder has, to write to it without a lease. ``EngineInput/readToWrite(_:_:)``.
    case readToWrite(Int, PaymentID)
    /// Make a change durable without a lease. ``EngineInput/wrote(_:_:)``.
    case write(Int, PaymentChange)
    /// Claim what is due. ``EngineInput/claimedDue(_:_:)``.
    case claimDue(ClaimRequest)
    /// Claim what waits for a provider that answers again. ``EngineInput/claimedWaiting(_:_:)``.
    case claimWaiting(WaitingRequest)
    /// Ask when something is due next. ``EngineInput/nextDue(_:)``.
    case askNextDue(DueScope)
    /// Read, after a pause, so many payments that rest, newest first, after a place. ``EngineInput/resting(after:_:)``.
    case readResting(after: PageCursor?, limit: Int, pause: Span)
    /// Prolong leases. ``EngineInput/renewed(_:_:)``.
    case renew([PaymentID: LeaseToken], leaseFor: Span)

    /// Ask, after a pause, how far the log is written and how much of it the standby has on disk.
    /// ``EngineInput/standby(_:)``.
    case askStandby(after: Span)

    // Of time.

    /// Wait for a moment. ``EngineInput/woke(_:)``.
    case wake(at: Timestamp)
    /// Wait before leases are prolonged. ``EngineInput/renewalIsDue``.
    case renewLater(after: Span)

    // Of providers and people.

    /// Execute this; the change that decided it is durable. What a request or an inquiry brought comes back as
    /// ``EngineInput/learned(_:_:_:)``.
    case perform(PaymentID, LeaseToken, PaymentAction)

    // Of whoever waits.

    /// Answer whoever has this ticket.
    case answer(ticket: Int, EngineAnswer)
    /// A payment is durable as it is here; `kept` is the answer that was kept with the change that made it so.
    case announce(Payment, kept: StoredAnswer?)
    /// Write down what happened.
    case note(EngineNote)
}

/// What came of a wish.
public enum EngineAnswer: Sendable {
    /// The new payment is durable, and in work.
    case created(Payment)
    /// The key was used before; nothing was written.
    case duplicate(IdempotencyRecord)
    /// The payment's place is taken: a comparison found it at a provider before its caller came again, and undoes it.
    case undone
    /// Nothing new is taken.
    case notAccepting(reason: String)
    /// A caller's request was taken or refused.
    case answered(OperationRunner.Answer)
    /// What was to be told is with the payment, or durable for whoever holds it.
    case told
    /// The store could not do it.
    case failed(StoreFailure)
    /// It is not known what became of it.
    case lost
}

/// Something for the log.
public enum EngineNote: Sendable, Hashable {
    /// A payment was left to its next holder.
    case left(PaymentID, reason: String)
    /// Nobody can act for a payment at these providers, as they are configured.
    case missingProviders(PaymentID, [MissingProvider])
    /// The term is over: so many payments in work were left.
    case termOver(payments: Int)
    /// Latches count as acknowledged although the standby has not confirmed them for too long.
    case countedUnconfirmed(PaymentID, waited: Span)
    /// A provider answers again after so many failures in a row.
    case providerReturned(ProviderName, failures: Int)
    /// A sweep brought so many payments.
    case swept(Int)
}
