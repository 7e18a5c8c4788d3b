/// What can happen to a payment.
public enum PaymentEvent: Sendable, Hashable {
    /// Time passed; something may be due.
    case woke
    /// A worker took the payment over: whatever was under way has an unknown outcome.
    case claimed
    /// A worker took the payment over, and its rows are untrusted: both at once, because what is decided between
    /// the two would be decided on rows that may be wrong.
    case claimedAfterLoss(RecoveryWindow)
    /// An attempt ended.
    case attempted(leg: Int, effect: EffectReference, number: Int, AttemptReport)
    /// A status was read.
    case inquired(leg: Int, Observation)
    /// A provider that cannot be asked told what became of an effect.
    case notified(leg: Int, EffectNews)
    /// Somebody wants the status to be read now, whatever the schedule says.
    case inquireNow
    /// The caller asks again for what it asked before.
    case callerRepeated
    /// A provider answers again after it could not be reached: what waits for it only because of that is done now.
    case providerReturned(ProviderName)
    /// This latch is kept by every store that must keep it.
    case latchAcknowledged(Latch)
    /// Rows became untrusted.
    case recoveryOpened(RecoveryWindow)
    /// Somebody proposed what is to become of what waits for people.
    case repairProposed(Repair)
    /// Somebody decided about that.
    case repairDecided(Repair, Repair.Decision)
    /// A comparison of both sides found a difference.
    case compared(ComparedDifference)
    /// A comparison found disputes of a leg's charge in a listing.
    case disputed(leg: Int, [Dispute])
    /// A comparison found a transaction that is to be undone, and this payment is there to undo it.
    case unbooked(UnbookedTransaction)
}

/// What is to be done, once the change that asks for it is durable.
public enum PaymentAction: Sendable, Hashable {
    /// Send a request. Its intent is part of the change.
    case send(SendOrder)
    /// Read a status.
    case inquire(InquiryOrder)
    /// Tell a person.
    case alert(Alert)
}

/// One request that changes something at a provider.
public struct SendOrder: Sendable, Hashable {
    /// The payment.
    public let payment: PaymentID
    /// The leg's index.
    public let leg: Int
    /// The effect.
    public let effect: EffectReference
    /// The attempt's number.
    public let number: Int
    /// The provider.
    public let provider: ProviderName
    /// The kind of the effect.
    public let kind: EffectKind
    /// The key of the authorization or sale, under which the provider knows the transaction.
    public let transactionKey: EffectKey
    /// The key of the effect itself; the same for an authorization or sale.
    public let key: EffectKey
    /// The amount.
    public let amount: Money
    /// What is charged.
    public let instrument: Instrument
    /// Whose payment it is; goes into the provider's metadata, so that an orphan can be adopted.
    public let caller: CallerID
    /// The caller's reference.
    public let reference: String?
    /// The provider must not execute it after this moment, where it enforces that.
    public let notAfter: Timestamp?
    /// Not one byte may be written after this moment.
    public var startBefore: Timestamp
    /// The payment whose name the transaction bears, where that is another: a duplicate is undone beside the payment
    /// that it names.
    public let named: PaymentID?
    /// In how many steps the leg takes its money: by the contract under which it began, which may have been another.
    /// `nil`: as the provider's contract says now.
    public let phases: ProviderContract.Phases?
    /// The provider's own reference of the authorization or sale, where it has one that is known.
    public let transactionReference: String?

    /// Where the payer is sent back to after a step at the provider; `nil` where the payer is not present.
    public let returnURL: WebAddress?

    /// The payment that the provider shows with the transaction.
    public var shownPayment: PaymentID { named ?? payment }

    /// An order; only the machine makes those that are executed.
    public init(
        payment: PaymentID, leg: Int, effect: EffectReference, number: Int, provider: ProviderName, kind: EffectKind,
        transactionKey: EffectKey, key: EffectKey, amount: Money, instrument: Instrument, caller: CallerID,
        reference: String?, notAfter: Timestamp?, startBefore: Timestamp, named: PaymentID? = nil,
        phases: ProviderContract.Phases? = nil, transactionReference: String? = nil,
        returnURL: WebAddress? = nil
    ) {
        self.payment = payment
        self.leg = leg
        self.effect = effect
        self.number = number
        self.provider = provider
        self.kind = kind
        self.transactionKey = transactionKey
        self.key = key
        self.amount = amount
        self.instrument = instrument
        self.caller = caller
        self.reference = reference
        self.notAfter = notAfter
        self.startBefore = startBefore
        self.named = named
        self.phases = phases
        self.transactionReference = transactionReference
        self.returnURL = returnURL
    }
}

/// One status inquiry.
public struct InquiryOrder: Sendable, Hashable {
    /// The payment that the transaction must name, if it names one.
    public let payment: PaymentID
    /// The leg's index.
    public let leg: Int
    /// The provider.
    public let provider: ProviderName
    /// The key of the authorization or sale.
    public let transactionKey: EffectKey
    /// In how many steps the leg takes its money: by the contract under which it began, which may have been another.
    /// `nil`: as the provider's contract says now.
    public let phases: ProviderContract.Phases?
    /// The provider's own reference of the authorization or sale, where it has one that is known.
    public let transactionReference: String?

    /// An order; only the machine makes those that are executed.
    public init(
        payment: PaymentID, leg: Int, provider: ProviderName, transactionKey: EffectKey,
        phases: ProviderContract.Phases? = nil, transactionReference: String? = nil
    ) {
        self.payment = payment
        self.leg = leg
        self.provider = provider
        self.transactionKey = transactionKey
        self.phases = phases
        self.transactionReference = transactionReference
    }
}

/// Something that a person should look at.
public struct Alert: Sendable, Hashable {
    /// The payment.
    public let payment: PaymentID
    /// The leg's index; `nil` if it is about something that no leg has.
    public let leg: Int?
    /// The provider.
    public let provider: ProviderName
    /// What it is about, constant text.
    public let message: String

    /// An alert.
    public init(payment: PaymentID, leg: Int?, provider: ProviderName, message: String) {
        self.payment = payment
        self.leg = leg
        self.provider = provider
        self.message = message
    }
}
