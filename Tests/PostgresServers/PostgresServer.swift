import Foundation

/// The one real PostgreSQL server that all tests of a process share; each works in a schema of its own.
///
/// It syncs what it commits, takes 300 connections, and asks for no password. It ends with the process, also when that
/// is killed.
public final class PostgresServer: Sendable {
    /// The directory of its Unix socket, to be given as `host` together with ``port``.
    public let socketDirectory: String
    private let cluster: Cluster
    private let watchdog: Watchdog

    /// The server, started by the first who asks.
    ///
    /// - Throws: ``PostgresServerError/notInstalled(_:)``, or another of ``PostgresServerError`` if it cannot be
    ///   started; everybody who asks later is told the same. `CancellationError` if the task is cancelled while it
    ///   starts the server, which the next then does.
    public static func shared() async throws -> PostgresServer {
        try await SharedServer.only.server()
    }

    /// The port on 127.0.0.1.
    public var port: Int { cluster.port }

    /// A libpq connection string over TCP, for a superuser. Connecting may take long, because the tests of a process
    /// connect at the same time.
    ///
    /// - Parameter schema: the only schema in which names are looked up and made; it need not exist yet. Without it,
    ///   the server's usual ones.
    public func dsn(schema: String? = nil) -> String {
        "\(cluster.dsn) connect_timeout=30" + (schema.map { " options='-c search_path=\($0)'" } ?? "")
    }

    /// A name that no other schema has; the schema is not made. Lower case letters, digits and `_`.
    public func uniqueSchema() -> String {
        "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
    }

    /// Runs SQL through `psql`: one statement, or several in one transaction.
    ///
    /// - Parameter limit: after it, `psql` is killed; the server finds out on its own.
    /// - Returns: the rows, one on each line, with `|` between the columns.
    /// - Throws: ``PostgresServerError/failed(program:words:)`` with the server's message, or
    ///   ``PostgresServerError/timedOut(_:)``.
    public func psql(_ sql: String, within limit: Duration = .seconds(30)) async throws -> String {
        try await cluster.psql(sql, within: limit)
    }

    /// Makes a backup of a schema, as `pg_dump` does.
    ///
    /// - Returns: the file; it is removed with the server.
    /// - Throws: as ``psql(_:within:)``.
    public func backUp(schema: String) async throws -> String {
        let file = "\(watchdog.directory)/\(UUID().uuidString).dump"
        try await cluster.run("pg_dump", ["-Fc", "-n", schema, "-f", file, "-d", cluster.dsn])
        return file
    }

    /// Puts a backup of a schema in the place of what there is now.
    ///
    /// - Throws: as ``psql(_:within:)``.
    public func restore(schema: String, from file: String) async throws {
        // Not by `pg_restore --clean`, which drops constraints of partitions one by one, and fails.
        _ = try await psql("DROP SCHEMA \(schema) CASCADE")
        try await cluster.run("pg_restore", ["--exit-on-error", "-d", cluster.dsn, file])
    }

    fileprivate init() async throws {
        let installation = try await PostgresInstallation.find()
        watchdog = try Watchdog(installation)
        socketDirectory = watchdog.directory
        cluster = try await Cluster.primary(installation, in: watchdog.directory)
        // The first rule that fits counts.
        _ = try await psql("CREATE ROLE \(PostgresServer.withPasswords)")
        let file = try await psql("SHOW hba_file")
        let rules = try String(contentsOfFile: file, encoding: .utf8)
        try "host all +\(PostgresServer.withPasswords) 127.0.0.1/32 scram-sha-256\n\(rules)".write(
            toFile: file, atomically: false, encoding: .utf8)
        _ = try await psql("SELECT pg_reload_conf()")
        try await Polling.until("passwords are asked for", within: .seconds(20)) {
            let rule = "SELECT count(*) FROM pg_hba_file_rules WHERE user_name = '{+\(PostgresServer.withPasswords)}'"
            return try await self.psql(rule) == "1"
        }
    }

    private static let withPasswords = "with_passwords"

    /// Makes a role that may do everything once it gave its password; over TCP it has to.
    ///
    /// - Returns: its name.
    /// - Throws: as ``psql(_:within:)``.
    public func role(password: String) async throws -> String {
        let name = "role_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        _ = try await psql(
            "CREATE ROLE \(name) LOGIN SUPERUSER PASSWORD '\(password)' IN ROLE \(PostgresServer.withPasswords)")
        return name
    }
}

/// Starts the server once, however many ask at the same time.
private actor SharedServer {
    static let only = SharedServer()

    private enum State {
        case absent
        case starting(waiting: [CheckedContinuation<Void, Never>])
        case settled(Result<PostgresServer, any Error>)
    }

    private var state = State.absent

    func server() async throws -> PostgresServer {
        while true {
            switch state {
            case .settled(let result): return try result.get()
            case .absent: try await start()
            case .starting: await settling()
            }
        }
    }

    private func start() async throws {
        state = .starting(waiting: [])
        do {
            settle(.settled(.success(try await PostgresServer())))
        } catch let cancellation as CancellationError {
            // It says nothing about the server, so the next may try.
            settle(.absent)
            throw cancellation
        } catch {
            settle(.settled(.failure(error)))
        }
    }

    private func settling() async {
        await withCheckedContinuation { continuation in
            guard case .starting(let waiting) = state else { return continuation.resume() }
            state = .starting(waiting: waiting + [continuation])
        }
    }

    private func settle(_ next: State) {
        guard case .starting(let waiting) = state else { return }
        state = next
        for continuation in waiting { continuation.resume() }
    }
}
