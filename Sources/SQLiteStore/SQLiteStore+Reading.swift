internal import Foundation
internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Reads a payment.
    public func payment(_ id: PaymentID) async throws(StoreFailure) -> Payment? {
        let document: Data? = try await read("payment") { db in
            let statement = try db.cachedStatement(sql: "SELECT document FROM payments WHERE id = ?")
            return try Data.fetchOne(statement, arguments: [id.text])
        }
        guard let document else { return nil }
        return try PaymentDocument.decode(document)
    }

    /// Reads payments, newest first by (created_at, id), 1 to 200 at a time.
    public func payments(_ query: PaymentQuery) async throws(StoreFailure) -> Page<Payment> {
        let limit = min(max(query.limit, 1), 200)
        // One more than asked tells whether there is a next page.
        let documents: [Data] = try await read("payments") { db in
            let ids = try query.key.map { try KnownKey.payments(under: $0, db) }
            return try PaymentListing(query, among: ids).documents(limit: limit + 1, db)
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
        try await read("audit trail") { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT \(EventRow.columns) FROM events WHERE payment_id = ? AND seq > ? ORDER BY seq LIMIT ?
                    """)
            let rows = try Row.fetchAll(statement, arguments: [id.text, sequence, max(0, limit)])
            return try rows.map { try EventRow($0).entry(of: id) }
        }
    }

    /// Finds the payment of an effect by the key under which its provider knows it; `nil` if it is not ours.
    public func payment(
        at provider: ProviderName, effect key: EffectKey
    ) async throws(StoreFailure) -> PaymentID? {
        try await read("payment of an effect") { db in
            let statement = try db.cachedStatement(
                sql: "SELECT payment_id FROM effects WHERE provider = ? AND key = ?")
            return try String.fetchOne(statement, arguments: [provider.name, key.text])
                .flatMap { PaymentID(text: $0) }
        }
    }
}

/// What a key says to anybody: callers and providers are few, and each of them has an index by its keys.
private enum KnownKey {
    static func payments(under key: IdempotencyKey, _ db: Database) throws -> [String] {
        let statement = try db.cachedStatement(
            sql: """
                WITH RECURSIVE callers (name) AS (
                    SELECT min(caller) FROM idempotency_keys
                    UNION ALL
                    SELECT (SELECT min(caller) FROM idempotency_keys WHERE caller > name) FROM callers
                        WHERE name IS NOT NULL
                ), providers (name) AS (
                    SELECT min(provider) FROM effects
                    UNION ALL
                    SELECT (SELECT min(provider) FROM effects WHERE provider > name) FROM providers
                        WHERE name IS NOT NULL
                )
                SELECT k.payment_id FROM callers CROSS JOIN idempotency_keys AS k ON k.caller = name AND k.key = ?1
                UNION
                SELECT e.payment_id FROM providers CROSS JOIN effects AS e ON e.provider = name AND e.key = ?1
                LIMIT 200
                """)
        return try String.fetchAll(statement, arguments: [key.text])
    }
}

/// The SQL of a listing, newest first.
private struct PaymentListing {
    private var conditions: [String] = []
    private var arguments = StatementArguments()
    private let source: String
    private let order: String

    /// - Parameter ids: Only these; `nil` for all.
    init(_ query: PaymentQuery, among ids: [String]?) {
        if let waitsFor = query.waitsFor { arguments += [waitsFor.rawValue] }
        // A listing by provider goes along the legs there, so that a provider with few payments is listed as fast.
        if let provider = query.provider {
            source = PaymentListing.waiting(query, "legs JOIN payments ON payments.id = legs.payment_id")
            order = "legs.created_at DESC, legs.payment_id DESC"
            require("legs.provider = ? AND legs.first_at_provider = 1", [provider.name])
        } else {
            source = PaymentListing.waiting(query, "payments")
            order = "payments.created_at DESC, payments.id DESC"
        }
        let orderColumns =
            query.provider == nil ? "payments.created_at, payments.id" : "legs.created_at, legs.payment_id"
        let createdAt = query.provider == nil ? "payments.created_at" : "legs.created_at"
        if query.waitsFor != nil {
            let id = query.provider == nil ? "payments.id" : "legs.payment_id"
            require("\(id) = waiting.payment_id", [])
        }
        if let ids {
            let marks = ids.map { _ in "?" }.joined(separator: ", ")
            require("payments.id IN (\(marks))", StatementArguments(ids))
        }
        if let caller = query.caller { require("payments.caller = ?", [caller.name]) }
        if let reference = query.reference { require("payments.reference = ?", [reference]) }
        if let state = query.state {
            require("payments.state = ?", [state.rawValue])
            // The words of the partial index; nearly all payments have this state and need none.
            if state != .succeeded { require("payments.state <> 'succeeded'", []) }
        }
        if let after = query.createdAfter { require("\(createdAt) > ?", [after.milliseconds]) }
        if let after = query.after {
            require("(\(orderColumns)) < (?, ?)", [after.createdAt.milliseconds, after.id.text])
        }
    }

    /// What waits comes first, each payment once: there are few of them, however many payments there are.
    private static func waiting(_ query: PaymentQuery, _ source: String) -> String {
        guard query.waitsFor != nil else { return source }
        let waiting = "(SELECT DISTINCT payment_id FROM waiting_operations WHERE waits_for = ?) AS waiting"
        return "\(waiting) CROSS JOIN \(source)"
    }

    private mutating func require(_ condition: String, _ values: StatementArguments) {
        conditions.append(condition)
        arguments += values
    }

    func documents(limit: Int, _ db: Database) throws -> [Data] {
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND "))"
        let statement = try db.cachedStatement(
            sql: "SELECT payments.document FROM \(source) \(filter) ORDER BY \(order) LIMIT ?")
        let limited: StatementArguments = [limit]
        return try Data.fetchAll(statement, arguments: arguments + limited)
    }
}
