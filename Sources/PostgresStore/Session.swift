internal import Foundation
internal import Logging
internal import PaymentCore
public import Reconciler

/// How a session begins: what the store relies on is set, or checked.
struct Session: Sendable {
    private let settings: [String: String]
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
        self.settings = settings
        let (dsn, fixed) = (configuration.dsn, configuration.password)
        let password = configuration.currentPassword ?? { fixed }
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
        let connection = try connect(login)
        do {
            try requireSettings(connection)
            try begin(connection, takesStandby: takesStandby)
        } catch {
            connection.close()
            throw Session.isShared(error) ? Session.byTransaction : StoreFailure(error, "connect", lost: .unavailable)
        }
        return connection
    }

    private func connect(_ login: Login) throws(StoreFailure) -> PostgresConnection {
        do throws(StoreFailure) {
            return try PostgresConnection(login, timeLimit: limit, logger: logger)
        } catch {
            // PgBouncer's words for what it does not pass on.
            guard error.cause.contains("unsupported startup parameter") else { throw error }
            throw StoreFailure(.incompatible, operation: "connect", cause: "\(error.cause). \(Session.poolerAdvice)")
        }
    }

    static let poolerAdvice =
        "A connection pooler must give each connection a session of its own and let it have its settings; with "
        + "PgBouncer: pool_mode = session and ignore_startup_parameters = options"

    /// Requires that the session has the settings that were asked for. A pooler may have dropped them, with the words
    /// that asked for them; they are set then.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` if one is another all the same.
    private func requireSettings(_ connection: PostgresConnection) throws {
        let names = settings.keys.sorted()
        let rows = try connection.rows(
            "SELECT pg_backend_pid()::bigint, \(names.map { "current_setting('\($0)')" }.joined(separator: ", "))")
        connection.sees(process: try rows.int(0, 0))
        let wrong = try names.enumerated().filter { index, name in try rows.text(0, index + 1) != settings[name] }
            .map(\.element)
        guard !wrong.isEmpty else { return }
        let changes = wrong.map { "set_config('\($0)', '\(settings[$0] ?? "")', false)" }
        let set = try connection.rows("SELECT \(changes.joined(separator: ", "))")
        for (index, name) in wrong.enumerated() {
            let value = try set.text(0, index)
            guard value != settings[name] else { continue }
            throw StoreFailure(
                .incompatible, operation: "connect",
                cause: "the session's \(name) is '\(value)' and not '\(settings[name] ?? "")'. \(Session.poolerAdvice)")
        }
    }

    /// Requires that a connection through a pooler keeps its session. Where the pooler gives sessions by transaction,
    /// two connections take turns at one, or one connection sees several.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` if it does not.
    func requireOwnSession(_ connection: PostgresConnection, takesStandby: Bool) throws {
        guard connection.isPooled else { return }
        let other = try open(takesStandby: takesStandby)
        defer { other.close() }
        do {
            for _ in 0..<4 {
                let seen = try [connection, other].map { try $0.rows("SELECT pg_backend_pid()::bigint").int(0, 0) }
                guard seen == [connection.process, other.process], seen[0] != seen[1] else {
                    throw Session.byTransaction
                }
            }
        } catch {
            throw Session.isShared(error) ? Session.byTransaction : error
        }
    }

    private static let byTransaction = StoreFailure(
        .incompatible, operation: "connect",
        cause: "a pooler is between, and gives sessions by transaction. \(poolerAdvice)")

    /// Whether a session knows a statement that this connection did not prepare, or not one that it did.
    private static func isShared(_ error: any Error) -> Bool {
        ["42P05", "26000"].contains((error as? PostgresError)?.sqlState)
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
    /// Whether a server refused the password or got none, and each other that was asked lets nobody in like this:
    /// nothing but another password mends that. A server that is asked with TLS and without says one of each.
    ///
    /// libpq has no code for what goes wrong while it connects, only words, and the server's own may be in another
    /// language than English. What is not recognised is taken for something that passes.
    public static func refusesPassword(_ failure: StoreFailure) -> Bool {
        guard failure.code == .unavailable, failure.operation == "connect" else { return false }
        let causes = failure.cause.components(separatedBy: "; ").filter { !$0.isEmpty }
        let passwords = causes.filter { cause in
            ["password authentication failed", "no password supplied"].contains { cause.contains($0) }
        }
        let others = causes.filter { $0.contains("no pg_hba.conf entry") }
        return !passwords.isEmpty && passwords.count + others.count == causes.count
    }
}
