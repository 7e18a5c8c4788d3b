public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore {
    /// Reads a payment, once all that can be read is confirmed.
    public func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? {
        let document = try await confirmed("payment") { connection in
            let rows = try connection.rows("SELECT document FROM payments WHERE id = $1", [.text(id.text)])
            return rows.count == 0 ? nil : try rows.data(0, 0)
        }
        guard let document else { return nil }
        return try PaymentDocument.decode(document)
    }

    /// Reads payments, newest first by (created_at, id), 1 to 200 at a time.
    public func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
        let limit = min(max(query.limit, 1), 200)
        // One more than asked tells whether there is a next page.
        let documents = try await confirmed("payments") { connection in
            let ids = try query.key.map { try KnownKey.payments(under: $0, connection) }
            let statement = PaymentListing(query, among: ids).statement(limit: limit + 1)
            let rows = try connection.rows(statement.sql, statement.parameters)
            return try (0..<rows.count).map { try rows.data($0, 0) }
        }
        var items: [Payment] = []
        for document in documents.prefix(limit) { items.append(try PaymentDocument.decode(document)) }
        let hasMore = documents.count > limit
        let next = hasMore ? items.last.map { PageCursor(createdAt: $0.createdAt, id: $0.id) } : nil
        return Page(items: items, next: next)
    }

    /// Reads a payment's audit trail as it is stored, oldest first, after a sequence number.
    public func auditTrail(
        of id: PaymentID, after sequence: Int64, limit: Int
    ) async throws(StoreFailure) -> [AuditEntry] {
        try await confirmed("audit trail") { connection in
            let rows = try connection.rows(
                """
                SELECT \(EventRow.columns) FROM events WHERE payment_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
                """, [.text(id.text), .int(sequence), .int(max(0, limit))])
            return try (0..<rows.count).map { try EventRow(rows, $0).entry(of: id) }
        }
    }

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    public func payment(
        at provider: ProviderName, effect key: EffectKey
    ) async throws(StoreFailure) -> PaymentID? {
        try await confirmed("payment of an effect") { connection in
            let rows = try connection.rows(
                "SELECT payment_id FROM effects WHERE provider = $1 AND key = $2 LIMIT 1",
                [.text(provider.name), .text(key.text)])
            return rows.count == 0 ? nil : PaymentID(text: try rows.text(0, 0))
        }
    }
}

extension EventRow {
    /// A row of ``columns``.
    init(_ rows: Rows, _ row: Int) throws {
        self.init(
            try rows.int(row, 0), try rows.int(row, 1), try rows.text(row, 2),
            try rows.optionalInt(row, 3).map { Int($0) },
            try rows.text(row, 4), try rows.text(row, 5), try rows.text(row, 6))
    }
}

/// What a key says to anybody: callers and providers are few, and each of them has an index by its keys.
private enum KnownKey {
    static func payments(under key: IdempotencyKey, _ connection: PostgresConnection) throws -> [String] {
        let callers = try connection.rows(
            """
            WITH RECURSIVE callers (name) AS (
                SELECT min(caller) FROM payments
                UNION ALL
                SELECT (SELECT min(caller) FROM payments WHERE caller > name) FROM callers WHERE name IS NOT NULL
            )
            SELECT name FROM callers WHERE name IS NOT NULL
            """)
        let places = try (0..<callers.count).map {
            PaymentID(caller: try CallerID(callers.text($0, 0)), key: key).text
        }
        let found = try connection.rows(
            """
            WITH RECURSIVE providers (name) AS (
                SELECT min(provider) FROM effects
                UNION ALL
                SELECT (SELECT min(provider) FROM effects WHERE provider > name) FROM providers
                    WHERE name IS NOT NULL
            )
            SELECT payment_id FROM idempotency_keys WHERE place = ANY($1)
            UNION
            SELECT e.payment_id FROM providers CROSS JOIN LATERAL (
                SELECT payment_id FROM effects WHERE provider = name AND key = $2
            ) AS e
            LIMIT 200
            """, [.texts(places), .text(key.text)])
        return try (0..<found.count).map { try found.text($0, 0) }
    }
}

/// The SQL of a listing, newest first. The values of a query are parameters; its words depend only on which are given.
private struct PaymentListing {
    private var conditions: [String] = []
    private var parameters: [Parameter] = []
    private let source: String
    private let order: String

    /// - Parameter ids: Only these; `nil` for all.
    init(_ query: PaymentQuery, among ids: [String]?) {
        // A listing by provider goes along the legs there, so that a provider with few payments is listed as fast.
        let isByProvider = query.provider != nil
        let payments = isByProvider ? "legs JOIN payments ON payments.id = legs.payment_id" : "payments"
        source = query.waitsFor == nil ? payments : "\(payments) JOIN \(PaymentListing.waiting)"
        let createdAt = isByProvider ? "legs.created_at" : "payments.created_at"
        let id = isByProvider ? "legs.payment_id" : "payments.id"
        order = "\(createdAt) DESC, \(id) DESC"
        if let waitsFor = query.waitsFor { require("waiting.waits_for = \(add(.text(waitsFor.rawValue)))") }
        if let provider = query.provider {
            require("legs.first_at_provider AND legs.provider = \(add(.text(provider.name)))")
        }
        if let ids { require("payments.id = ANY(\(add(.texts(ids))))") }
        if let caller = query.caller { require("payments.caller = \(add(.text(caller.name)))") }
        if let reference = query.reference { require("payments.reference = \(add(.text(reference)))") }
        if let state = query.state {
            require("payments.state = \(add(.text(state.rawValue)))")
            // The words of the partial index; nearly all payments have this state and need none.
            if state != .succeeded { require("payments.state <> 'succeeded'") }
        }
        if let after = query.createdAfter { require("\(createdAt) > \(add(.int(after.milliseconds)))") }
        if let after = query.after {
            let cursorParameters = "\(add(.int(after.createdAt.milliseconds))), \(add(.text(after.id.text)))"
            require("(\(createdAt), \(id)) < (\(cursorParameters))")
        }
    }

    /// Each payment once, whatever number of its operations waits.
    private static let waiting = """
        (SELECT DISTINCT payment_id, waits_for, version FROM waiting_operations) AS waiting
            ON waiting.payment_id = payments.id AND waiting.version = payments.version
        """

    private mutating func add(_ parameter: Parameter) -> String {
        parameters.append(parameter)
        return "$\(parameters.count)"
    }

    private mutating func require(_ condition: String) { conditions.append(condition) }

    func statement(limit: Int) -> Statement {
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        return Statement(
            "SELECT payments.document FROM \(source) \(filter) ORDER BY \(order) LIMIT $\(parameters.count + 1)",
            parameters + [.int(limit)])
    }
}
