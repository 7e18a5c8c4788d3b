import Foundation
import HTTPTransport
import PostgresServers
import PostgresStore
import Reconciler
import Testing

@testable import ReconcileDaemon

/// A daemon that is started before its database: it waits, and says for what.
@Suite(.serialized) struct StartTests {
    /// A configuration whose listeners are at ports that are known before anybody listens.
    private struct Place {
        let directory: URL
        let configuration: URL
        let client: APIClient

        init(database dsn: String, schema: String = "reconciled") throws {
            let ports = (api: try FreePort.next(), admin: try FreePort.next())
            directory = FileManager.default.temporaryDirectory.appendingPathComponent(
                "reconciled-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            configuration = directory.appendingPathComponent("reconciled.yaml")
            var settings = WorldSettings()
            settings.store = .postgres(dsn: dsn, schema: schema, timeLimit: "2s")
            settings.logLevel = "info"
            try settings.yaml(port: 1, directory: directory)
                .replacing("http: {host: 127.0.0.1, port: 0}", with: "http: {host: 127.0.0.1, port: \(ports.api)}")
                .replacing("  host: 127.0.0.1\n  port: 0", with: "  host: 127.0.0.1\n  port: \(ports.admin)")
                .write(to: configuration, atomically: true, encoding: .utf8)
            client = APIClient(port: ports.api, adminPort: ports.admin, token: World.operatorToken)
        }

        func start() throws -> DaemonProcess {
            try DaemonProcess(
                configuration: configuration, log: directory.appendingPathComponent("daemon.log"), failpoint: nil)
        }

        /// The answer of the operators' listener, `nil` while nobody listens.
        func ask(_ path: String) async -> APIClient.Answer? {
            try? await client.send(.get, path, admin: true)
        }

        /// A command of the program, as a process that was started and not waited for.
        func command(_ arguments: [String], under wrapper: [String] = []) throws -> (Process, Pipe) {
            let process = Process()
            let all = wrapper + [try DaemonProcess.program().path] + arguments + ["--config", configuration.path]
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = all
            process.environment = DaemonProcess.environment
            let pipe = Pipe()
            process.standardOutput = pipe
            process.standardError = pipe
            try process.run()
            return (process, pipe)
        }

        func end() throws { try FileManager.default.removeItem(at: directory) }
    }

    /// A server that appears later: a directory for its socket that is not there yet.
    private func absent(_ server: PostgresServer) -> (dsn: String, appear: () throws -> Void, directory: String) {
        // Short: the path of a socket has at most 107 bytes.
        let link = FileManager.default.temporaryDirectory.appendingPathComponent("r-\(UUID().uuidString.prefix(8))")
            .path
        return (
            "host=\(link) port=\(server.port) user=postgres dbname=postgres",
            { try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: server.socketDirectory) },
            link
        )
    }

    @Test func `a daemon waits for its database and for the migrations, alive, not ready, and says so`() async throws {
        let server = try await PostgresServer.shared()
        let (dsn, appear, link) = absent(server)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let place = try Place(database: dsn, schema: server.uniqueSchema())
        let daemon = try place.start()
        defer { daemon.kill() }
        try await Polling.until("the operators' listener answers") { await place.ask("/livez") != nil }
        #expect(await place.ask("/livez")?.status == 200)
        for probe in ["/readyz", "/startupz", "/activez"] {
            #expect(await place.ask(probe)?.status == 503, "\(probe)")
        }
        let reason = try #require(await place.ask("/readyz?verbose")).text
        #expect(reason.contains("waits for the database") && reason.contains("No such file"), "\(reason)")
        let read = try #require(await place.ask("/v1/payments"))
        #expect(read.status == 503 && read.json["type"] as? String == "/problems/not-accepting", "\(read.text)")
        #expect(await place.ask("/metrics")?.status == 200)

        try appear()
        try await Polling.until("it waits for the migrations") {
            await place.ask("/readyz?verbose")?.text.contains("migrations are missing") == true
        }
        let (migration, _) = try place.command(["migrate", "--wait", "1m"])
        migration.waitUntilExit()
        #expect(migration.terminationStatus == 0)
        _ = try await daemon.ready()
        try await Polling.until("it is ready") { await place.ask("/readyz")?.status == 200 }
        #expect(await place.ask("/v1/payments")?.status == 200)
        #expect(try await daemon.terminate() == 0)
        try place.end()
    }

    /// It was seen while ten migrations ran: the daemon ended, because none was missing any more.
    @Test func `migrations that were missing are waited for, also if they are there a moment later`() async throws {
        let server = try await PostgresServer.shared()
        var settings = try PostgresStoreConfiguration(dsn: server.dsn())
        settings.schema = server.uniqueSchema()
        let place = StoreSettings.postgres(settings)
        var missing: StoreFailure?
        do {
            try await PostgresStore(settings).close()
        } catch {
            missing = error
        }
        try await PostgresStore.migrate(settings)
        #expect(place.mayHeal(try #require(missing)))
        try await PostgresStore(settings).close()
        let other = StoreFailure(.incompatible, operation: "open", cause: "migration 1 was applied with other words")
        #expect(!place.mayHeal(other))
    }

