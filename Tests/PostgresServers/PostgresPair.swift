/// A primary that acknowledges a commit when its standby has it on disk too, and that standby.
///
/// Each test makes its own and may do to it what it likes. Both end with ``stop()``, when nobody refers to them any
/// more, and at the latest with this process, also when it is killed.
public final class PostgresPair: Sendable {
    /// One server of the pair, by the part that it was made for: a promoted standby is still called that.
    public enum Side: Sendable {
        /// The one that accepts writes at the beginning.
        case primary
        /// The one that follows it.
        case standby
    }

    private let primary: Cluster
    private let standby: Cluster
    private let watchdog: Watchdog

    /// Starts both, and waits until a commit is acknowledged by both.
    ///
    /// - Throws: ``PostgresServerError/notInstalled(_:)``, another of ``PostgresServerError`` if they cannot be
    ///   started, or `CancellationError`.
    public static func start() async throws -> PostgresPair {
        let pair = try await PostgresPair()
        try await pair.untilSynchronous()
        return pair
    }

    private init() async throws {
        let installation = try await PostgresInstallation.find()
        watchdog = try Watchdog(installation)
        primary = try await Cluster.primary(
            installation, in: watchdog.directory,
            [
                ("synchronous_standby_names", "standby"),
                // A frozen standby finds all that it missed.
                ("wal_keep_size", "256MB"),
            ])
        standby = try await primary.standby([
            // The name under which it follows, which the copying itself must not have.
            ("cluster_name", "standby"),
            // Once promoted it has nobody to wait for.
            ("synchronous_standby_names", ""),
            // How soon it looks for a primary again that was away; 5 seconds otherwise.
            ("wal_retrieve_retry_interval", "100ms"),
        ])
    }

    /// A libpq connection string that names both servers, the primary first. Which of them is wanted is not said: that
    /// is the part of `target_session_attrs`.
    public var dsn: String {
        Cluster.dsn(hosts: "127.0.0.1,127.0.0.1", ports: "\(primary.port),\(standby.port)")
    }

    /// A libpq connection string for the primary alone.
    public var primaryDSN: String { primary.dsn }

    /// A libpq connection string for the standby alone.
    public var standbyDSN: String { standby.dsn }

    /// Kills the postmaster of the primary and all its backends at one moment, as a loss of power would.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if it does not run.
    public func killPrimary() async throws {
        try await primary.kill()
    }

    /// Shuts the primary down. Commits that wait for the standby are told that they are committed on the primary only.
    ///
    /// It waits for the standby to have everything, so it does not end while that is frozen.
    ///
    /// - Throws: ``PostgresServerError/failed(program:words:)`` if it does not run, or does not end in 50 seconds.
    public func stopPrimary() async throws {
        try await primary.stop()
    }

    /// Starts the primary again, which was killed or stopped, at the same port, and waits until it accepts
    /// connections. If the standby is still one, it follows again soon; see ``untilSynchronous()``.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if it runs, or ``PostgresServerError/failed(program:words:)``
    ///   with its log.
    public func restartPrimary() async throws {
        guard primary.processes.postmaster == nil else {
            throw PostgresServerError.wrongState("the primary is running")
        }
        try await primary.start()
    }

    /// Stops all processes of the standby where they are: its connections stay open, and nothing is answered. Commits
    /// on the primary wait.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if it does not run.
    public func freezeStandby() async throws {
        try await standby.processes.freeze()
    }

    /// Continues the standby.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if it does not run.
    public func thawStandby() throws {
        try standby.processes.thaw()
    }

    /// Makes the standby a primary of its own and waits until it accepts writes. The old one, if it runs, is told
    /// nothing: it accepts writes, and they wait for ever.
    ///
    /// - Throws: ``PostgresServerError/failed(program:words:)`` if it is no standby, or
    ///   ``PostgresServerError/timedOut(_:)``, also when it is frozen.
    public func promoteStandby() async throws {
        _ = try await psql(on: .standby, "SELECT pg_promote(wait => false)")
        try await Polling.until("the standby accepts writes") {
            try await psql(on: .standby, "SHOW transaction_read_only") == "off"
        }
    }

    /// Waits until commits on the primary are acknowledged by the standby, which they are from the beginning; for after
    /// ``restartPrimary()`` and ``thawStandby()``.
    ///
    /// - Throws: ``PostgresServerError/timedOut(_:)`` after 20 seconds, or
    ///   ``PostgresServerError/failed(program:words:)`` if the primary does not run.
    public func untilSynchronous() async throws {
        let question = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'sync'"
        try await Polling.until("the standby follows the primary") {
            try await psql(on: .primary, question) == "1"
        }
    }

    /// Runs SQL through `psql`: one statement, or several in one transaction.
    ///
    /// - Parameter limit: after it, `psql` is killed; the server goes on with the statement until it finds out.
    /// - Returns: the rows, one on each line, with `|` between the columns.
    /// - Throws: ``PostgresServerError/failed(program:words:)`` with the message of the server or of `psql`, or
    ///   ``PostgresServerError/timedOut(_:)``.
    @discardableResult
    public func psql(
        on side: Side, _ sql: String, within limit: Duration = .seconds(30)
    ) async throws -> String {
        let cluster =
            switch side {
            case .primary: primary
            case .standby: standby
            }
        return try await cluster.psql(sql, within: limit)
    }

    /// Ends both servers, in whatever state they are, and removes their files. A second call changes nothing.
    ///
    /// - Throws: ``PostgresServerError/timedOut(_:)`` after 60 seconds, or `CancellationError`; they are ended
    ///   nevertheless.
    public func stop() async throws {
        try await watchdog.end()
    }
}
