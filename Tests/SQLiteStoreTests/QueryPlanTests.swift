internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Synchronization
internal import Testing

@testable internal import SQLiteStore

@Suite struct QueryPlanTests {
    /// Tables that grow without bound. A scan of one along an index that stops early is fine.
    private static let growing = [
        "payments", "legs", "effects", "events", "seal_heads", "idempotency_keys", "compared_positions",
        "comparison_runs", "comparison_findings", "discrepancies", "webhooks",
        // The same under other names.
        "p", "l", "own", "later", "other", "k", "e",
    ]
    /// Indexes along which a part is read: of what is due or open, or in the order in which a page ends.
    private static let walked = [
        "payments_due", "payments_newest", "comparison_runs_newest", "discrepancies_open", "discrepancies_oldest",
        "webhooks_open", "webhooks_raised", "webhooks_of_caller",
    ]

    @Test func `nothing that runs all the time reads a whole table`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            let shop = try CallerID("shop")
            let change: (inout SQLiteStoreConfiguration) -> Void = {
                ($0.readers, $0.retention, $0.reportsTo) = (1, .days(100), [shop])
            }
            try await directory.withStore(clock, change) { store in
                let statements = try await statements(store) {
                    try await useAll(Scenario(store: store, clock: clock))
                    try await Comparing(store: store, clock: clock).useAll()
                    try await useWebhooks(of: shop, store)
                    _ = try await store.upkeep()
                }
                #expect(statements.count > 50)
                let connection = try directory.connection()
                for statement in statements {
                    let plan = try await connection.read { db in
                        try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN \(statement)").map { $0["detail"] as String }
                    }
                    for step in plan { #expect(!Self.isWholeScan(step), "\(step) in \(statement)") }
                }
                try connection.close()
            }
        }
    }

    private static func isWholeScan(_ step: String) -> Bool {
        let words = step.split(separator: " ")
        guard words.count > 1, words[0] == "SCAN", growing.contains(String(words[1])) else { return false }
        return !walked.contains { words.contains(Substring($0)) }
    }

    /// What the store executes on both of its connections while `body` runs, each statement once.
    private func statements(_ store: SQLiteStore, _ body: () async throws -> Void) async throws -> [String] {
        let executed = Statements()
        let note: @Sendable (Database) -> Void = { db in
            db.trace { event in
                if case .statement(let statement) = event { executed.add(statement.sql, statement.expandedSQL) }
            }
        }
        try await store.pool.writeWithoutTransaction { note($0) }
        try await store.pool.read { note($0) }
        try await body()
        try await store.pool.writeWithoutTransaction { $0.trace() }
        try await store.pool.read { $0.trace() }
        return executed.all
    }

    private func useWebhooks(of shop: CallerID, _ store: SQLiteStore) async throws {
        let claimed = try await store.claimWebhooks(
            WebhookClaimRequest(caller: shop, limit: 5, leaseFor: .seconds(1)))
        let first = try #require(claimed.first)
        let payment = first.webhook.payment
        for outcome in [.again(after: .seconds(1), failure: "no"), .accepted] as [WebhookSettlement.Outcome] {
            _ = try await store.settleWebhook(WebhookSettlement(of: first, outcome))
        }
        _ = try await store.nextWebhooks(of: [shop])
        _ = try await store.webhook(of: payment)
        _ = try await store.redeliverWebhook(of: payment)
        _ = try await store.redeliverWebhooks(of: shop)
        _ = try await store.webhookCounts()
        for state in [nil, .waiting, .delivered, .givenUp] as [Webhook.State?] {
            for caller in [nil, shop] {
                var query = WebhookQuery(limit: 2)
                (query.state, query.caller) = (state, caller)
                query.after = WebhookCursor(raisedAt: first.webhook.raisedAt, payment: payment)
                _ = try await store.webhooks(query)
            }
        }
    }

    private func useAll(_ it: Scenario) async throws {
        let payment = try await it.settle(Scenario.Order("k1")).payment
        try await it.create(Scenario.Order("k2"))
        let (store, caller) = (it.store, payment.caller)
        _ = try await store.claimDue(ClaimRequest(holder: "w", limit: 5, leaseFor: .seconds(1)))
        it.clock.advance(by: .days(1))
        let claimed = try await store.claimDue(ClaimRequest(holder: "w", limit: 5, leaseFor: .seconds(1)))
        #expect(claimed.count == 1)
        for claim in claimed { try await store.release(claim.payment.id, token: claim.token) }
        _ = try await store.claimDue(ClaimRequest(holder: "w", limit: 5, leaseFor: .seconds(1)))
        _ = try await store.claim(payment.id, holder: "w", leaseFor: .seconds(1))
        _ = try await store.renew([payment.id: LeaseToken(2)], leaseFor: .seconds(1))
        _ = try await store.nextDue(in: .everywhere)
        _ = try await store.seal()
        _ = try await store.statistics()
        _ = try await store.payment(payment.id)
        _ = try await store.auditTrail(of: payment.id, after: 1, limit: 5)
        _ = try await store.idempotencyRecord(caller: caller, key: payment.key)
        let answer = StoredAnswer(status: 201, contentType: "text/plain", location: nil, body: [])
        _ = try await store.storeAnswer(answer, caller: caller, key: payment.key)
        for number in 0..<16 {
            var query = PaymentQuery()
            if number & 1 > 0 { query.caller = caller }
            if number & 2 > 0 { query.state = .failed }
            if number & 4 > 0 { query.provider = payment.legs.first?.provider }
            if number & 8 > 0 { query.after = PageCursor(createdAt: it.clock.now(), id: payment.id) }
            _ = try await store.payments(query)
            query.reference = "r"
            _ = try await store.payments(query)
            query.key = payment.key
            _ = try await store.payments(query)
            query.waitsFor = .people
            _ = try await store.payments(query)
        }
    }
}

/// Statements as they were prepared, and as they were executed.
private final class Statements: Sendable {
    private let executed = Mutex<[String: String]>([:])

    var all: [String] {
        executed.withLock { $0.values.filter { isPlanned($0) }.sorted() }
    }

    func add(_ prepared: String, _ expanded: String) {
        executed.withLock { $0[prepared] = expanded }
    }

    private func isPlanned(_ statement: String) -> Bool {
        ["SELECT", "WITH", "INSERT", "UPDATE", "DELETE"].contains { statement.hasPrefix($0) }
    }
}
