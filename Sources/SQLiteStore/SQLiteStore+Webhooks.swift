internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore: WebhookStore {
    /// Claims rows of a caller that are due, the longest overdue first.
    public func claimWebhooks(_ request: WebhookClaimRequest) async throws(StoreFailure) -> [ClaimedWebhook] {
        guard request.limit > 0 else { return [] }
        let clock = clock
        return try await queue.write("claim webhooks") { db in
            let now = clock.now()
            let due = try db.cachedStatement(
                sql: """
                    SELECT payment_id FROM webhooks WHERE caller = ? AND due_at IS NOT NULL AND due_at <= ?
                    ORDER BY due_at, payment_id LIMIT ?
                    """
            ).map([.text(request.caller.name), .int(now.milliseconds), .int(Int64(request.limit))]) { try $0.word(0) }
            let until = (now + request.leaseFor).milliseconds
            return try due.compactMap { payment in
                try db.cachedStatement(
                    sql: """
                        UPDATE webhooks SET token = token + 1, lease_until = ?1, due_at = ?1 WHERE payment_id = ?2
                        RETURNING token, \(WebhookRow.names)
                        """
                ).first([.int(until), .text(payment)]) { row in
                    ClaimedWebhook(
                        webhook: try WebhookRow.webhook(row, from: 1), token: LeaseToken(try row.number(0)))
                }
            }
        }
    }

    /// Writes what became of a delivery, and ends its lease.
    public func settleWebhook(_ settlement: WebhookSettlement) async throws(StoreFailure) -> Bool {
        let clock = clock
        let values = WebhookRow.values(of: settlement)
        let count = values.count
        return try await queue.write("settle webhook") { db in
            let change = WebhookRow.settle(settlement.outcome, now: "?\(count + 1)") { "?\($0)" }
            let place: [ColumnValue] = [
                .int(clock.now().milliseconds), .text(settlement.payment.text), .int(settlement.token.number),
            ]
            try db.cachedStatement(
                sql: """
                    UPDATE webhooks SET \(change)
                    WHERE payment_id = ?\(count + 2) AND token = ?\(count + 3) AND lease_until IS NOT NULL
                    """
            ).execute(arguments: StatementArguments(values + place))
            return db.changesCount > 0
        }
    }

    /// When the next row of each caller can be claimed.
    public func nextWebhooks(of callers: [CallerID]) async throws(StoreFailure) -> [CallerID: Timestamp] {
        try await read("next webhooks") { db in
            let next = try db.cachedStatement(
                sql: "SELECT min(due_at) FROM webhooks WHERE caller = ? AND due_at IS NOT NULL")
            var found: [CallerID: Timestamp] = [:]
            for caller in callers {
                found[caller] = try next.first([.text(caller.name)]) { $0.int(0) }
                    .map { Timestamp(milliseconds: $0) }
            }
            return found
        }
    }

    /// Reads the row of a payment.
    public func webhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        try await read("webhook") { db in try WebhookRow.find(payment, db) }
    }

    /// Reads rows, newest first by (raised_at, payment), 1 to 200 at a time.
    public func webhooks(_ query: WebhookQuery) async throws(StoreFailure) -> CursorPage<Webhook, WebhookCursor> {
        let limit = query.boundedLimit
        var filter = ListingFilter(query, mark: "?")
        let sql = filter.rows(
            WebhookRow.names, of: WebhookRow.table, by: "raised_at DESC, payment_id DESC", limit: limit + 1)
        let values = filter.values
        let found = try await read("webhooks") { db in
            try db.cachedStatement(sql: sql).map(values) { try WebhookRow.webhook($0) }
        }
        return CursorPage(found, limit: limit)
    }

    /// Makes the row of a payment due at once.
    public func redeliverWebhook(of payment: PaymentID) async throws(StoreFailure) -> Webhook? {
        let clock = clock
        return try await queue.write("redeliver webhook") { db in
            try db.cachedStatement(sql: "UPDATE webhooks SET \(WebhookRow.raise(at: "?1")) WHERE payment_id = ?2")
                .execute(arguments: [clock.now().milliseconds, payment.text])
            return try WebhookRow.find(payment, db)
        }
    }

    /// Makes all rows of a caller that were given up due at once.
    public func redeliverWebhooks(of caller: CallerID) async throws(StoreFailure) -> Int {
        let clock = clock
        // In parts, so that nobody waits long for the writer.
        return try await WebhookRow.inParts { () async throws(StoreFailure) in
            try await queue.write("redeliver webhooks") { db in
                try db.cachedStatement(
                    sql: """
                        UPDATE webhooks SET \(WebhookRow.raise(at: "?1")) WHERE payment_id IN (
                            SELECT payment_id FROM webhooks
                            WHERE caller = ?2 AND due_at IS NULL AND \(WebhookRow.isOpen)
                            ORDER BY raised_at, payment_id LIMIT ?3)
                        """
                ).execute(arguments: [clock.now().milliseconds, caller.name, WebhookRow.part])
                return db.changesCount
            }
        }
    }

    /// Counts rows whose newest report was not accepted.
    public func webhookCounts() async throws(StoreFailure) -> [WebhookCount] {
        try await read("webhook counts") { db in
            try db.cachedStatement(sql: WebhookRow.counts).map([]) { try WebhookRow.count($0) }
        }
    }
}

extension WebhookRow {
    /// Writes a report where the payment shows something new. While it is under way, the last one is forgotten.
    func raise(_ db: Database) throws {
        guard let reported else {
            try db.cachedStatement(sql: "UPDATE webhooks SET reported = ?1 WHERE payment_id = ?2 AND reported <> ?1")
                .execute(arguments: [WebhookRow.nothing, payment])
            return
        }
        try db.cachedStatement(
            sql: """
                INSERT INTO webhooks (payment_id, caller, reported, raised, raised_at, due_at)
                VALUES (?1, ?2, ?3, 1, ?4, ?4)
                ON CONFLICT (payment_id) DO UPDATE
                SET reported = excluded.reported, \(WebhookRow.raise(at: "excluded.raised_at"))
                WHERE webhooks.reported <> excluded.reported
                """
        ).execute(arguments: [payment, caller, reported, raisedAt])
    }

    fileprivate static func find(_ payment: PaymentID, _ db: Database) throws -> Webhook? {
        try db.cachedStatement(sql: "SELECT \(names) FROM webhooks WHERE payment_id = ?")
            .first([.text(payment.text)]) { try webhook($0) }
    }
}
