internal import PaymentCore
internal import Reconciler
internal import StoreRows

/// The tables of the site, over one connection.
struct SiteTable {
    private let connection: PostgresConnection
    private let clock: DatabaseClock

    init(_ connection: PostgresConnection, _ clock: DatabaseClock) {
        self.connection = connection
        self.clock = clock
    }

    /// How long a change waits for the transactions that run, and everybody behind it.
    private static let patience = Statement("SELECT set_config('lock_timeout', '5s', true)")
    /// Against all transactions that name their term.
    private static let lock = Statement("SELECT pg_advisory_xact_lock('site_state'::regclass::oid::bigint)")

    /// A follower counts as one when it has got the base copy; what it confirms is seen by whoever may look at it
    /// (`pg_monitor`).
    private static let replication = """
        CASE WHEN pg_is_in_recovery() THEN 'unknown'
            WHEN current_setting('synchronous_standby_names') <> '' AND EXISTS (
                SELECT 1 FROM pg_stat_replication WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum'))
                THEN 'synchronous'
            WHEN EXISTS (SELECT 1 FROM pg_stat_replication WHERE coalesce(state, '') <> 'backup') THEN 'asynchronous'
            ELSE 'none' END
        """

    /// What follows tells of the log; a silent sender, or one that died without a word, sends nothing.
    private static let reading = """
        SELECT state.epoch, state.phase, state.mode, state.lease_until, state.proof, state.replication,
            state.final_position, state.recoveries,
            (SELECT document FROM site_terms WHERE site_terms.epoch = state.epoch), \(DatabaseClock.now(1)),
            current_setting('transaction_read_only') = 'on',
            pg_is_in_recovery() AND EXISTS (
                SELECT 1 FROM pg_stat_wal_receiver WHERE pid IS NOT NULL AND coalesce(status, 'streaming') = 'streaming'
                    AND coalesce(last_msg_receipt_time, clock_timestamp()) > clock_timestamp() - interval '10 seconds'),
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_receive_lsn()::text END,
            CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn()::text END,
            CASE WHEN NOT pg_is_in_recovery() THEN pg_current_wal_lsn()::text END,
            \(replication),
            CASE WHEN pg_is_in_recovery()
                THEN pg_wal_lsn_diff(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn())::bigint
                ELSE (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn))::bigint FROM pg_stat_replication)
            END,
            CASE WHEN NOT pg_is_in_recovery()
                THEN (SELECT max(extract(epoch FROM flush_lag) * 1000)::bigint FROM pg_stat_replication)
                WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() THEN 0
                ELSE (extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) * 1000)::bigint
            END,
            (SELECT identity FROM store_identity), state.witness, state.alive_at,
            state.key_spaces
        FROM site_state AS state WHERE sole
        """

    /// The row, and what the database is.
    func read() throws -> SiteReading {
        let rows = try connection.rows(SiteTable.reading, [clock.parameter])
        guard rows.count == 1 else { throw SiteTable.malformed("its row is not there") }
        var database = SiteDatabase(isWritable: try !rows.bool(0, 10))
        database.isStreaming = try rows.bool(0, 11)
        database.received = try position(rows.optionalText(0, 12))
        database.replayed = try position(rows.optionalText(0, 13))
        database.written = try position(rows.optionalText(0, 14))
        database.replication = try SiteTable.value(rows, 15)
        database.lagBytes = try rows.optionalInt(0, 16).map { max(0, $0) }
        database.lag = try rows.optionalInt(0, 17).map { Span(milliseconds: max(0, $0)) }
        let now = Timestamp(milliseconds: clock.saw(try rows.int(0, 9)))
        return SiteReading(
            row: try row(rows), now: now, database: database,
            store: try rows.optionalText(0, 18).flatMap { StoreID(text: $0) })
    }

    private func row(_ rows: Rows) throws -> SiteRow {
        let document = try rows.optionalData(0, 8)
        let term = try document.map { try StoredDocument.decode($0, as: SiteTerm.self) }
        guard try rows.int(0, 0) == term?.epoch ?? 0 else { throw SiteTable.malformed("its newest term is missing") }
        return SiteRow(
            term: term, mode: try SiteTable.value(rows, 2), phase: try SiteTable.value(rows, 1),
            leaseUntil: try rows.optionalInt(0, 3).map { Timestamp(milliseconds: $0) },
            proof: try SiteTable.value(rows, 4), replication: try SiteTable.value(rows, 5),
            finalPosition: try position(rows.optionalText(0, 6)),
            recoveries: try StoredDocument.decode(try rows.data(0, 7)),
            witness: try rows.optionalData(0, 19).map { try StoredDocument.decode($0) },
            aliveAt: try rows.optionalInt(0, 20).map { Timestamp(milliseconds: $0) },
            keySpaces: try rows.optionalData(0, 21).map { try StoredDocument.decode($0) } ?? KeySpaces())
    }

    private static func value<Value: RawRepresentable>(_ rows: Rows, _ column: Int) throws -> Value
    where Value.RawValue == String {
        let text = try rows.text(0, column)
        guard let value = Value(rawValue: text) else { throw malformed("'\(text)' is not known") }
        return value
    }

    private func position(_ text: String?) throws -> LogPosition? {
        guard let text else { return nil }
        guard let position = LogPosition(text: text) else { throw SiteTable.malformed("a place in the log") }
        return position
    }

    private static func malformed(_ what: String) -> StoreFailure {
        StoreFailure(.corrupted, operation: "site", cause: "the stored site does not decode: \(what)")
    }

    // MARK: Changing

