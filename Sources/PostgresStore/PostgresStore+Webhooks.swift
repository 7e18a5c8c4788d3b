public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore: WebhookStore {
    /// Claims rows of a caller that are due, the longest overdue first.
    public func claimWebhooks(_ request: WebhookClaimRequest) async throws(StoreFailure) -> [ClaimedWebhook] {
        guard request.limit > 0 else { return [] }
        let statement = WebhookStatements.claim(request, clock: clock.parameter)
        return try await write("claim webhooks") { connection in
            let (rows, warnings) = try connection.run([statement])
            let claimed = try rows.first?.map { row in
                ClaimedWebhook(
                    webhook: try WebhookRow.webhook(row, from: 1), token: LeaseToken(try row.number(0)))
            }
            return (claimed ?? [], warnings)
        }
    }

    /// Writes what became of a delivery, and ends its lease.
    public func settleWebhook(_ settlement: WebhookSettlement) async throws(StoreFailure) -> Bool {
        let statement = WebhookStatements.settle(settlement, clock: clock.parameter)
        return try await write("settle webhook") { connection in
            let (rows, warnings) = try connection.run([statement])
            return (rows.first?.count == 1, warnings)
        }
    }

    /// When the next row of each caller can be claimed.
    public func nextWebhooks(of callers: [CallerID]) async throws(StoreFailure) -> [CallerID: Timestamp] {
        let statement = WebhookStatements.next(of: callers)
        return try await perform("next webhooks") { connection in
            var next: [CallerID: Timestamp] = [:]
            let rows = try connection.run([statement]).rows.first
            for (caller, due) in try rows?.map({ (try $0.word(0), try $0.int(1)) }) ?? [] {
                guard let due, let known = callers.first(where: { $0.name == caller }) else { continue }
                next[known] = Timestamp(milliseconds: due)
            }
            return next
        }
    }

    /// Reads the row of a payment.
    public func webhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        try await confirmed("webhook") { connection in
            try connection.rows(
                "SELECT \(WebhookRow.names) FROM webhooks WHERE payment_id = $1", [.text(payment.text)]
            ).map { try WebhookRow.webhook($0) }.first
        }
    }

    /// Reads rows, newest first by (raised_at, payment), 1 to 200 at a time.
    public func webhooks(_ query: WebhookQuery) async throws(StoreFailure) -> CursorPage<Webhook, WebhookCursor> {
        let limit = query.boundedLimit
        var filter = ListingFilter(query, mark: "$")
        let sql = filter.rows(
            WebhookRow.names, of: WebhookRow.table, by: "raised_at DESC, payment_id DESC", limit: limit + 1)
        let parameters = filter.values.map { Parameter($0) }
        let found = try await confirmed("webhooks") { connection in
            try connection.rows(sql, parameters).map { try WebhookRow.webhook($0) }
        }
        return CursorPage(found, limit: limit)
    }

    /// Makes the row of a payment due at once.
    public func redeliverWebhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        try await redeliver(where: "payment_id = $2", payment.text).first
    }

    /// Makes all rows of a caller that were given up due at once.
    public func redeliverWebhooks(of caller: CallerID) async throws(StoreFailure) -> Int {
        // In parts, so that a round trip ends in time. Whoever is in the way is passed over, so that no two wait for
        // each other.
        let part = """
            payment_id IN (SELECT payment_id FROM webhooks WHERE caller = $2 AND due_at IS NULL AND \(WebhookRow.isOpen)
                ORDER BY raised_at, payment_id LIMIT \(WebhookRow.part) FOR UPDATE SKIP LOCKED)
            """
        return try await WebhookRow.inParts { () async throws(StoreFailure) in
            try await redeliver(where: part, caller.name).count
        }
    }

    private func redeliver(where condition: String, _ subject: String) async throws(StoreFailure) -> [Webhook] {
        let statement = WebhookStatements.redeliver(where: condition, subject, clock: clock.parameter)
        return try await write("redeliver webhooks") { connection in
            let (rows, warnings) = try connection.run([statement])
            return (try rows.first?.map { try WebhookRow.webhook($0) } ?? [], warnings)
        }
    }

    /// Counts rows whose newest report was not accepted.
    public func webhookCounts() async throws(StoreFailure) -> [WebhookCount] {
        try await perform("webhook counts") { connection in
            try connection.rows(WebhookRow.counts).map { try WebhookRow.count($0) }
        }
    }
}
