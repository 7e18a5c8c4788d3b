public import PaymentCore

/// Where webhooks wait until a caller's endpoint has accepted them: one row for each payment that has something to
/// report.
///
/// A row is written in the commit that changes ``PaymentCore/Payment/reportedState``, so that no crash comes between
/// them. A row holds no document: whoever delivers it reads the payment as it is then. States that follow each other
/// quickly are so reported once, as the newest.
public protocol WebhookStore: Sendable {
    /// Claims rows of a caller that are due, the longest overdue first. Nobody else gets them until the lease ends.
    func claimWebhooks(_ request: WebhookClaimRequest) async throws(StoreFailure) -> [ClaimedWebhook]

    /// Writes what became of a delivery, and ends its lease.
    ///
    /// - Returns: `false`, and nothing is written, if the lease is not held any more.
    func settleWebhook(_ settlement: WebhookSettlement) async throws(StoreFailure) -> Bool

    /// When the next row of each caller can be claimed. Callers without one are not in it.
    func nextWebhooks(of callers: [CallerID]) async throws(StoreFailure) -> [CallerID: Timestamp]

    /// Reads the row of a payment; `nil` if nothing of it was ever reported.
    func webhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook?

    /// Reads rows, newest first by (raised_at, payment), 1 to 200 at a time.
    func webhooks(_ query: WebhookQuery) async throws(StoreFailure) -> CursorPage<Webhook, WebhookCursor>

    /// Makes the row of a payment due at once, whatever became of it before.
    ///
    /// - Returns: The row after that; `nil` if nothing of the payment was ever reported.
    func redeliverWebhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook?

    /// Makes all rows of a caller that were given up due at once; returns how many.
    func redeliverWebhooks(of caller: CallerID) async throws(StoreFailure) -> Int

    /// Counts rows whose newest report was not accepted, in order of their callers.
    func webhookCounts() async throws(StoreFailure) -> [WebhookCount]
}

/// What is reported of one payment to its caller, and how far that got.
public struct Webhook: Sendable, Hashable {
    /// Where the newest report stands.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The caller's endpoint has not accepted it yet.
        case waiting
        /// The caller's endpoint accepted it.
        case delivered
        /// It was tried for as long as the schedule has it. Only an operator, or the payment's next state, starts it
        /// again.
        case givenUp = "given_up"
    }

    /// The payment.
    public let payment: PaymentID
    /// Whose endpoint it goes to.
    public let caller: CallerID
    /// The digest of the newest state that was reported, see ``PaymentCore/Payment/reportedState``.
    ///
    /// `nil` if the payment was under way since: its next state at rest is a report, whatever it is.
    public var reported: Digest?
    /// The newest report's number, from 1.
    public var raised: Int64
    /// When the payment changed, by the clock of the daemon that changed it.
    public var raisedAt: Timestamp
    /// The number of the newest report that was accepted; 0 if none was.
    public var delivered: Int64
    /// When that was.
    public var deliveredAt: Timestamp?
    /// When the newest report is to be delivered; `nil` if it was accepted or given up.
    public var dueAt: Timestamp?
    /// How often the newest report was tried in vain.
    public var attempts: Int
    /// Why it was in vain the last time, as a short code.
    public var failure: String?

    /// Where the newest report stands.
    public var state: State {
        if dueAt != nil { return .waiting }
        return delivered >= raised ? .delivered : .givenUp
    }

    /// A row.
    public init(
        payment: PaymentID, caller: CallerID, reported: Digest?, raised: Int64 = 1, raisedAt: Timestamp,
        delivered: Int64 = 0, deliveredAt: Timestamp? = nil, dueAt: Timestamp?, attempts: Int = 0,
        failure: String? = nil
    ) {
        self.payment = payment
        self.caller = caller
        self.reported = reported
        self.raised = raised
        self.raisedAt = raisedAt
        self.delivered = delivered
        self.deliveredAt = deliveredAt
        self.dueAt = dueAt
        self.attempts = attempts
        self.failure = failure
    }
}

/// What a courier asks for.
public struct WebhookClaimRequest: Sendable, Hashable {
    /// Whose rows.
    public var caller: CallerID
    /// At most so many.
    public var limit: Int
    /// How long nobody else gets them.
    public var leaseFor: Span

    /// A request.
    public init(caller: CallerID, limit: Int, leaseFor: Span) {
        self.caller = caller
        self.limit = limit
        self.leaseFor = leaseFor
    }
}

/// A row, and the lease on it.
public struct ClaimedWebhook: Sendable, Hashable {
    /// The row as it was claimed.
    public let webhook: Webhook
    /// The lease.
    public let token: LeaseToken

    /// A claimed row.
    public init(webhook: Webhook, token: LeaseToken) {
        self.webhook = webhook
        self.token = token
    }
}

/// What became of one delivery.
public struct WebhookSettlement: Sendable, Hashable {
    /// What the row becomes.
    public enum Outcome: Sendable, Hashable {
        /// The endpoint accepted the report with this number.
        case accepted
        /// It is tried again after so long, by the store's clock.
        case again(after: Span, failure: String)
        /// It was not tried: the payment is under way. It is looked at after so long, or once the payment rests.
        case postponed(by: Span)
        /// It is not tried again by itself.
        case givenUp(failure: String)
    }

    /// The payment.
    public var payment: PaymentID
    /// The lease under which it was delivered.
    public var token: LeaseToken
    /// The number of the report that was claimed. A report that was raised since is due whatever became of this one.
    public var raised: Int64
    /// What the row becomes.
    public var outcome: Outcome

    /// A settlement.
    public init(of claimed: ClaimedWebhook, _ outcome: Outcome) {
        payment = claimed.webhook.payment
        token = claimed.token
        raised = claimed.webhook.raised
        self.outcome = outcome
    }
}

/// Which rows are wanted.
public struct WebhookQuery: Sendable, Hashable {
    /// Only this caller's.
    public var caller: CallerID?
    /// Only in this state.
    public var state: Webhook.State?
    /// Continue after this place.
    public var after: WebhookCursor?
    /// At most so many, 1 to 200.
    public var limit: Int

    /// All rows, newest first.
    public init(limit: Int = 50) { self.limit = limit }

    /// The limit that counts.
    public var boundedLimit: Int { min(max(limit, 1), 200) }
}

/// A place in the listing of webhooks, newest first.
public struct WebhookCursor: Sendable, Hashable {
    /// When the last one seen was raised.
    public var raisedAt: Timestamp
    /// Its payment.
    public var payment: PaymentID

    /// A place.
    public init(raisedAt: Timestamp, payment: PaymentID) {
        self.raisedAt = raisedAt
        self.payment = payment
    }
}

extension CursorPage where Item == Webhook, Cursor == WebhookCursor {
    /// A page of what was found, of which one more than `limit` was asked for.
    public init(_ found: [Webhook], limit: Int) {
        self.init(found, limit: limit) { WebhookCursor(raisedAt: $0.raisedAt, payment: $0.payment) }
    }
}

/// How many rows of a caller are not accepted.
public struct WebhookCount: Sendable, Hashable {
    /// Whose.
    public var caller: CallerID
    /// How many wait.
    public var waiting: Int
    /// How many were given up.
    public var givenUp: Int
    /// Since when the oldest one waits; `nil` if none does.
    public var oldestWaiting: Timestamp?

    /// A count.
    public init(caller: CallerID, waiting: Int, givenUp: Int, oldestWaiting: Timestamp?) {
        self.caller = caller
        self.waiting = waiting
        self.givenUp = givenUp
        self.oldestWaiting = oldestWaiting
    }
}
