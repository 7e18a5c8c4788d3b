import Foundation

/// One data directory and the server that runs on it; PostgreSQL calls that a cluster.
struct Cluster: Sendable {
    /// A line of the configuration file.
    typealias Setting = (name: String, value: String)

    /// The port on 127.0.0.1, and in the name of the Unix socket.
    let port: Int
    private let installation: PostgresInstallation
    /// The directory that holds the data directory, the Unix socket and the log.
    private let directory: String
    private let data: String

    /// Every server of the tests has these. Files instead of named segments of shared memory go with the data
    /// directory when a server is killed.
    private static let settings: [Setting] = [
        ("listen_addresses", "127.0.0.1"),
        ("max_connections", "600"),
        ("shared_buffers", "64MB"),
        ("dynamic_shared_memory_type", "mmap"),
        ("fsync", "on"),
    ]

    /// The processes of the server.
    var processes: ServerProcesses { ServerProcesses(data: data) }

    /// A connection string over TCP.
    var dsn: String { Cluster.dsn(hosts: "127.0.0.1", ports: "\(port)") }

    /// The connection string for the superuser, who needs no password, and for the database that is always there.
    static func dsn(hosts: String, ports: String) -> String {
        "host=\(hosts) port=\(ports) user=postgres dbname=postgres"
    }

    /// Makes a data directory and starts a server on it.
    ///
    /// - Throws: ``PostgresServerError``, or `CancellationError`.
    static func primary(
        _ installation: PostgresInstallation, in directory: String, _ more: [Setting] = []
    ) async throws -> Cluster {
        let data = "\(directory)/primary"
        // Not synced: the files have to survive a server, not a loss of power. What the server writes, it does sync.
        let make = installation.command(
            "initdb",
            ["--no-sync", "--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "-D", data])
        _ = try await Program.run(make, in: directory)
        let socket: Setting = ("unix_socket_directories", directory)
        return try await started(installation, directory, data, settings + [socket] + more)
    }

    /// Copies the data directory and the settings, and starts a server that follows this one.
    ///
    /// - Throws: ``PostgresServerError``, or `CancellationError`.
    func standby(_ more: [Setting]) async throws -> Cluster {
        let copy = "\(directory)/standby"
        // The log is fetched after the data; a second connection that streams it meanwhile would take longer to end.
        let make = installation.command(
            "pg_basebackup",
            [
                "--no-sync", "--checkpoint=fast", "--wal-method=fetch", "--write-recovery-conf", "-d", dsn, "-D", copy,
            ])
        _ = try await Program.run(make, in: directory)
        return try await Cluster.started(installation, directory, copy, more)
    }

    /// Starts the server and waits until it accepts connections.
    ///
    /// - Throws: ``PostgresServerError/failed(program:words:)`` with the server's log, or `CancellationError`.
    func start() async throws {
        let log = "\(data).log"
        do {
            let start = installation.command("pg_ctl", ["start", "-w", "-t", "50", "-D", data, "-l", log])
            _ = try await Program.run(start, in: directory)
        } catch PostgresServerError.failed(let program, let words) {
            let tail = (try? String(contentsOfFile: log, encoding: .utf8))?.suffix(4000) ?? "it has written no log"
            throw PostgresServerError.failed(program: program, words: "\(words)\n\(tail)")
        }
    }

    /// Shuts the server down as an administrator would: what was acknowledged is written and sent, who waits is told.
    ///
    /// - Throws: ``PostgresServerError``, or `CancellationError`.
    func stop() async throws {
        let stop = installation.command("pg_ctl", ["stop", "-m", "fast", "-w", "-t", "50", "-D", data])
        _ = try await Program.run(stop, in: directory)
    }

    /// Kills all processes of the server at one moment, as a loss of power would.
    ///
    /// - Throws: ``PostgresServerError``, or `CancellationError`.
    func kill() async throws {
        try await processes.killAll()
        // A loss of power takes the shared memory along. The files that name the postmaster go too: until somebody
        // takes notice of the dead process, which nobody does in some containers, they say that the server is running.
        let lock = "\(data)/postmaster.pid"
        let content = try String(contentsOfFile: lock, encoding: .utf8)
        // The seventh line holds the key of the segment and its number.
        let lines = content.split(separator: "\n", omittingEmptySubsequences: false)
        if let segment = lines.dropFirst(6).first?.split(separator: " ").last {
            _ = try await Program.run(["ipcrm", "-m", String(segment)], in: "/")
        }
        try FileManager.default.removeItem(atPath: lock)
        try FileManager.default.removeItem(atPath: "\(directory)/.s.PGSQL.\(port).lock")
    }

    /// Runs SQL through `psql`: one statement, or several in one transaction.
    ///
    /// - Returns: the rows, one on each line, with `|` between the columns and without the last line break.
    /// - Throws: ``PostgresServerError/failed(program:words:)`` with the server's message,
    ///   ``PostgresServerError/timedOut(_:)``, or `CancellationError`.
    func psql(_ sql: String, within limit: Duration) async throws -> String {
        let command = ["\(installation.programs)/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", sql]
        let output = try await Program.run(command, in: "/", within: limit)
        return output.hasSuffix("\n") ? String(output.dropLast()) : output
    }

    /// Runs one of PostgreSQL's programs as the servers' user.
    func run(_ program: String, _ arguments: [String]) async throws {
        _ = try await Program.run(installation.command(program, arguments), in: "/")
    }

    /// Another process may take a port between the look at it and the server's start; then there are others.
    private static func started(
        _ installation: PostgresInstallation, _ directory: String, _ data: String, _ settings: [Setting]
    ) async throws -> Cluster {
        var attempts = 0
        while true {
            attempts += 1
            let port = try FreePort.next()
            let cluster = Cluster(port: port, installation: installation, directory: directory, data: data)
            try cluster.configure(settings + [("port", "\(port)")])
            do {
                try await cluster.start()
                return cluster
            } catch PostgresServerError.failed(_, let words)
                where attempts < 5 && words.contains("Address already in use")
            {
                continue
            }
        }
    }

    /// The last line of a name counts, so nothing that is in the file has to be changed.
    private func configure(_ settings: [Setting]) throws {
        let lines = settings.map { "\($0.name) = '\($0.value)'\n" }.joined()
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: "\(data)/postgresql.conf"))
        try file.seekToEnd()
        try file.write(contentsOf: Data(lines.utf8))
        try file.close()
    }
}
