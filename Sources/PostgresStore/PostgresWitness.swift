internal import Logging
public import PaymentCore
public import Reconciler

/// A witness in another PostgreSQL, in a third place: one row says which site has the right to act, and until when, by
/// that database's clock; another says which witness it is.
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
        CREATE TABLE IF NOT EXISTS witness_identity (
            sole boolean PRIMARY KEY DEFAULT true CHECK (sole), identity text NOT NULL);
        RESET client_min_messages;
        """
    }

    /// Ends the connection.
    public func close() async { await inbox.close() }

    /// Gives the witness an identity if it has none; what is there is never changed.
    public func found(skew: Span) async throws(StoreFailure) -> WitnessContent {
        let clock = clock
        return try await inbox.run("witness") { connection in
            _ = try connection.rows(
                """
                INSERT INTO witness_identity (identity) VALUES ('wit_' || replace(gen_random_uuid()::text, '-', ''))
                ON CONFLICT (sole) DO NOTHING RETURNING identity
                """, [])
            return try PostgresWitness.content(connection, clock, skew)
        }
    }

    /// What is there.
    public func look(skew: Span) async throws(StoreFailure) -> WitnessContent {
        let clock = clock
        return try await inbox.run("witness") { connection in
            try PostgresWitness.content(connection, clock, skew)
        }
    }

    private static func content(
        _ connection: PostgresConnection, _ clock: DatabaseClock, _ skew: Span
    ) throws -> WitnessContent {
        let rows = try connection.rows(
            """
            SELECT (SELECT identity FROM witness_identity), held.epoch, held.site,
                held.until + $2 - \(DatabaseClock.now(1))
            FROM (SELECT) AS one LEFT JOIN site_right AS held ON held.sole
            """, [clock.parameter, .int(skew.milliseconds)])
        var right: WitnessContent.Right?
        if let epoch = try rows.optionalInt(0, 1), let left = try rows.optionalInt(0, 3) {
            right = WitnessContent.Right(
                epoch: epoch, site: try SiteName(rows.text(0, 2)), left: Span(milliseconds: left))
        }
        return WitnessContent(identity: try rows.optionalText(0, 0).flatMap { WitnessID(text: $0) }, right: right)
    }

    /// Prolongs the right of a site in a term; takes it if nobody has it.
    public func renew(_ claim: WitnessClaim) async throws(StoreFailure) -> Bool {
        try await write(claim, isFenced: false)
    }

    /// Takes the right for a new term.
    public func take(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool {
        try await write(claim, isFenced: isFenced)
    }

    private func write(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool {
        let clock = clock
        return try await inbox.run("witness") { connection in
            let content = try PostgresWitness.content(connection, clock, claim.skew)
            if let doubt = content.refusal(of: claim.site, epoch: claim.epoch, knowing: claim.witness) {
                throw doubt.failure
            }
            // It is the same witness still: an identity that is there never changes.
            let rows = try connection.rows(
                """
                INSERT INTO site_right AS known (epoch, site, until)
                SELECT $2, $3, \(DatabaseClock.now(1)) + $4
                WHERE $7::text IS NULL OR EXISTS (SELECT 1 FROM witness_identity WHERE identity = $7)
                ON CONFLICT (sole) DO UPDATE
                SET epoch = excluded.epoch, site = excluded.site, until = CASE WHEN known.site = excluded.site
                    THEN greatest(known.until, excluded.until) ELSE excluded.until END
                WHERE known.site = excluded.site AND known.epoch <= excluded.epoch
                    OR known.epoch < excluded.epoch AND ($6 OR known.until + $5 <= \(DatabaseClock.now(1)))
                RETURNING epoch
                """,
                [
                    clock.parameter, .int(claim.epoch), .text(claim.site.name), .int(claim.lease.milliseconds),
                    .int(claim.skew.milliseconds), .bool(isFenced), .text(claim.witness?.text),
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
