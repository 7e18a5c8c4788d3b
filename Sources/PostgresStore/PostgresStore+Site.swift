public import PaymentCore
public import Reconciler
internal import StoreRows

extension PostgresStore: SiteStore {
    /// The row as it is here, and what the database is. A standby answers too.
    public func siteReading() async throws(StoreFailure) -> SiteReading {
        let clock = clock
        return try await perform("site") { connection in try SiteTable(connection, clock).read() }
    }

    /// Prolongs the lease in the row. It is a proof if the standby confirmed the commit, and nothing else could have
    /// ended it: synchronous replication is still on after it.
    public func renewSite(_ renewal: SiteRenewal) async throws(StoreFailure) -> SiteReading? {
        let clock = clock
        let check = TermCheck(site: terms.site, epoch: renewal.epoch)
        let (isRenewed, reading): (Bool, SiteReading?) = try await commit("renew site") { connection in
            do {
                let (isRenewed, warnings) = try SiteTable(connection, clock).renew(renewal, check)
                guard warnings.isEmpty else { return ((false, nil), warnings) }
                return ((isRenewed, try SiteTable(connection, clock).read()), [])
            } catch let error as PostgresError where error.sqlState == PostgresError.termOver {
                return ((true, nil), [])
            }
        }
        guard isRenewed, renewal.proof != .standby || (reading?.database.replication ?? .synchronous) == .synchronous
        else {
            throw StoreFailure(
                .unavailable, operation: "renew site",
                cause: "no synchronous standby is seen that could confirm it (the database's user needs pg_monitor)")
        }
        return reading
    }

    /// Writes down that the site acts although nobody follows. The commit waits for no standby: there is none.
    public func noteAlive(epoch: Int64) async throws(StoreFailure) {
        let clock = clock
        try await perform("note alive") { connection in
            try SiteTable(connection, clock).noteAlive(epoch: epoch)
        }
    }

    /// Begins a term, under which this store writes from then on.
    public func beginTerm(
        _ term: SiteTerm, after epoch: Int64, loss: RecoveryWindow.Loss?
    ) async throws(StoreFailure) -> SiteRow? {
        let clock = clock
        let row = try await commit("begin term") { connection in
            try SiteTable(connection, clock).begin(term, after: epoch, loss: loss)
        }
        if let row, term.site == terms.site { terms.write(under: row.epoch) }
        return row
    }

    /// Changes the row of a term.
    public func changeSite(_ change: SiteChange, epoch: Int64) async throws(StoreFailure) -> SiteRow? {
        let clock = clock
        return try await commit("change site") { connection in
            try SiteTable(connection, clock).change(change, epoch: epoch)
        }
    }

    /// The terms, newest first.
    public func siteTerms(limit: Int) async throws(StoreFailure) -> [SiteTerm] {
        try await perform("terms") { connection in
            try connection.rows(
                "SELECT document FROM site_terms ORDER BY epoch DESC LIMIT $1", [.int(max(0, limit))]
            ).map { try $0.document(0) }
        }
    }

    /// How many payments are leased to somebody whose lease runs.
    public func paymentsInWork() async throws(StoreFailure) -> Int {
        let clock = clock
        return try await perform("payments in work") { connection in
            let rows = try connection.rows(
                "SELECT count(*) FROM payments WHERE lease_until IS NOT NULL AND lease_until > \(DatabaseClock.now(1))",
                [clock.parameter])
            return Int(try rows.int(0, 0))
        }
    }

    /// Makes the database a primary by `pg_promote`, and waits until it takes writes.
    public func promoteDatabase(within limit: Span) async throws(StoreFailure) {
        let end = ContinuousClock.now + .milliseconds(limit.milliseconds)
        try await perform("promote") { connection in
            guard try connection.rows("SELECT pg_is_in_recovery()").bool(0, 0) else { return }
            do {
                _ = try connection.rows("SELECT pg_promote(false)")
            } catch let error as PostgresError where error.sqlState == "42501" {
                throw StoreFailure(
                    .incompatible, operation: "promote",
                    cause: "the database's user may not call pg_promote; promote the database with what runs it, and "
                        + "ask again")
            }
        }
        while ContinuousClock.now < end {
            if try await siteReading().database.isWritable { return }
            do {
                try await Task.sleep(for: .milliseconds(100))
            } catch {
                break
            }
        }
        throw StoreFailure(.unavailable, operation: "promote", cause: "the database did not become a primary in time")
    }

    /// From now on, writes are made under this term; without one they are refused.
    public func write(under epoch: Int64?) { terms.write(under: epoch) }

    /// Tells the number of each term under which a write was refused.
    public func endedTerms() -> AsyncStream<Int64> { terms.endings() }

    /// Begins the first term of a store that has none, and writes under the newest if it is this site's.
    func adoptTerm() async throws(StoreFailure) {
        var reading = try await siteReading()
        if reading.row.epoch == 0, reading.database.isWritable {
            let first = SiteTerm(
                epoch: 1, site: terms.site, since: reading.now, beginning: .first, by: "reconciled",
                reason: "the store was opened for the first time")
            _ = try await beginTerm(first, loss: nil)
            // Its own, or that of whoever was first.
            reading = try await siteReading()
        }
        let isOurs = reading.row.term?.site == terms.site && !reading.row.phase.isOver
        terms.write(under: configuration.adoptsTerm && isOurs ? reading.row.epoch : nil)
    }
}
