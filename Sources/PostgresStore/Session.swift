internal import Foundation
internal import Logging
internal import PaymentCore
public import Reconciler

/// How a session begins: what the store relies on is set, or checked.
struct Session: Sendable {
    private let login: Login
    private let loginToAny: Login
    private let limit: Duration
    private let logger: Logger

    init(_ configuration: PostgresStoreConfiguration) {
        let settings = [
            "search_path": configuration.schema, "timezone": "UTC", "jit": "off",
            // A plan that was made while the tables were small is kept; all that we ask has an index.
            "enable_seqscan": "off",
            // The arrays of a group tell a planner nothing; planning each anew took longer than executing it.
            "plan_cache_mode": "force_generic_plan",
            // A frozen process keeps neither locks nor a snapshot.
            "idle_in_transaction_session_timeout": "10s",
            // Who waited for a lock sees what was committed meanwhile.
            "default_transaction_isolation": "read committed",
        ]
        let (dsn, password) = (configuration.dsn, configuration.password)
        login = Login(dsn: dsn, password: password, settings: settings)
        loginToAny = Login(.any, dsn: dsn, password: password, settings: settings)
        limit = .milliseconds(configuration.timeLimit.milliseconds)
        logger = configuration.logger
    }

    /// Connects, and requires a server that takes writes and flushes them.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable`.
    func open() throws(StoreFailure) -> PostgresConnection { try open(login, takesStandby: false) }

    /// Connects to a server that takes writes, or, where `takesStandby` and there is none, to one that only reads.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable`.
    func open(takesStandby: Bool) throws(StoreFailure) -> PostgresConnection {
        do throws(StoreFailure) {
            return try open()
        } catch {
            guard takesStandby else { throw error }
            return try open(loginToAny, takesStandby: true)
        }
    }

    private func open(_ login: Login, takesStandby: Bool) throws(StoreFailure) -> PostgresConnection {
        let connection = try PostgresConnection(login, timeLimit: limit, logger: logger)
        do {
            try begin(connection, takesStandby: takesStandby)
        } catch {
            connection.close()
            throw StoreFailure(error, "connect", lost: .unavailable)
        }
        return connection
    }

    private func begin(_ connection: PostgresConnection, takesStandby: Bool) throws {
        let rows = try connection.rows(
            """
            SELECT current_setting('transaction_read_only') = 'on', current_setting('fsync') = 'off',
                -- remote_apply is stronger than on, and stays.
                CASE WHEN current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
                    THEN set_config('synchronous_commit', 'on', false) END,
                -- Whoever waits for a lock, or works, for a client that is gone ends; not so a commit that waits for
                -- the standby. From version 14 on.
                CASE WHEN current_setting('client_connection_check_interval', true) = '0'
                    THEN set_config('client_connection_check_interval', '1s', false) END,
                -- A place of its own for counting: no two sessions ever wait for one row of the counts.
                set_config('reconciled.place', (
                    SELECT place FROM generate_series(0, 100000) AS place
                    WHERE pg_try_advisory_lock(\(Session.lockSpace), place) LIMIT 1)::text, false)
            """)
        connection.isStandby = try rows.bool(0, 0)
        guard takesStandby || !connection.isStandby else {
            throw StoreFailure(.unavailable, operation: "connect", cause: "the server takes no writes")
        }
        if try rows.bool(0, 1) { logger.warning("the server runs with fsync off: a power cut loses payments") }
    }

    /// The first number of our advisory locks: the letters "RCND".
    static let lockSpace: Int32 = 0x5243_4E44
}

extension PostgresStore {
    /// Whether every server that was asked refused the password, or got none: nothing but another password mends that.
    ///
    /// libpq has no code for what goes wrong while it connects, only words, and the server's own may be in another
    /// language than English. What is not recognised is taken for something that passes.
    public static func refusesPassword(_ failure: StoreFailure) -> Bool {
        guard failure.code == .unavailable, failure.operation == "connect" else { return false }
        let causes = failure.cause.components(separatedBy: "; ").filter { !$0.isEmpty }
        return !causes.isEmpty
            && causes.allSatisfy { cause in
                ["password authentication failed", "no password supplied"].contains { cause.contains($0) }
            }
    }
}
