import Foundation
import Glibc

/// PgBouncer between a test and the server that all tests share. It ends with its owner.
public final class Pooler: Sendable {
    /// When a client gives its connection to the server back.
    public enum Mode: String, Sendable, CaseIterable {
        /// When it disconnects.
        case session
        /// After each transaction.
        case transaction
    }

    /// The port on 127.0.0.1.
    public let port: Int
    private let watchdog: Watchdog
    /// Leads a group of its own.
    private let process: pid_t

    private static let program = "/usr/sbin/pgbouncer"

    /// Starts one, and waits until it serves.
    ///
    /// - Parameters:
    ///   - takesOptions: whether it takes connections that ask for settings of the session; it drops what they ask for.
    /// - Throws: ``PostgresServerError``, or `CancellationError`.
    public static func start(
        _ mode: Mode, takesOptions: Bool, before server: PostgresServer
    ) async throws -> Pooler {
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw PostgresServerError.notInstalled(
                "PgBouncer is needed and was not found at \(program); install it with: apt-get install pgbouncer")
        }
        let installation = try await PostgresInstallation.find()
        let watchdog = try Watchdog(installation)
        let port = try FreePort.next()
        let file = "\(watchdog.directory)/pgbouncer.ini"
        let ignored = takesOptions ? "\nignore_startup_parameters = options" : ""
        try """
        [databases]
        * = host=127.0.0.1 port=\(server.port) user=postgres
        [pgbouncer]
        listen_addr = 127.0.0.1
        listen_port = \(port)
        unix_socket_dir =
        auth_type = any
        pool_mode = \(mode.rawValue)\(ignored)

        """.write(toFile: file, atomically: true, encoding: .utf8)
        try installation.give(file)
        let run = (installation.user.map { ["runuser", "-u", $0, "--"] } ?? []) + [program, "-q", file]
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let process = try Program.spawn(run, in: watchdog.directory, streams: [null, null, null])
        let ask = ["\(installation.programs)/psql", "-XqAt", "-d", dsn(port), "-c", "SELECT 1"]
        try await Polling.until("PgBouncer serves", within: .seconds(20)) {
            do {
                return try await Program.run(ask, in: "/") == "1\n"
            } catch is PostgresServerError {
                return false
            }
        }
        return Pooler(port: port, watchdog: watchdog, process: process)
    }

    private init(port: Int, watchdog: Watchdog, process: pid_t) {
        self.port = port
        self.process = process
        self.watchdog = watchdog
    }

    /// A connection string through it.
    public var dsn: String { Pooler.dsn(port) }

    private static func dsn(_ port: Int) -> String { "host=127.0.0.1 port=\(port) user=postgres dbname=postgres" }

    /// Stops it where it is: who connects waits.
    public func freeze() { kill(-process, SIGSTOP) }

    /// Lets it go on from there.
    public func thaw() { kill(-process, SIGCONT) }

    /// Ends it.
    public func stop() async throws { try await watchdog.end() }
}
