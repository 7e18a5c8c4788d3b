public import PaymentCore
package import Reconciler

/// A bug that is put into a run on purpose, to see that the checks find it. Nothing of it is in the shipped path: it is
/// an injected table, or something that the simulated surroundings do wrong.
public struct Plant: Sendable {
    /// The name.
    public let name: String
    /// What is wrong, in a sentence.
    public let sentence: String
    /// The table that decides on effects.
    public var effectTable: EffectTable
    /// The table that decides on payments.
    public var paymentTable: PaymentTable
    /// The table that judges what both sides say.
    public var comparisonTable: ComparisonTable
    /// The table that decides about what people propose.
    public var repairTable = RepairTable.shipped
    /// What is done wrong around the decisions.
    public var sabotage: Set<Sabotage>
    /// Which rules of the engine are broken.
    package var breaches: Set<EngineRules.Breach> = []
    /// Where it shows within few seeds.
    public var surroundings: Surroundings

    /// A planted bug.
    public init(
        name: String, sentence: String, effectTable: EffectTable = .shipped, paymentTable: PaymentTable = .shipped,
        comparisonTable: ComparisonTable = .shipped, sabotage: Set<Sabotage> = [],
        surroundings: Surroundings = Surroundings()
    ) {
        self.name = name
        self.sentence = sentence
        self.effectTable = effectTable
        self.paymentTable = paymentTable
        self.comparisonTable = comparisonTable
        self.sabotage = sabotage
        self.surroundings = surroundings
    }

    /// Nothing is planted: what is run is what ships.
    public static let none = Plant(name: "none", sentence: "Everything as it ships.")
}

/// Ways to get wrong what surrounds the decisions: the store, the engine, the wire, the sites.
public enum Sabotage: Int, Sendable, Hashable, CaseIterable {
    /// The store takes a change that was made from an older version: the last write wins.
    case versionIgnored
    /// The store takes changes under leases that ended.
    case leaseTokenIgnored
    /// Requests leave before the change that decided them is durable.
    case sendsBeforeCommit
    /// What an answer carried counts as an inquiry.
    case answersPassForInquiries
    /// A status read is dated by its end instead of its beginning.
    case readsJudgedByTheirEnd
    /// Every attempt goes out under a key of its own.
    case newKeyForEachAttempt
    /// Keys are derived without the caller.
    case keyWithoutCaller
    /// Commits count as acknowledged although the standby follows behind.
    case commitsCalledAcknowledged
    /// After a failover that lost rows, rows are trusted at once.
    case recoverySkipped
    /// In a recovery window every read counts, however early it began.
    case staleReadsCountInRecovery
    /// The `not_after` of lost rows' requests is not waited for.
    case lostNotAfterForgotten
    /// Notifications are taken for status reads.
    case notificationsBelieved
    /// A second create under one key makes a payment anew.
    case duplicateCreateAccepted
    /// A request leaves however long ago its intent was written.
    case sendTimeNotBounded
    /// Keys count as kept for ever.
    case retentionIgnored
    /// Declines count as bound to their key.
    case declinesTakenForBound
    /// What is due for longer than a day is not looked for.
    case overdueHasLowerBound
    /// After some tries an undecided payment is left alone.
    case givesUpAfterTries
    /// The best outcome of all attempts counts instead of the worst.
    case outcomeBestInsteadOfWorst
    /// Now and then an audit entry is lost.
    case auditEntryDropped
    /// The instrument's token is written into the audit trail.
    case secretInAudit
    /// A create is answered before it is durable.
    case acknowledgedBeforeDurable
    /// A site that lost its term goes on.
    case oldSiteGoesOn
    /// A site's lease counts from its answer, instead of from before the question.
    case leaseCountsFromAnswer
    /// A site's lease, once it was given, does not end.
    case leaseHasNoEnd
    /// A site is promoted although the lease of the other one runs.
    case promotedTooEarly
    /// Whoever proposed a repair approves it, and the store takes it.
    case ownRepairApproved
    /// Refunds are taken without reserving their amounts.
    case refundsNotReserved
    /// What is to be undone is known only to the process that sends it.
    case compensationNotRegistered
    /// A commit of which nothing is known counts as failed.
    case indeterminateCommitTakenForFailed
    /// A commit of which nothing is known counts as done.
    case indeterminateCommitTakenForDone
    /// Only what the own process knows of is looked at: what a crash left is not looked for.
    case pollsOnlyEvents
    /// A replica that is told to stop never finishes.
    case drainNeverEnds
    /// Whoever wants to work at a comparison does, whoever has its lane.
    case laneIgnored
    /// After each run a window is left out.
    case windowSkipped
    /// A comparison takes a provider that does not answer for one that knows nothing of the key.
    case silenceTakenForAbsence
    /// Now and then a page of a listing is passed over.
    case listingPageSkipped
    /// What changed a moment ago is compared.
    case flightIgnored
    /// A comparison does not find the legs of payments that ended.
    case endedPaymentsForgotten
    /// What the policy wants is written down, and nobody is told of it.
    case settlementForgotten
    /// The memory of what was compared loses a position of each step.
    case positionDropped
    /// What names no store counts as the store's own.
    case storelessTakenForOurs
    /// The first request of an operation waits a minute in a queue.
    case firstRequestsQueued
    /// Signed news count for the payment that they were delivered to, whatever they name.
    case newsOfAnybodyBelieved
}
