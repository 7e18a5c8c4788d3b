public import PaymentCore

/// An unsafe decision, planted to see that the search finds it. Nothing of it is in the shipped path.
public struct SearchPlant: Sendable {
    /// Changes that are not rows of a table.
    public enum BehaviorChange: String, Sendable, Hashable, CaseIterable {
        /// Every request is executed as if its key had never been seen: a new key for each attempt, or keys that the
        /// provider does not honour.
        case keysNotHonoured
        /// The provider executes requests after the moment that it promised to refuse them from.
        case notAfterNotEnforced
        /// A status read is dated by its end.
        case readsDatedByTheirEnd
        /// Requests leave before the change that decided them is durable.
        case sendsBeforeCommit
        /// A second task of the same worker writes what it decided on an older version.
        case lateWritesAccepted
        /// The same, and only a cancel handler beside the worker writes in between.
        case lateWritesAcceptedBesideHandler
        /// Latches are called acknowledged although rows may be lost.
        case latchesCalledAcknowledged
        /// No recovery window is opened.
        case recoverySkipped
        /// Reads in a recovery window count although they may show what was before the loss.
        case staleReadsCount
        /// In a recovery window `not_after` is judged by the surviving rows only.
        case lostNotAfterForgotten
        /// A refund that is asked for after lost rows is not told of the window.
        case refundsOutsideWindow
        /// Requests live longer than the contract assumes.
        case requestsOutliveTheirLife
        /// A refusal that names no key is believed.
        case keylessAnswersBelieved
        /// A provider that cannot be asked refuses a request, naming its key, although the key stands for something.
        case keysComeLast
        /// News of another payment are taken for news of the payment that they were delivered to.
        case newsOfAnybodyBelieved
        /// People say what the provider's books show while a request is still on its way.
        case peopleDoNotWait
        /// The old site goes on deciding on its own copy.
        case oldSiteGoesOn
    }

    /// Its name: the run of the models, or ours.
    public let name: String
    /// What it does, in a sentence.
    public let sentence: String
    /// The effect table with the change.
    public let effectTable: EffectTable
    /// The payment table with the change.
    public let paymentTable: PaymentTable
    /// The other changes.
    public let behaviorChanges: Set<BehaviorChange>

    /// A planted change.
    public init(
        _ name: String, _ sentence: String, effectTable: EffectTable = .shipped, paymentTable: PaymentTable = .shipped,
        behaviorChanges: Set<BehaviorChange> = []
    ) {
        self.name = name
        self.sentence = sentence
        self.effectTable = effectTable
        self.paymentTable = paymentTable
        self.behaviorChanges = behaviorChanges
    }

    /// The shipped decision.
    public static let none = SearchPlant("shipped", "the shipped decision")
}
