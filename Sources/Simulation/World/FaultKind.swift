/// The kinds of fault that a run may draw. Each seed draws its own mix of them, and its own rates.
///
/// The raw value is the place in this list. It goes into chance and into the hash of a run, so that a new kind belongs
/// at the end: anywhere else it would make another run of every seed.
public enum FaultKind: Int, Sendable, Hashable, CaseIterable {
    /// A request never arrives.
    case requestLost
    /// A request is executed, and its answer never comes.
    case answerLost
    /// A second copy of a request arrives as well, later.
    case requestDuplicated
    /// A request arrives seconds to hours late; others overtake it.
    case requestDelayed
    /// Not one byte of a request leaves.
    case requestUnsent
    /// The provider asks to slow down.
    case throttled
    /// The provider answers everything so for a while.
    case throttlingStorm
    /// The provider answers 5xx or nonsense, after executing or not.
    case serverError
    /// Our credentials are refused once.
    case credentialsRefused
    /// The provider calls the request wrong.
    case requestRefused
    /// The provider declines for a business reason.
    case declined
    /// A status cannot be read.
    case inquiryFailed
    /// A status read shows an earlier state, within the contract's visibility lag.
    case inquiryStale
    /// The answer to an inquiry takes minutes.
    case inquirySlow
    /// A transaction stays undecided for a while.
    case transactionPending
    /// The provider shows another amount than it was asked for.
    case contradiction
    /// The provider cannot be reached at all, for minutes up to a day.
    case providerOutage
    /// Somebody changes a transaction at the provider's own console.
    case changedOutside
    /// A notification arrives, late, twice or out of order.
    case notification
    /// A replica stops before a commit reached the store.
    case crashBeforeCommit
    /// A replica stops after a commit, before what it decided is begun.
    case crashAfterCommit
    /// A replica stops while requests are on the wire.
    case crashAtAnswer
    /// A replica does nothing for longer than its leases, and then goes on as if nothing had happened.
    case replicaPaused
    /// A replica's own clock jumps or runs ahead or behind.
    case clockSkewed
    /// The store refuses a change for a moment.
    case storeBusy
    /// It is not known whether a change was written; it was, or it was not.
    case commitIndeterminate
    /// A replica cannot reach the store for a while, but can reach the providers.
    case storePartitioned
    /// The standby takes over with every acknowledged row.
    case failover
    /// The standby takes over without the latest rows.
    case failoverLosingRows
    /// The site is given back.
    case failback
    /// The link between the sites is down for a while.
    case sitesPartitioned
    /// The caller gives up waiting and asks again under the same key, several times.
    case callerRepeats
    /// The caller cancels at some moment.
    case callerCancels
    /// A replica stops in the middle of a comparison, before or after it carried out an order.
    case comparisonInterrupted
    /// A comparison's page cannot be read, or its store fails for a moment.
    case comparisonFailed
    /// A listing, or the answer to a comparison's question, shows an earlier state, within the visibility lag.
    case listingStale
    /// The provider does not take the cursor of its listing any more.
    case cursorRefused
    /// The provider has a transaction that names a payment which nobody has.
    case plantedOrphan
    /// The provider has a second transaction for a leg.
    case plantedDuplicate
    /// The provider has a transaction that names nobody.
    case plantedForeign
    /// The provider shows another amount of what is settled.
    case amountChanged
    /// A refund that succeeded is taken out of the provider's books.
    case refundRemoved
    /// The provider forgets a transaction that succeeded.
    case transactionForgotten
    /// The provider's listing withholds a transaction for a time.
    case listingHides
    /// The provider has a second transaction under the key of a leg.
    case plantedTwice
    /// The provider has a transaction of another store, which names a payment of that or a leg of ours.
    case plantedOtherStore
    /// The provider has a transaction that names a payment which nobody has, and no store.
    case plantedStoreless
    /// A write beside a payment's holder takes up to seconds.
    case storeSlow
    /// The witness answers no site for a while.
    case witnessAway
    /// A payer disputes a charge; it is decided later, either way.
    case disputed
    /// A notification that is signed, and is about another payment, or names an amount that nobody asked for.
    case notificationAstray
    /// The provider answers 500, after executing or not, and answers so under that key for up to a day.
    case errorStored
}

extension FaultKind {
    /// Its name on the command line and in results: `request_lost`.
    public var name: String {
        var name = ""
        for letter in "\(self)" { name += letter.isUppercase ? "_\(letter.lowercased())" : String(letter) }
        return name
    }

    /// The kind of that name; nil if there is none.
    public init?(named name: String) {
        guard let kind = FaultKind.allCases.first(where: { $0.name == name }) else { return nil }
        self = kind
    }

    /// Whether somebody else does it, at a provider, to be found by comparing.
    public var isPlantedDifference: Bool {
        switch self {
        case .plantedOrphan, .plantedDuplicate, .plantedForeign, .amountChanged, .refundRemoved,
            .transactionForgotten, .listingHides, .plantedTwice, .plantedOtherStore, .plantedStoreless:
            true
        default: false
        }
    }

    /// A word for chance, the same in every run.
    var word: UInt64 { 0x4641_554C_5400_0000 | UInt64(rawValue) }
}
