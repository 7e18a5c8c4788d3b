internal import GRDB
public import PaymentCore
public import Reconciler
internal import StoreRows

extension SQLiteStore: ComparisonStore {
    /// Reads what is known of keys at a provider, in the order of the questions.
    public func positions(
        at provider: ProviderName, _ questions: [PositionQuestion]
    ) async throws(StoreFailure) -> [KnownPosition] {
        try await read("positions") { db in
            let tables = ComparisonTables(provider, db)
            return try questions.map { try tables.known($0) }
        }
    }

    /// Reads the keys of positions that agreed and that the listing showed last within a window.
    public func listedKeys(
        at provider: ProviderName, in window: ComparedWindow, limit: Int
    ) async throws(StoreFailure) -> [PositionQuestion] {
        try await read("listed keys") { db in
            try ComparisonTables(provider, db).listedKeys(in: window, limit: max(0, limit))
        }
    }

    /// Reads the legs at a provider whose payment changed last within a window, in the order of ``BookedPlace``.
    public func changedPositions(
        at provider: ProviderName, in window: ComparedWindow, after cursor: BookedPlace?, limit: Int
    ) async throws(StoreFailure) -> BookedPage {
        try await read("changed positions") { db in
            let found = try ComparisonTables(provider, db).changed(in: window, after: cursor, limit: max(0, limit))
            return BookedPage(found, limit: limit)
        }
    }

    /// Reads the unsettled positions of a provider, in order of their keys.
    public func unsettledPositions(
        at provider: ProviderName, after key: EffectKey?, limit: Int
    ) async throws(StoreFailure) -> [KnownPosition] {
        try await read("unsettled positions") { db in
            try ComparisonTables(provider, db).unsettled(after: key, limit: max(0, limit))
        }
    }

    /// What stands at a provider.
    public func standing(at provider: ProviderName) async throws(StoreFailure) -> NetSums {
        try await read("standing") { db in try Standing.read(provider, db) }
    }

    /// What explains the difference between the sides, counted anew from the discrepancies and positions that do.
    public func explainedDifferences(
        at provider: ProviderName
    ) async throws(StoreFailure) -> [Currency: ExplainedDifference] {
        try await read("explained differences") { db in
            var explained: [Currency: ExplainedDifference] = [:]
            for (currency, sides) in try Standing.nets(
                of: DiscrepancyRow.table, "explains_money", provider, db
            ).byCurrency {
                explained[currency, default: ExplainedDifference()].discrepancies = sides.ours &- sides.theirs
            }
            for (currency, sides) in try Standing.nets(
                of: ComparedRow.table, "finding = 'in_flight' AND NOT is_named", provider, db
            ).byCurrency {
                explained[currency, default: ExplainedDifference()].inFlight = sides.ours &- sides.theirs
            }
            return explained
        }
    }

    /// Makes a step durable, or refuses it whole.
    ///
    /// - Throws: ``StoreFailure`` with the code `indeterminate` if the flush failed, `other` if the step contradicts
    ///   itself, or a sum does not fit.
    public func record(_ step: ComparisonStep, token: LeaseToken) async throws(StoreFailure) -> StepResult {
        let rows = try StepRows(step)
        return try await queue.write("record step") { db in try rows.write(db, token) }
    }
}

extension StepRows {
    /// Writes the step, or says why not. Runs in the writer's savepoint.
    func write(_ db: Database, _ token: LeaseToken) throws -> StepResult {
        guard let found = try RunTables.held(step.run.id, token, db) else { return .leaseLost }
        guard found.version == step.run.version else { return .versionConflict }
        let known = try db.cachedStatement(sql: "SELECT version FROM discrepancies WHERE id = ?")
        for row in discrepancies {
            guard try Int64.fetchOne(known, arguments: [row.id]) ?? 0 == row.readVersion else {
                return .discrepancyConflict
            }
        }
        try run.upsert(db)
        for row in positions { try row.upsert(db) }
        for row in discrepancies { try row.upsert(db) }
        for row in findings { try row.upsert(db) }
        try Standing.add(step.moved, step.run.provider, db)
        if step.run.state.isFinal { try RunTables.free(step.run, db) }
        return result
    }
}

/// What stands at a provider.
private enum Standing {
    static func read(_ provider: ProviderName, _ db: Database) throws -> NetSums {
        let statement = try db.cachedStatement(
            sql: "SELECT currency, ours, theirs FROM comparison_standings WHERE provider = ?")
        let lines = try statement.map([.text(provider.name)]) { row in
            (try row.currency(0), NetSums.Sides(ours: try row.number(1), theirs: try row.number(2)))
        }
        return NetSums(Dictionary(lines, uniquingKeysWith: { first, _ in first }))
    }

    static func add(_ moved: NetSums, _ provider: ProviderName, _ db: Database) throws {
        guard !moved.isEmpty else { return }
        var standing = try read(provider, db)
        do {
            try standing.add(moved)
        } catch {
            throw StoreFailure(.other, operation: "record step", cause: "the sums do not fit")
        }
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO comparison_standings (provider, currency, ours, theirs) VALUES (?, ?, ?, ?)
                ON CONFLICT (provider, currency) DO UPDATE SET ours = excluded.ours, theirs = excluded.theirs
                """)
        for line in moved.lines {
            let sides = standing[line.currency]
            try statement.execute(arguments: [provider.name, line.currency.code, sides.ours, sides.theirs])
        }
    }

    /// The sums of both sides' nets over the rows of a table that fulfill a condition.
    static func nets(
        of table: String, _ condition: String, _ provider: ProviderName, _ db: Database
    ) throws -> NetSums {
        let statement = try db.cachedStatement(
            sql: """
                SELECT ours_currency, ours_net, theirs_currency, theirs_net FROM \(table)
                WHERE provider = ? AND \(condition)
                """)
        var sums = NetSums()
        do {
            _ = try statement.map([.text(provider.name)]) { row in
                let ours = try row.int(1).map { NetAmount($0, try row.currency(0)) }
                let theirs = try row.int(3).map { NetAmount($0, try row.currency(2)) }
                try sums.count(ours: ours, theirs: theirs)
            }
        } catch is Money.Failure {
            throw StoreFailure(.other, operation: "explained differences", cause: "the sums do not fit")
        }
        return sums
    }
}
