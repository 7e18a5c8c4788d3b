internal import PaymentCore
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// Each table of the hot path is touched by what it is distributed by, so that a payment stays on one shard.
@Suite struct StatementPlaceTests {
    /// The tables, and the column of each that places a row.
    private static let columns = [
        "payments": "id", "legs": "payment_id", "effects": "payment_id", "events": "payment_id",
        "idempotency_keys": "place", "webhooks": "payment_id",
    ]

    @Test func `every statement of the hot path names the place of what it touches`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, readers: 1) { store, configuration in
            let statements = try await hotStatements(store, Scenario(store: store, clock: clock))
            var touched: [String: Int] = [:]
            for (sql, types) in statements {
                let (tables, strays) = try await look(sql, types, configuration)
                #expect(strays.isEmpty, "\(strays) in \(sql)")
                for table in tables { touched[table, default: 0] += 1 }
            }
            // Insertion and update, claim, renewal, release, reading, and finding out why one was refused.
            #expect(touched["payments", default: 0] >= 7, "\(touched)")
            #expect(touched["idempotency_keys", default: 0] >= 3)
            #expect(Set(touched.keys) == Set(Self.columns.keys))
        }
    }

    @Test func `a statement that searches by something else is found`() async throws {
        try await StoreSchema.withStore(ManualClock()) { _, configuration in
            let request = ClaimRequest(holder: "any", limit: 5, leaseFor: .seconds(30))
            let claim = DueStatements.claim(request, clock: .int(1))
            let types = ["bigint", "text[]", "bigint[]", "bigint", "text", "bigint", "bigint"]
            let claimed = try await look(claim.sql, types, configuration)
            #expect(claimed.strays == ["payments"])
            let byProvider = "SELECT payment_id FROM effects WHERE provider = $1 AND key = $2"
            #expect(try await look(byProvider, ["text", "text"], configuration).strays == ["effects"])
            let byNumber = "DELETE FROM events WHERE id = $1"
            #expect(try await !look(byNumber, ["bigint"], configuration).strays.isEmpty)
            let nameless = "INSERT INTO legs (leg, provider) SELECT 1, 'x'"
            #expect(try await look(nameless, [], configuration).strays == ["legs"])
        }
    }

    /// What the store says to the server about single payments, taken from the one session that says all of it.
    private func hotStatements(
        _ store: PostgresStore, _ scenario: Scenario
    ) async throws -> [(sql: String, types: [String])] {
        let work = try await scenario.create(.init("known"))
        let payment = work.payment
        let answer = StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: [])
        _ = try await store.renew([payment.id: work.token], leaseFor: .minutes(1))
        try await store.release(payment.id, token: work.token)
        _ = try await store.claim(payment.id, holder: "worker", leaseFor: .minutes(1))
        _ = try await store.payment(payment.id)
        _ = try await store.auditTrail(of: payment.id, after: 0, limit: 10)
        _ = try await store.idempotencyRecord(caller: payment.caller, key: payment.key)
        let draft = try scenario.draft(.init("new")).work
        let creation = try PreparedChange(
            draft.change(.creating(holder: "w", leaseFor: .minutes(1)), try scenario.record(draft.payment)),
            reportingTo: [])
        let change = try PreparedChange(work.change(.holding(work.token)), reportingTo: [])
        let kept = PreparedAnswer(answer, payment.caller, payment.key)
        let ended = try await scenario.settle(.init("ended")).payment
        let unchanged = PaymentChange(payment: ended, entries: [], lease: .none)
        let raised = try #require(try PreparedChange(unchanged, reportingTo: [payment.caller]).webhook)
        _ = try await store.webhook(of: ended.id)
        _ = try await store.redeliverWebhook(of: ended.id)
        let term = try store.terms.check()
        return try await store.perform("test") { connection in
            for group in [
                ChangeStatements.group([creation], now: .int(1), under: term),
                ChangeStatements.group([], [kept], now: .int(1), under: term),
                [WebhookStatements.raise([raised])],
            ] {
                try connection.run(group)
            }
            // It was claimed with another token, so that this is refused.
            #expect(throws: PostgresError.self) {
                try connection.run(ChangeStatements.group([change], now: .int(1), under: term))
            }
            try connection.run([Statement("ROLLBACK")])
            #expect(try Refusal(change, connection).result() == .leaseLost)
            _ = try kept.earlier(connection)
            return try StatementPlan.prepared(connection)
        }
    }

    /// The tables of the hot path that a statement touches, and those of them that it does not touch by their places.
    private func look(
        _ sql: String, _ types: [String], _ configuration: PostgresStoreConfiguration
    ) async throws -> (tables: Set<String>, strays: Set<String>) {
        var look = (tables: Set<String>(), strays: Set<String>())
        let settings = ["SET enable_hashjoin = off", "SET enable_mergejoin = off"]
        for node in try await StatementPlan.nodes(of: sql, types, settings, configuration) {
            guard let relation = node["Relation Name"] as? String, let (table, column) = Self.column(of: relation)
            else { continue }
            look.tables.insert(table)
            if !Self.isPlaced(node, by: column, sql) { look.strays.insert(table) }
        }
        return look
    }

    /// A partition has its table's name in front of its own.
    private static func column(of relation: String) -> (table: String, column: String)? {
        columns.first { relation == $0.key || relation.hasPrefix("\($0.key)_") }.map { ($0.key, $0.value) }
    }

    private static func isPlaced(_ node: [String: Any], by column: String, _ sql: String) -> Bool {
        if node["Node Type"] as? String == "ModifyTable" {
            guard node["Operation"] as? String == "Insert", let table = node["Relation Name"] as? String else {
                // The rows come from a scan, which is looked at as well.
                return true
            }
            let words = sql.split { !$0.isLetter && $0 != "_" }
            guard let start = words.firstIndex(of: Substring(table)), words[start - 1] == "INTO" else { return false }
            return words[start...].prefix { $0 != "SELECT" }.contains(Substring(column))
        }
        guard let condition = node["Index Cond"] as? String ?? node["Recheck Cond"] as? String else { return false }
        let names = condition.split { "() ".contains($0) }
        return zip(names, names.dropFirst()).contains { name, sign in
            sign == "=" && name.split(separator: ".").last == Substring(column)
        }
    }
}
