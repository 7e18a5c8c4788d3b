import PaymentCore
import Reconciler
import Synchronization

/// Webhooks as a test tells them; callers only read them.
extension ScriptedOperations: WebhookStore {
    private static let refusal = StoreFailure(.other, operation: "write", cause: "callers only read")

    func webhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        let script = state.withLock { $0.script }
        if let failure = script.webhookFailure { throw failure }
        return script.webhooks.first { $0.payment == payment }
    }

    func claimWebhooks(_ request: WebhookClaimRequest) async throws(StoreFailure) -> [ClaimedWebhook] {
        throw Self.refusal
    }
    func settleWebhook(_ settlement: WebhookSettlement) async throws(StoreFailure) -> Bool { throw Self.refusal }
    func nextWebhooks(of callers: [CallerID]) async throws(StoreFailure) -> [CallerID: Timestamp] {
        throw Self.refusal
    }
    func webhooks(_ query: WebhookQuery) async throws(StoreFailure) -> CursorPage<Webhook, WebhookCursor> {
        throw Self.refusal
    }
    func redeliverWebhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? { throw Self.refusal }
    func redeliverWebhooks(of caller: CallerID) async throws(StoreFailure) -> Int { throw Self.refusal }
    func webhookCounts() async throws(StoreFailure) -> [WebhookCount] { throw Self.refusal }
}
