public import PaymentCore
public import Reconciler
internal import StoreRows

// Whoever changes a run locks its lane first, so that no two of these ever wait for each other. The statements of one
// call are one transaction, because they leave as one pipeline.
extension PostgresStore {
    /// Plans a run: stores it if its identifier is new; returns what is stored.
    public func begin(_ run: ComparisonRun) async throws(StoreFailure) -> ComparisonRun {
        let row = try RunRow(run.stored(version: 1))
        let confirmation = confirmation
        return try await write("begin run") { connection in
            // What is there already may be in doubt.
            try confirmation.settle(connection.connection)
            let (rows, warnings) = try connection.run([
                Statement(
                    "INSERT INTO comparison_lanes (lane, token) VALUES ($1, 0) ON CONFLICT (lane) DO NOTHING",
                    [.text(run.lane)]),
                Statement(
                    """
                    INSERT INTO comparison_runs (\(RunRow.names)) SELECT * FROM \(RunRow.unnested)
                    ON CONFLICT (id) DO NOTHING
                    """, RunRow.arrays([row])),
                Statement("SELECT document FROM comparison_runs WHERE id = $1", [.text(run.id.text)]),
            ])
            guard let stored = try rows.last?.map({ try $0.document(0, as: ComparisonRun.self) }).first else {
                throw StoreFailure(.other, operation: "begin run", cause: "the run is not there")
            }
            return (stored, warnings)
        }
    }

    /// Claims a run and its lane; `nil` if it cannot be had.
    public func claimRun(
        _ id: ComparisonRunID, holder: String, leaseFor: Span
    ) async throws(StoreFailure) -> ClaimedRun? {
        let statements = [
            RunStatements.lock(id), RunStatements.claim(id, holder: holder, leaseFor: leaseFor, clock: clock.parameter),
        ]
        let claimed: ClaimedRun? = try await write("claim run") { connection in
            let (rows, warnings) = try connection.run(statements)
            let claims = try rows.last?.map { row in
                ClaimedRun(
                    run: try row.document(2), token: LeaseToken(try row.number(0)),
                    until: Timestamp(milliseconds: try row.number(1)))
            }
            return (claims?.first, warnings)
        }
        if let claimed { clock.saw(claimed.until.milliseconds - leaseFor.milliseconds) }
        return claimed
    }

    /// Prolongs the lease from now, if it is still held under the token.
    public func renewRun(
        _ id: ComparisonRunID, token: LeaseToken, leaseFor: Span
    ) async throws(StoreFailure) -> Bool {
        let statement = RunStatements.renew(id, token: token, leaseFor: leaseFor, clock: clock.parameter)
        return try await write("renew run") { connection in
            let (rows, warnings) = try connection.run([statement])
            return (rows.first?.count == 1, warnings)
        }
    }

    /// Ends the lease and leaves the lane with the run.
    public func releaseRun(_ id: ComparisonRunID, token: LeaseToken) async throws(StoreFailure) {
        try await write("release run") { connection in
            try connection.run([RunStatements.release(id, token: token)]).warnings
        }
    }

    /// Gives up a run that is not final and frees its lane.
    public func abandonRun(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        while true {
            guard var run = try await run(id) else { return nil }
            guard !run.state.isFinal else { return run }
            run.abandon(at: try await now())
            let given = run.stored(version: run.version + 1)
            let statements = [
                RunStatements.lock(id), try RunStatements.update(given, from: run.version), RunStatements.free(id),
            ]
            let isDone: Bool = try await write("abandon run") { connection in
                do {
                    return (true, try connection.run(statements).warnings)
                } catch let error as PostgresError where error.sqlState == PostgresError.groupRefused {
                    // A step was first. It is read again.
                    return (false, [])
                }
            }
            if isDone { return given }
        }
    }

    /// Reads a run.
    public func run(_ id: ComparisonRunID) async throws(StoreFailure) -> ComparisonRun? {
        try await confirmed("run") { connection in
            try connection.rows("SELECT document FROM comparison_runs WHERE id = $1", [.text(id.text)])
                .map { try $0.document(0, as: ComparisonRun.self) }.first
        }
    }

    /// Reads runs, newest first by (created_at, id), 1 to 200 at a time.
    public func runs(_ query: RunQuery) async throws(StoreFailure) -> CursorPage<ComparisonRun, RunCursor> {
        let limit = min(max(query.limit, 1), 200)
        let found: [ComparisonRun] = try await documents(
            "runs", of: RunRow.table, ListingFilter(query, mark: "$"), by: "created_at DESC, id DESC", limit: limit + 1)
        let items = Array(found.prefix(limit))
        let last = found.count > limit ? items.last : nil
        return CursorPage(items: items, next: last.map { RunCursor(createdAt: $0.createdAt, id: $0.id) })
    }

    /// The head of a provider's chain.
    public func chainHead(of provider: ProviderName) async throws(StoreFailure) -> ComparisonRun? {
        try await confirmed("chain head") { connection in
            try connection.rows(
                """
                SELECT document FROM comparison_runs WHERE provider = $1 AND kind = 'scheduled' AND NOT is_dry
                ORDER BY window_to DESC, attempt DESC LIMIT 1
                """, [.text(provider.name)]
            ).map { try $0.document(0, as: ComparisonRun.self) }.first
        }
    }

    /// What a run found, in order of the discrepancies' identifiers.
    public func findings(
        of run: ComparisonRunID, after: DiscrepancyID?, limit: Int
    ) async throws(StoreFailure) -> [RunFinding] {
        try await confirmed("findings") { connection in
            try connection.rows(
                """
                SELECT document FROM comparison_findings WHERE run = $1 AND discrepancy > $2
                ORDER BY discrepancy LIMIT $3
                """, [.text(run.text), .text(after?.text ?? ""), .int(max(0, limit))]
            ).map { try $0.document(0) }
        }
    }

    /// The documents of a listing.
    func documents<Value: Decodable & Sendable>(
        _ operation: String, of table: String, _ filter: ListingFilter, by order: String, limit: Int
    ) async throws(StoreFailure) -> [Value] {
        var filter = filter
        let sql = filter.documents(of: table, by: order, limit: limit)
        let parameters = filter.values.map { Parameter($0) }
        return try await confirmed(operation) { connection in
            try connection.rows(sql, parameters).map { try $0.document(0) }
        }
    }
}
