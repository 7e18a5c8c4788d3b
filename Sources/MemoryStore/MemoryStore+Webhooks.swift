public import PaymentCore
public import Reconciler

extension MemoryStore: WebhookStore {
    /// Sets whose payments are reported from now on.
    public func report(to callers: Set<CallerID>) { model.reportsTo = callers }

    /// Claims rows of a caller that are due, the longest overdue first.
    public func claimWebhooks(_ request: WebhookClaimRequest) async throws(StoreFailure) -> [ClaimedWebhook] {
        try perform(.claimWebhooks) { model.claimWebhooks(request, at: moment()) }
    }

    /// Writes what became of a delivery, and ends its lease.
    public func settleWebhook(_ settlement: WebhookSettlement) async throws(StoreFailure) -> Bool {
        try perform(.settleWebhook) { model.settleWebhook(settlement, at: moment()) }
    }

    /// When the next row of each caller can be claimed.
    public func nextWebhooks(of callers: [CallerID]) async throws(StoreFailure) -> [CallerID: Timestamp] {
        try perform(.nextWebhooks) { model.nextWebhooks(of: callers) }
    }

    /// Reads the row of a payment.
    public func webhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        try perform(.webhook) { model.webhooks[payment]?.webhook }
    }

    /// Reads rows, newest first by (raised_at, payment).
    public func webhooks(_ query: WebhookQuery) async throws(StoreFailure) -> CursorPage<Webhook, WebhookCursor> {
        try perform(.webhooks) { model.webhooks(query) }
    }

    /// Makes the row of a payment due at once.
    public func redeliverWebhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        try perform(.redeliverWebhook) { model.redeliverWebhook(of: payment, at: moment()) }
    }

    /// Makes all rows of a caller that were given up due at once.
    public func redeliverWebhooks(of caller: CallerID) async throws(StoreFailure) -> Int {
        try perform(.redeliverWebhook) { model.redeliverWebhooks(of: caller, at: moment()) }
    }

    /// Counts rows whose newest report was not accepted.
    public func webhookCounts() async throws(StoreFailure) -> [WebhookCount] {
        try perform(.webhookCounts) { model.webhookCounts() }
    }
}
