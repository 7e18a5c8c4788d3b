internal import Logging
public import PaymentCore
public import Reconciler

/// A witness in another PostgreSQL, in a third place: one row says which site has the right to act, and until when, by
/// that database's clock.
public final class PostgresWitness: SiteWitness {
    private let inbox: PostgresLane.Inbox
    private let clock: DatabaseClock

    /// A witness; it connects when it is asked first, and makes its table then.
    public init(_ configuration: PostgresStoreConfiguration) {
        clock = DatabaseClock(manual: configuration.clock)
        inbox = PostgresLane.Inbox(limit: .milliseconds(configuration.timeLimit.milliseconds))
        let session = Session(configuration)
        let schema = configuration.schema
        PostgresLane.start(1, name: "pg-witness", inbox: inbox) { () throws(StoreFailure) in
            let connection = try session.open()
            do {
                try connection.script(PostgresWitness.table(in: schema))
            } catch {
                connection.close()
                throw StoreFailure(error, "witness", lost: .unavailable)
            }
            return connection
        }
    }

    private static func table(in schema: String) -> String {
        """
        SET client_min_messages = warning;
        CREATE SCHEMA IF NOT EXISTS \(schema);
        CREATE TABLE IF NOT EXISTS site_right (
            sole boolean PRIMARY KEY DEFAULT true CHECK (sole),
            epoch bigint NOT NULL, site text NOT NULL, until bigint NOT NULL);
        RESET client_min_messages;
        """
    }

    /// Ends the connection.
    public func close() async { await inbox.close() }

    /// What is there.
    public func look(
        for site: SiteName, skew: Span
    ) async throws(StoreFailure) -> PromotionEvidence.Witness {
        let clock = clock
        return try await inbox.run("witness") { connection in
            let rows = try connection.rows(
                "SELECT until + $2 - \(DatabaseClock.now(1)) FROM site_right WHERE sole AND site <> $3",
                [clock.parameter, .int(skew.milliseconds), .text(site.name)])
            guard rows.count == 1, case let left = try rows.int(0, 0), left > 0 else { return .free }
            return .held(for: Span(milliseconds: left))
        }
    }

    /// Prolongs the right of a site in a term; takes it if nobody has it.
    public func renew(
        _ site: SiteName, epoch: Int64, lease: Span, skew: Span
    ) async throws(StoreFailure) -> Bool {
        try await write(site, epoch, lease, skew, isFenced: false)
    }

    /// Takes the right for a new term.
    public func take(
        _ site: SiteName, epoch: Int64, lease: Span, skew: Span, isFenced: Bool
    ) async throws(StoreFailure) -> Bool {
        try await write(site, epoch, lease, skew, isFenced: isFenced)
    }

    private func write(
        _ site: SiteName, _ epoch: Int64, _ lease: Span, _ skew: Span, isFenced: Bool
    ) async throws(StoreFailure) -> Bool {
        let clock = clock
        return try await inbox.run("witness") { connection in
            let rows = try connection.rows(
                """
                INSERT INTO site_right AS known (epoch, site, until) VALUES ($2, $3, \(DatabaseClock.now(1)) + $4)
                ON CONFLICT (sole) DO UPDATE
                SET epoch = excluded.epoch, site = excluded.site, until = CASE WHEN known.site = excluded.site
                    THEN greatest(known.until, excluded.until) ELSE excluded.until END
                WHERE known.site = excluded.site AND known.epoch <= excluded.epoch
                    OR known.epoch < excluded.epoch AND ($6 OR known.until + $5 <= \(DatabaseClock.now(1)))
                RETURNING epoch
                """,
                [
                    clock.parameter, .int(epoch), .text(site.name), .int(lease.milliseconds),
                    .int(skew.milliseconds), .bool(isFenced),
                ])
            return rows.count == 1
        }
    }

    /// Gives the right back.
    public func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure) {
        try await inbox.run("witness") { connection in
            _ = try connection.rows(
                "UPDATE site_right SET until = 0 WHERE sole AND site = $1 AND epoch = $2 RETURNING epoch",
                [.text(site.name), .int(epoch)])
        }
    }
}
