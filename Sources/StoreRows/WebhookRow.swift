package import PaymentCore
package import Reconciler

/// A webhook as a row of `webhooks`. Its lease and token stand beside it, in columns of their own.
package struct WebhookRow: Sendable {
    /// The table.
    package static let table = "webhooks"
    /// The columns of a webhook, in the order in which ``webhook(_:)`` reads them.
    package static let names =
        "payment_id, caller, reported, raised, raised_at, delivered, delivered_at, due_at, attempts, failure"

    /// The payment's identifier.
    package let payment: String
    /// The caller's name.
    package let caller: String
    /// The digest, in hexadecimal digits; `nil` while the payment is under way.
    package let reported: String?
    /// When the payment changed, in milliseconds.
    package let raisedAt: Int64

    /// The row of a payment that changed; `nil` if its caller is told of none.
    package init?(of payment: Payment, reportingTo callers: Set<CallerID>) {
        guard callers.contains(payment.caller) else { return nil }
        self.payment = payment.id.text
        self.caller = payment.caller.name
        reported = payment.reportedState?.hex
        raisedAt = payment.updatedAt.milliseconds
    }

    /// A webhook that was read, from a column on.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func webhook(_ row: some ColumnReader, from first: Int = 0) throws -> Webhook {
        func moment(_ column: Int) throws -> Timestamp? {
            try row.int(first + column).map { Timestamp(milliseconds: $0) }
        }
        let digits = try row.word(first + 2)
        let reported = Digest(hex: digits)
        guard let payment = PaymentID(text: try row.word(first)), reported != nil || digits == nothing,
            let caller = try? CallerID(try row.word(first + 1)), let raisedAt = try moment(4)
        else { throw StoreFailure.malformed("a stored webhook cannot be read") }
        return Webhook(
            payment: payment, caller: caller, reported: reported, raised: try row.number(first + 3),
            raisedAt: raisedAt, delivered: try row.number(first + 5), deliveredAt: try moment(6),
            dueAt: try moment(7), attempts: Int(try row.number(first + 8)), failure: try row.text(first + 9))
    }

    /// A count that was read: caller, waiting, given up, since when.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func count(_ row: some ColumnReader) throws -> WebhookCount {
        guard let caller = try? CallerID(try row.word(0)) else {
            throw StoreFailure.malformed("a stored caller cannot be read")
        }
        return WebhookCount(
            caller: caller, waiting: Int(try row.number(1)), givenUp: Int(try row.number(2)),
            oldestWaiting: try row.int(3).map { Timestamp(milliseconds: $0) })
    }

    /// What stands in the column while the payment is under way.
    package static let nothing = ""

    /// The newest report was not accepted. The words are those of the partial index.
    package static let isOpen = "delivered < raised"

    /// So many rows are made due at once.
    package static let part = 500

    /// Does a part of the work until a part is smaller than it may be; returns how many rows there were.
    package static func inParts(
        _ work: () async throws(StoreFailure) -> Int
    ) async throws(StoreFailure) -> Int {
        var total = 0
        while true {
            let count = try await work()
            total += count
            guard count >= part else { return total }
        }
    }

    /// Counts of what was not accepted, by caller.
    package static let counts = """
        SELECT caller, count(due_at), count(*) - count(due_at), min(CASE WHEN due_at IS NOT NULL THEN raised_at END)
        FROM webhooks WHERE \(isOpen) GROUP BY caller ORDER BY caller
        """

    /// What one more report changes, for `SET`. Whoever delivers the one before goes on until its lease ends.
    ///
    /// - Parameter now: when it is raised, in SQL.
    package static func raise(at now: String) -> String {
        """
        raised = webhooks.raised + 1, raised_at = \(now), attempts = 0, failure = NULL,
            due_at = CASE WHEN webhooks.lease_until IS NULL THEN \(now) ELSE webhooks.due_at END
        """
    }

    /// What a settlement changes, for `SET`.
    ///
    /// - Parameters:
    ///   - now: the time, in SQL.
    ///   - mark: the parameter with a number; 1 is the report's number, 2 the pause or NULL, 3 the failure or NULL.
    package static func settle(_ outcome: WebhookSettlement.Outcome, now: String, _ mark: (Int) -> String) -> String {
        let isNewest = "raised = \(mark(1))"
        switch outcome {
        case .accepted:
            return """
                delivered = CASE WHEN delivered > \(mark(1)) THEN delivered ELSE \(mark(1)) END,
                delivered_at = \(now), lease_until = NULL, due_at = CASE WHEN \(isNewest) THEN NULL ELSE \(now) END
                """
        case .postponed:
            return "lease_until = NULL, due_at = CASE WHEN \(isNewest) THEN \(now) + \(mark(2)) ELSE \(now) END"
        case .again, .givenUp:
            return """
                lease_until = NULL, due_at = CASE WHEN \(isNewest) THEN \(now) + \(mark(2)) ELSE \(now) END,
                attempts = CASE WHEN \(isNewest) THEN attempts + 1 ELSE attempts END,
                failure = CASE WHEN \(isNewest) THEN \(mark(3)) ELSE failure END
                """
        }
    }

    /// The values of ``settle(_:now:_:)``.
    package static func values(of settlement: WebhookSettlement) -> [ColumnValue] {
        let raised = ColumnValue.int(settlement.raised)
        return switch settlement.outcome {
        case .accepted: [raised]
        case .again(let pause, let failure): [raised, .int(pause.milliseconds), .text(failure)]
        case .postponed(let pause): [raised, .int(pause.milliseconds)]
        case .givenUp(let failure): [raised, .int(nil), .text(failure)]
        }
    }
}
