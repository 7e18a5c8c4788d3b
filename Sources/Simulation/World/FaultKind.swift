/// The kinds of fault that a run may draw. Each seed draws its own mix of them, and its own rates.
public enum FaultKind: String, Sendable, Hashable, CaseIterable {
    /// A request never arrives.
    case requestLost = "request_lost"
    /// A request is executed, and its answer never comes.
    case answerLost = "answer_lost"
    /// A second copy of a request arrives as well, later.
    case requestDuplicated = "request_duplicated"
    /// A request arrives seconds to hours late; others overtake it.
    case requestDelayed = "request_delayed"
    /// Not one byte of a request leaves.
    case requestUnsent = "request_unsent"
    /// The provider asks to slow down.
    case throttled
    /// The provider answers everything so for a while.
    case throttlingStorm = "throttling_storm"
    /// The provider answers 5xx or nonsense, after executing or not.
    case serverError = "server_error"
    /// Our credentials are refused once.
    case credentialsRefused = "credentials_refused"
    /// The provider calls the request wrong.
    case requestRefused = "request_refused"
    /// The provider declines for a business reason.
    case declined
    /// A status cannot be read.
    case inquiryFailed = "inquiry_failed"
    /// A status read shows an earlier state, within the contract's visibility lag.
    case inquiryStale = "inquiry_stale"
    /// The answer to an inquiry takes minutes.
    case inquirySlow = "inquiry_slow"
    /// A transaction stays undecided for a while.
    case transactionPending = "transaction_pending"
    /// The provider shows another amount than it was asked for.
    case contradiction
    /// The provider cannot be reached at all, for minutes up to a day.
    case providerOutage = "provider_outage"
    /// Somebody changes a transaction at the provider's own console.
    case changedOutside = "changed_outside"
    /// A notification arrives, late, twice or out of order.
    case notification
    /// A replica stops before a commit reached the store.
    case crashBeforeCommit = "crash_before_commit"
    /// A replica stops after a commit, before what it decided is begun.
    case crashAfterCommit = "crash_after_commit"
    /// A replica stops while requests are on the wire.
    case crashAtAnswer = "crash_at_answer"
    /// A replica does nothing for longer than its leases, and then goes on as if nothing had happened.
    case replicaPaused = "replica_paused"
    /// A replica's own clock jumps or runs ahead or behind.
    case clockSkewed = "clock_skewed"
    /// The store refuses a change for a moment.
    case storeBusy = "store_busy"
    /// It is not known whether a change was written; it was, or it was not.
    case commitIndeterminate = "commit_indeterminate"
    /// A replica cannot reach the store for a while, but can reach the providers.
    case storePartitioned = "store_partitioned"
    /// The standby takes over with every acknowledged row.
    case failover
    /// The standby takes over without the latest rows.
    case failoverLosingRows = "failover_losing_rows"
    /// The site is given back.
    case failback
    /// The link between the sites is down for a while.
    case sitesPartitioned = "sites_partitioned"
    /// The caller gives up waiting and asks again under the same key, several times.
    case callerRepeats = "caller_repeats"
    /// The caller cancels at some moment.
    case callerCancels = "caller_cancels"
}
