internal import PaymentCore
internal import Reconciler

/// Webhooks that wait until their callers have accepted them.
extension StoreModel {
    /// A row, and the lease on it.
    struct WebhookRow: Sendable {
        var webhook: Webhook
        var token = LeaseToken(0)
        /// While somebody delivers it; it is due again then.
        var leaseUntil: Timestamp?
    }

    /// Raises a report where the payment shows its caller something new.
    mutating func raiseWebhook(of payment: Payment) {
        guard reportsTo.contains(payment.caller) else { return }
        guard let reported = payment.reportedState else {
            webhooks[payment.id]?.webhook.reported = nil
            return
        }
        guard var row = webhooks[payment.id] else {
            let webhook = Webhook(
                payment: payment.id, caller: payment.caller, reported: reported, raisedAt: payment.updatedAt,
                dueAt: payment.updatedAt)
            webhooks[payment.id] = WebhookRow(webhook: webhook)
            return
        }
        guard row.webhook.reported != reported else { return }
        row.webhook.reported = reported
        row.raise(at: payment.updatedAt)
        webhooks[payment.id] = row
    }

    mutating func claimWebhooks(_ request: WebhookClaimRequest, at now: Timestamp) -> [ClaimedWebhook] {
        let due = webhooks.values.filter { row in
            row.webhook.caller == request.caller && row.webhook.dueAt.map { $0 <= now } ?? false
        }
        .map(\.webhook).sorted { ($0.dueAt ?? now, $0.payment) < ($1.dueAt ?? now, $1.payment) }
        return due.prefix(max(0, request.limit)).compactMap { webhook in
            guard var row = webhooks[webhook.payment] else { return nil }
            row.token = LeaseToken(row.token.number + 1)
            row.leaseUntil = now + request.leaseFor
            row.webhook.dueAt = row.leaseUntil
            webhooks[webhook.payment] = row
            return ClaimedWebhook(webhook: row.webhook, token: row.token)
        }
    }

    mutating func settleWebhook(_ settlement: WebhookSettlement, at now: Timestamp) -> Bool {
        guard var row = webhooks[settlement.payment], row.token == settlement.token, row.leaseUntil != nil else {
            return false
        }
        row.settle(settlement, at: now)
        webhooks[settlement.payment] = row
        return true
    }

    mutating func redeliverWebhook(of payment: PaymentID, at now: Timestamp) -> Webhook? {
        guard var row = webhooks[payment] else { return nil }
        row.raise(at: now)
        webhooks[payment] = row
        return row.webhook
    }

    mutating func redeliverWebhooks(of caller: CallerID, at now: Timestamp) -> Int {
        let given = webhooks.values.filter { $0.webhook.caller == caller && $0.webhook.state == .givenUp }
        for row in given { _ = redeliverWebhook(of: row.webhook.payment, at: now) }
        return given.count
    }

    func nextWebhooks(of callers: [CallerID]) -> [CallerID: Timestamp] {
        var next: [CallerID: Timestamp] = [:]
        for row in webhooks.values where callers.contains(row.webhook.caller) {
            guard let dueAt = row.webhook.dueAt else { continue }
            next[row.webhook.caller] = min(next[row.webhook.caller] ?? dueAt, dueAt)
        }
        return next
    }

    func webhooks(_ query: WebhookQuery) -> CursorPage<Webhook, WebhookCursor> {
        let found = webhooks.values.map(\.webhook).filter { query.includes($0) }
            .sorted { ($0.raisedAt, $0.payment) > ($1.raisedAt, $1.payment) }
        return CursorPage(Array(found.prefix(query.boundedLimit + 1)), limit: query.boundedLimit)
    }

    func webhookCounts() -> [WebhookCount] {
        var counts: [CallerID: WebhookCount] = [:]
        for webhook in webhooks.values.map(\.webhook) where webhook.state != .delivered {
            var count =
                counts[webhook.caller]
                ?? WebhookCount(caller: webhook.caller, waiting: 0, givenUp: 0, oldestWaiting: nil)
            if webhook.state == .waiting {
                count.waiting += 1
                count.oldestWaiting = min(count.oldestWaiting ?? webhook.raisedAt, webhook.raisedAt)
            } else {
                count.givenUp += 1
            }
            counts[webhook.caller] = count
        }
        return counts.values.sorted { $0.caller.name < $1.caller.name }
    }
}

extension StoreModel.WebhookRow {
    /// One more report. Whoever delivers the one before it goes on until its lease ends, so that no two are on the wire
    /// at once.
    mutating func raise(at now: Timestamp) {
        webhook.raised += 1
        webhook.raisedAt = now
        webhook.attempts = 0
        webhook.failure = nil
        if leaseUntil == nil { webhook.dueAt = now }
    }

    mutating func settle(_ settlement: WebhookSettlement, at now: Timestamp) {
        leaseUntil = nil
        let isNewest = settlement.raised == webhook.raised
        webhook.dueAt = isNewest ? nil : now
        switch settlement.outcome {
        case .accepted:
            webhook.delivered = max(webhook.delivered, settlement.raised)
            webhook.deliveredAt = now
        case .again(let pause, let failure):
            guard isNewest else { return }
            webhook.dueAt = now + pause
            webhook.attempts += 1
            webhook.failure = failure
        case .postponed(let pause): if isNewest { webhook.dueAt = now + pause }
        case .givenUp(let failure):
            guard isNewest else { return }
            webhook.attempts += 1
            webhook.failure = failure
        }
    }
}

extension WebhookQuery {
    fileprivate func includes(_ webhook: Webhook) -> Bool {
        if let caller, caller != webhook.caller { return false }
        if let state, state != webhook.state { return false }
        guard let after else { return true }
        return (webhook.raisedAt, webhook.payment) < (after.raisedAt, after.payment)
    }
}