    /// Begins the term after the one before it; `nil` if that is not the newest.
    func begin(
        _ term: SiteTerm, after epoch: Int64, loss: RecoveryWindow.Loss?
    ) throws -> (SiteRow?, warnings: [String]) {
        let before = try read()
        guard before.row.epoch == epoch, epoch < term.epoch else { return (nil, []) }
        var term = term
        term.since = before.now
        // Read before the lock: what is written until then can only be newer.
        let newest =
            try loss == nil
            ? nil : connection.rows("SELECT max(updated_at) FROM payments", []).optionalInt(0, 0)
        let row = before.row.began(term, loss: loss, newest: newest.map { Timestamp(milliseconds: $0) })
        do {
            let (rows, warnings) = try connection.run([
                Statement("BEGIN"), SiteTable.patience, SiteTable.lock,
                Statement(
                    """
                    WITH written AS (
                        UPDATE site_state SET epoch = $1, site = $2, phase = 'active', lease_until = NULL,
                            proof = 'none', replication = 'unknown', final_position = NULL, recoveries = $3,
                            alive_at = $5
                        WHERE sole AND epoch = $4 RETURNING 1
                    ) SELECT require_rows(count(*), 1) FROM written
                    """,
                    [
                        .int(term.epoch), .text(term.site.name), .text(try StoredDocument.encode(row.recoveries)),
                        .int(epoch), .int(term.since.milliseconds),
                    ]),
                Statement(
                    "INSERT INTO site_terms (epoch, document) VALUES ($1, $2)",
                    [.int(term.epoch), .text(try StoredDocument.encode(term))]),
                // Nobody of an older term can write any more, and nobody need wait for their leases.
                Statement("SELECT end_leases()"),
                Statement("COMMIT"),
            ])
            guard rows.last?.tag == "COMMIT" else { return (nil, []) }
            return (row, warnings)
        } catch let error as PostgresError {
            if !connection.isBroken { try connection.run([Statement("ROLLBACK")]) }
            guard error.sqlState == PostgresError.groupRefused else { throw error }
            return (nil, [])
        } catch {
            // The transaction ends with its session.
            connection.close()
            throw error
        }
    }

    /// Changes the row of a term; `nil` if the term is another, or the row does not take the change.
    func change(_ change: SiteChange, epoch: Int64) throws -> (SiteRow?, warnings: [String]) {
        do {
            try connection.run([Statement("BEGIN"), SiteTable.patience, SiteTable.lock])
            let reading = try read()
            guard reading.row.epoch == epoch,
                let row = reading.row.changed(by: change, at: reading.database.written)
            else {
                try connection.run([Statement("ROLLBACK")])
                return (nil, [])
            }
            let (rows, warnings) = try connection.run([
                Statement(
                    """
                    UPDATE site_state SET phase = $1, mode = $2, final_position = $3, recoveries = $4, witness = $5,
                        key_spaces = $6
                    WHERE sole
                    """,
                    [
                        .text(row.phase.rawValue), .text(row.mode.rawValue), .text(row.finalPosition?.text),
                        .text(try StoredDocument.encode(row.recoveries)),
                        .text(try row.witness.map { try StoredDocument.encode($0) }),
                        .text(try StoredDocument.encode(row.keySpaces)),
                    ]),
                Statement("COMMIT"),
            ])
            guard rows.last?.tag == "COMMIT" else {
                throw StoreFailure(.serialization, operation: "site", cause: "the transaction was rolled back")
            }
            return (row, warnings)
        } catch let error as PostgresError {
            if !connection.isBroken { try connection.run([Statement("ROLLBACK")]) }
            throw error
        } catch {
            connection.close()
            throw error
        }
    }

    /// Writes down that the site acts in a term; waits for no standby.
    func noteAlive(epoch: Int64) throws {
        do {
            try connection.run([
                Statement("BEGIN"), Statement("SELECT set_config('synchronous_commit', 'local', true)"),
                Statement(
                    """
                    UPDATE site_state SET alive_at = greatest(alive_at, \(DatabaseClock.now(1)))
                    WHERE sole AND epoch = $2 AND phase IN ('active', 'draining')
                    """, [clock.parameter, .int(epoch)]),
                Statement("COMMIT"),
            ])
        } catch let error as PostgresError {
            if !connection.isBroken { try connection.run([Statement("ROLLBACK")]) }
            throw error
        }
    }

    /// Prolongs the lease, as ``SiteRow/renewed(for:by:seen:at:)`` says; `false` if the proof is the standby's, and
    /// there is none that confirms commits.
    func renew(_ renewal: SiteRenewal, _ term: TermCheck) throws -> (Bool, warnings: [String]) {
        let needsStandby = renewal.proof == .standby
        let (rows, warnings) = try TermedConnection(connection: connection, term: term).run([
            Statement(
                """
                WITH seen AS MATERIALIZED (SELECT \(SiteTable.replication) AS replication)
                UPDATE site_state SET lease_until = greatest(lease_until, \(DatabaseClock.now(1)) + $2), proof = $3,
                    replication = CASE WHEN lease_until IS NOT NULL AND site_state.replication = 'synchronous'
                        THEN 'synchronous' ELSE seen.replication END
                FROM seen WHERE sole AND (NOT $4 OR seen.replication = 'synchronous') RETURNING epoch
                """,
                [
                    clock.parameter, .int(renewal.lease.milliseconds), .text(renewal.proof.rawValue),
                    .bool(needsStandby),
                ])
        ])
        return (rows.last?.count == 1, warnings)
    }
}
