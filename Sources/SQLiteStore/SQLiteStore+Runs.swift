internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore {
    /// Plans a run: stores it if its identifier is new; returns what is stored.
    public func begin(_ run: ComparisonRun) async throws(StoreFailure) -> ComparisonRun {
        let first = run.stored(version: 1)
        let row = try RunRow(first)
        return try await queue.write("begin run") { db in
            if try row.insert(db) { return first }
            return try RunTables.run(run.id, db) ?? first
        }
    }

    /// Claims a run and its lane; `nil` if it cannot be had.
    public func claimRun(
        _ id: ComparisonRunID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedRun? {
        let clock = clock
        return try await queue.write("claim run") { db in
            try RunTables.claim(id, holder: holder, leaseFor: leaseFor, now: clock.now(), db)
        }
    }

    /// Prolongs the lease from now, if it is still held under the token.
    public func renewRun(
        _ id: ComparisonRunID, token: LeaseToken, leaseFor: Span
    ) async throws(StoreFailure) -> Bool {
        let clock = clock
        return try await queue.write("renew run") { db in
            guard let run = try RunTables.run(id, db) else { return false }
            try db.cachedStatement(sql: "UPDATE comparison_lanes SET until = ? WHERE \(RunTables.isHeld)")
                .execute(arguments: [(clock.now() + leaseFor).milliseconds, run.lane, id.text, token.number])
            return db.changesCount > 0
        }
    }

    /// Ends the lease and leaves the lane with the run.
    public func releaseRun(_ id: ComparisonRunID, token: LeaseToken) async throws(StoreFailure) {
        try await queue.write("release run") { db in
            guard let run = try RunTables.run(id, db) else { return }
            try db.cachedStatement(
                sql: "UPDATE comparison_lanes SET holder = NULL, until = NULL WHERE \(RunTables.isHeld)"
            ).execute(arguments: [run.lane, id.text, token.number])
        }
    }

    /// Gives up a run that is not final and frees its lane.
    public func abandonRun(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        let clock = clock
        return try await queue.write("abandon run") { db in
            guard var run = try RunTables.run(id, db) else { return nil }
            guard !run.state.isFinal else { return run }
            run.abandon(at: clock.now())
            let given = run.stored(version: run.version + 1)
            try RunRow(given).upsert(db)
            try RunTables.free(given, db)
            return given
        }
    }

    /// Reads a run.
    public func run(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try await read("run") { db in try RunTables.run(id, db) }
    }

    /// Reads runs, newest first by (created_at, id), 1 to 200 at a time.
    public func runs(_ query: RunQuery) async throws(StoreFailure) -> CursorPage<ComparisonRun, RunCursor> {
        let limit = min(max(query.limit, 1), 200)
        let found: [ComparisonRun] = try await documents(
            "runs", of: RunRow.table, ListingFilter(query, mark: "?"), by: "created_at DESC, id DESC", limit: limit + 1)
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { RunCursor(createdAt: $0.createdAt, id: $0.id) })
    }

    /// The head of a provider's chain.
    public func chainHead(of provider: ProviderName) async throws(StoreFailure) -> ComparisonRun? {
        try await read("chain head") { db in
            try db.cachedStatement(
                sql: """
                    SELECT document FROM comparison_runs WHERE provider = ? AND kind = 'scheduled' AND NOT is_dry
                    ORDER BY window_to DESC, attempt DESC LIMIT 1
                    """
            ).first([.text(provider.name)]) { try $0.document(0) }
        }
    }

    /// What a run found, in order of the discrepancies' identifiers.
    public func findings(
        of run: ComparisonRunID, after: DiscrepancyID?, limit: Int
    ) async throws(StoreFailure) -> [RunFinding] {
        try await read("findings") { db in
            try db.cachedStatement(
                sql: """
                    SELECT document FROM comparison_findings WHERE run = ? AND discrepancy > ?
                    ORDER BY discrepancy LIMIT ?
                    """
            ).map([.text(run.text), .text(after?.text ?? ""), .int(Int64(max(0, limit)))]) { try $0.document(0) }
        }
    }

    /// The documents of a listing.
    func documents<Value: Decodable & Sendable>(
        _ operation: String, of table: String, _ filter: ListingFilter, by order: String, limit: Int
    ) async throws(StoreFailure) -> [Value] {
        var filter = filter
        let sql = filter.documents(of: table, by: order, limit: limit)
        let values = filter.values
        return try await read(operation) { db in
            try db.cachedStatement(sql: sql).map(values) { try $0.document(0) }
        }
    }
}

/// Runs and the leases on their lanes.
enum RunTables {
    /// A lane whose lease is held: by lane, run and token.
    static let isHeld = "lane = ? AND run = ? AND token = ? AND holder IS NOT NULL"

    static func run(_ id: ComparisonRunID, _ db: Database) throws -> ComparisonRun? {
        try db.cachedStatement(sql: "SELECT document FROM comparison_runs WHERE id = ?")
            .first([.text(id.text)]) { try $0.document(0) }
    }

    /// A run that is not final and whose lease is held under a token.
    static func held(_ id: ComparisonRunID, _ token: LeaseToken, _ db: Database) throws -> ComparisonRun? {
        guard let run = try run(id, db), !run.state.isFinal else { return nil }
        let statement = try db.cachedStatement(sql: "SELECT 1 FROM comparison_lanes WHERE \(isHeld)")
        let isHeld = try Int.fetchOne(statement, arguments: [run.lane, id.text, token.number]) != nil
        return isHeld ? run : nil
    }

    /// Takes the lane, under the next token.
    static func claim(
        _ id: ComparisonRunID, holder: String, leaseFor: Span, now: Timestamp, _ db: Database
    ) throws -> ClaimedRun? {
        guard let wanted = try run(id, db), !wanted.state.isFinal else { return nil }
        let taken = try db.cachedStatement(
            sql: """
                SELECT 1 FROM comparison_lanes WHERE lane = ?1
                    AND (holder <> ?2 AND until > ?3 OR run <> ?4 AND EXISTS (
                        SELECT 1 FROM comparison_runs AS other WHERE other.id = run AND NOT other.\(RunRow.isFinal)))
                """)
        guard try Int.fetchOne(taken, arguments: [wanted.lane, holder, now.milliseconds, id.text]) == nil else {
            return nil
        }
        let until = now + leaseFor
        let take = try db.cachedStatement(
            sql: """
                INSERT INTO comparison_lanes (lane, run, token, holder, until) VALUES (?, ?, 1, ?, ?)
                ON CONFLICT (lane) DO UPDATE
                SET run = excluded.run, token = token + 1, holder = excluded.holder, until = excluded.until
                RETURNING token
                """)
        guard let token = try Int64.fetchOne(take, arguments: [wanted.lane, id.text, holder, until.milliseconds])
        else { throw StoreFailure(.other, operation: "claim run", cause: "the lane was not written") }
        return ClaimedRun(run: wanted, token: LeaseToken(token), until: until)
    }

    /// Frees the lane of a run that is final now.
    static func free(_ run: ComparisonRun, _ db: Database) throws {
        try db.cachedStatement(
            sql: "UPDATE comparison_lanes SET holder = NULL, until = NULL WHERE lane = ? AND run = ?"
        ).execute(arguments: [run.lane, run.id.text])
    }
}
