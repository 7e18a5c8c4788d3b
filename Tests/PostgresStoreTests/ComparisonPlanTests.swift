internal import PaymentCore
internal import Reconciler
internal import Testing

@testable internal import PostgresStore
@testable internal import StoreContract

/// Nothing that a comparison does all the time reads a table, or all that it has of a provider, from end to end: not
/// even by a plan that was made while the tables were small.
@Suite struct ComparisonPlanTests {
    /// Tables that grow without bound.
    private static let growing = [
        "payments", "legs", "effects", "compared_positions", "comparison_runs", "comparison_findings", "discrepancies",
    ]
    /// Indexes by which rows are found, and the columns that must be known for that.
    private static let lookups = [
        "payments_pkey": ["id"], "legs_pkey": ["payment_id"], "effects_pkey": ["payment_id"],
        "effects_at_provider": ["provider", "key"], "compared_positions_pkey": ["provider", "key"],
        "comparison_runs_pkey": ["id"], "comparison_findings_pkey": ["run"], "discrepancies_pkey": ["id"],
    ]
    /// Indexes along which a part is read: of what is open, or in the order in which a page ends.
    private static let walked: Set<String> = [
        "payments_changed", "compared_unsettled", "compared_in_flight", "compared_settled", "comparison_runs_newest",
        "comparison_runs_chain", "comparison_runs_finished", "discrepancies_open", "discrepancies_oldest",
        "discrepancies_of_payment", "discrepancies_explaining", "discrepancies_closed",
        // A part of the payments that ended, oldest first.
        "payments_newest",
    ]

    @Test func `no statement of a comparison reads a whole table`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, readers: 1, retention: .days(100)) { store, configuration in
            try await Comparing(store: store, clock: clock).useAll()
            _ = try await store.upkeep()
            let statements = try await store.perform("test") { try StatementPlan.prepared($0) }
            var looked = 0
            for (sql, types) in statements where Self.isOfComparisons(sql) {
                looked += 1
                let found = try await whole(sql, types, configuration)
                #expect(found.isEmpty, "\(found) in \(sql)")
            }
            #expect(looked >= 25)
        }
    }

    @Test func `a statement that reads all of a provider is found`() async throws {
        try await StoreSchema.withStore(ManualClock()) { _, configuration in
            let statements = [
                "SELECT * FROM compared_positions WHERE provider = $1 AND finding = 'orphan'",
                "SELECT * FROM effects WHERE provider = $1 AND kind = $1",
                "SELECT count(*) FROM discrepancies WHERE assignee = $1",
            ]
            for sql in statements {
                let found = try await whole(sql, ["text"], configuration)
                #expect(!found.isEmpty, "\(sql)")
            }
            // A key in another order than the index has it.
            let asked = "SELECT * FROM unnest(ARRAY['x']) AS asked (key) JOIN LATERAL"
            let lookup = "(SELECT 1 FROM effects WHERE provider = $1 AND effects.key = asked.key COLLATE \"C\" LIMIT 1)"
            let found = try await whole("\(asked) \(lookup) AS c ON true", ["text"], configuration)
            #expect(!found.isEmpty)
        }
    }

    @Test func `each page of what changed goes through the payments once`() async throws {
        let clock = ManualClock()
        try await StoreSchema.withStore(clock, readers: 1) { store, _ in
            let it = Comparing(store: store, clock: clock)
            for number in 0..<6 { try await it.payments.create(Scenario.Order("k\(number)")) }
            let window = try #require(ComparedWindow(from: ManualClock.start, to: ManualClock.start + .hours(1)))
            var cursor: BookedPlace?
            for _ in 0..<3 {
                let before = try await Self.walks(store)
                let page = try await store.changedPositions(at: Comparing.cards(), in: window, after: cursor, limit: 2)
                #expect(page.positions.count == 2)
                #expect(try await Self.walks(store) == before + 1)
                cursor = page.next
            }
        }
    }

    /// How often the one session of a store has gone along the payments that changed.
    private static func walks(_ store: PostgresStore) async throws -> Int64 {
        try await store.perform("test") { connection in
            _ = try connection.run([Statement("SELECT pg_stat_force_next_flush()::text")])
            let counted = try connection.rows(
                """
                SELECT idx_scan FROM pg_stat_user_indexes
                WHERE indexrelname = 'payments_changed' AND schemaname = current_schema()
                """)
            return try counted.int(0, 0)
        }
    }

    private static func isOfComparisons(_ sql: String) -> Bool {
        ["compar", "discrepanc"].contains { sql.contains($0) }
    }

    /// The scans of a statement's plan that are bounded by nothing.
    private func whole(
        _ sql: String, _ types: [String], _ configuration: PostgresStoreConfiguration
    ) async throws -> [String] {
        let generic = ["SET plan_cache_mode = force_generic_plan"]
        return try await StatementPlan.nodes(of: sql, types, generic, configuration).compactMap { node in
            guard let kind = node["Node Type"] as? String, kind.hasSuffix("Scan") else { return nil }
            if let index = node["Index Name"] as? String {
                if Self.walked.contains(index) { return nil }
                if let columns = Self.lookups[index], columns.allSatisfy({ Self.isKnown($0, in: node) }) { return nil }
                return Self.growing.contains { index.hasPrefix("\($0)_") } ? "\(kind) of \(index)" : nil
            }
            // The scan of its index is looked at.
            if kind == "Bitmap Heap Scan" { return nil }
            let table = node["Relation Name"] as? String ?? ""
            return Self.growing.contains(table) ? "\(kind) of \(table)" : nil
        }
    }

    private static func isKnown(_ column: String, in node: [String: Any]) -> Bool {
        guard let condition = node["Index Cond"] as? String else { return false }
        let names = condition.split { "() ".contains($0) }
        return zip(names, names.dropFirst()).contains { $0 == Substring(column) && $1 == "=" }
    }
}