    @Test func `a daemon that waits ends at once when it is told to stop`() async throws {
        let place = try Place(database: "host=/nowhere-at-all user=postgres dbname=postgres")
        let daemon = try place.start()
        defer { daemon.kill() }
        try await Polling.until("the operators' listener answers") { await place.ask("/livez") != nil }
        let start = ContinuousClock.now
        #expect(try await daemon.terminate() == 0)
        #expect(.now - start < .seconds(5))
        #expect(daemon.end == "status 0")
        try place.end()
    }

    @Test func `a daemon that is told to stop while it connects does not begin once it is connected`() async throws {
        let server = try await PostgresServer.shared()
        let pooler = try await Pooler.start(.session, takesOptions: true, before: server)
        let place = try Place(database: pooler.dsn, schema: server.uniqueSchema())
        let (migration, _) = try place.command(["migrate"])
        migration.waitUntilExit()
        #expect(migration.terminationStatus == 0)
        pooler.freeze()
        let daemon = try place.start()
        defer { daemon.kill() }
        try await Polling.until("its first try is over", within: .seconds(30)) { await place.ask("/livez") != nil }
        // It pauses for a second, and its next try takes five at least.
        try await Polling.hold(for: .milliseconds(1_500))
        let ended = Task { try await daemon.terminate() }
        try await Polling.hold(for: .milliseconds(500))
        #expect(daemon.isRunning, "it is still connecting")
        pooler.thaw()
        #expect(try await ended.value == 0)
        #expect(daemon.end == "status 0")
        let log = try String(contentsOf: place.directory.appendingPathComponent("daemon.log"), encoding: .utf8)
        #expect(log.contains("stops while it waits for the database"))
        try await pooler.stop()
        try place.end()
    }

    @Test func `a foreign schema that is found after a wait ends the daemon with the reason`() async throws {
        let server = try await PostgresServer.shared()
        let schema = server.uniqueSchema()
        let direct = try Place(database: server.dsn(), schema: schema)
        let (migration, _) = try direct.command(["migrate"])
        migration.waitUntilExit()
        _ = try await server.psql("UPDATE \(schema).schema_migrations SET checksum = 'other' WHERE number = 1")
        let (dsn, appear, link) = absent(server)
        defer { try? FileManager.default.removeItem(atPath: link) }
        let place = try Place(database: dsn, schema: schema)
        let (process, pipe) = try place.command(["serve"])
        defer { process.terminate() }
        try await Polling.until("it waits") { await place.ask("/livez") != nil }
        try appear()
        try await Polling.until("it ends", within: .seconds(20)) { !process.isRunning }
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(process.terminationStatus == 3, "\(output)")
        #expect(output.contains("other words"), "\(output)")
        try direct.end()
        try place.end()
    }

    @Test func `a refused password and a foreign schema end the daemon with the reason`() async throws {
        let server = try await PostgresServer.shared()
        let schema = server.uniqueSchema()
        let role = try await server.role(password: "right")
        let refused = try Place(database: "host=127.0.0.1 port=\(server.port) user=\(role) dbname=postgres")
        for arguments in [["serve"], ["migrate", "--wait", "1h"]] {
            let (process, pipe) = try refused.command(arguments, under: ["RECONCILED_STORE_PASSWORD=wrong"])
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 3, "\(arguments): \(output)")
            #expect(output.contains("password authentication failed"), "\(output)")
        }
        try refused.end()

        let foreign = try Place(database: server.dsn(), schema: schema)
        let (migration, _) = try foreign.command(["migrate"])
        migration.waitUntilExit()
        _ = try await server.psql("UPDATE \(schema).schema_migrations SET checksum = 'other' WHERE number = 1")
        let (process, pipe) = try foreign.command(["serve"])
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 3)
        #expect(output.contains("other words"), "\(output)")
        try foreign.end()
    }

    @Test(.enabled(if: StartTests.mayUnshare, "the system lets nobody make a namespace of processes"))
    func `a command that is the first process of its container ends when it is told to`() async throws {
        let place = try Place(database: "host=/nowhere-at-all user=postgres dbname=postgres")
        let (process, pipe) = try place.command(["migrate", "--wait", "10m"], under: StartTests.unshare)
        var said = ""
        while !said.contains("waits for the database") {
            let more = pipe.fileHandleForReading.availableData
            guard !more.isEmpty else { break }
            said += String(decoding: more, as: UTF8.self)
        }
        #expect(said.contains("waits for the database, up to 10m"), "\(said)")
        let parent = process.processIdentifier
        let children = try String(contentsOfFile: "/proc/\(parent)/task/\(parent)/children", encoding: .utf8)
        let first = try #require(pid_t(children.split(separator: " ").first ?? ""))
        kill(first, SIGTERM)
        try await Polling.until("it ends", within: .seconds(5)) { !process.isRunning }
        process.terminate()
        try place.end()
    }

    private static let unshare = ["unshare", "--map-root-user", "--pid", "--fork", "--kill-child"]

    private static var mayUnshare: Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = unshare + ["true"]
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return false
        }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
