import Crypto
import Foundation
import HTTPTransport
import PostgresServers
import Testing

/// Tokens and passwords that are replaced in their files while a daemon runs (docs/runbooks/rotation.md).
struct RotationTests {
    private func digest(_ token: String) -> String {
        SHA256.hash(data: Data(token.utf8)).map { String(format: "%02x", $0) }.joined()
    }

    /// Puts a text in the place of another in a file, as a whole, as Kubernetes does.
    private func edit(_ file: URL, _ text: String, _ other: String) throws {
        let before = try String(contentsOf: file, encoding: .utf8)
        #expect(before.contains(text))
        try before.replacing(text, with: other).write(to: file, atomically: true, encoding: .utf8)
    }

    @Test func `tokens of callers and operators are replaced without a restart, with both for a while`() async throws {
        try await World.run { world, client in
            var (old, new) = (client, client)
            new.token = "another-token-of-the-tests"
            func status(_ client: APIClient) async throws -> Int {
                try await client.send(.get, "/v1/payments").status
            }
            #expect(try await status(old) == 200)
            #expect(try await status(new) == 401)
            let first = "token_sha256: \"\(digest(World.callerToken))\""
            let second = "next_token_sha256: \"\(digest("another-token-of-the-tests"))\""
            try edit(world.configuration, first, "\(first), \(second)")
            try await Polling.until("the second token counts as well") { try await status(new) == 200 }
            #expect(try await status(old) == 200)

            try edit(world.configuration, "\(first), \(second)", second.replacing("next_", with: ""))
            await world.daemon(0)?.hangUp()
            try await Polling.until("the first token counts no more") { try await status(old) == 401 }
            #expect(try await status(new) == 200)

            (old, new) = (client, client)
            (old.token, new.token) = (World.operatorToken, "another-operator-of-the-tests")
            func admin(_ client: APIClient) async throws -> Int {
                try await client.send(.get, "/v1/payments", admin: true).status
            }
            #expect(try await admin(old) == 200)
            try edit(
                world.configuration, digest(World.operatorToken), digest("another-operator-of-the-tests"))
            try await Polling.until("the operator's token is another one") { try await admin(new) == 200 }
            #expect(try await admin(old) == 401)

            // What makes no sense changes nothing, and is told.
            try edit(world.configuration, digest("another-operator-of-the-tests"), "none")
            try await Polling.until("it is told") { world.log().contains("is not used") }
            #expect(world.log().contains("token_sha256"))
            #expect(try await admin(new) == 200)
            #expect(await world.daemon(0)?.isRunning == true)
        }
    }

    @Test func `a provider's token is replaced without a restart`() async throws {
        try await World.run { world, _ in
            let directory = world.directory.appendingPathComponent("rotation")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let (file, token) = (
                directory.appendingPathComponent("reconciled.yaml"), directory.appendingPathComponent("token")
            )
            try "wrong-token".write(to: token, atomically: true, encoding: .utf8)
            try WorldSettings().yaml(port: world.simulatorPort, directory: directory)
                .replacing("  - name: card\n", with: "  - name: card\n    token_file: \(token.path)\n")
                .write(to: file, atomically: true, encoding: .utf8)
            let daemon = try DaemonProcess(
                configuration: file, log: directory.appendingPathComponent("daemon.log"),
                without: ["RECONCILED_PROVIDERS_CARD_TOKEN"])
            defer { daemon.kill() }
            let ports = try await daemon.ready()
            let client = APIClient(port: ports.api, adminPort: ports.admin)
            let body = Bodies.payment([("card", 500)])
            let refused = try await client.create(body, key: "rotation-1")
            #expect(refused.text.contains("unauthorized"), "\(refused.text)")
            try "provider-key:token:merchant\n".write(to: token, atomically: true, encoding: .utf8)
            let number = Counter()
            try await Polling.until("payments succeed with the new token") {
                try await client.create(body, key: "rotation-\(await number.next())").state == "succeeded"
            }
            let log = try String(contentsOf: directory.appendingPathComponent("daemon.log"), encoding: .utf8)
            #expect(log.contains("providers.card.token"))
            let secrets = log.split(separator: "\n").filter { line in
                ["wrong-token", "provider-key:token:merchant"].contains { line.contains($0) }
            }
            #expect(secrets.isEmpty, "\(secrets.first ?? "")")
            // At `debug` too: what holds secrets in memory is printed by nobody.
            #expect(log.contains(" debug ") && !log.contains("sl-services"))
        }
    }

    @Test func `the database's password is replaced without a restart`() async throws {
        let server = try await PostgresServer.shared()
        let role = try await server.role(password: "one")
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "reconciled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let (file, password) = (
            directory.appendingPathComponent("reconciled.yaml"), directory.appendingPathComponent("password")
        )
        try "one".write(to: password, atomically: true, encoding: .utf8)
        var settings = WorldSettings()
        let schema = server.uniqueSchema()
        settings.store = .postgres(
            dsn: "host=127.0.0.1 port=\(server.port) user=\(role) dbname=postgres", schema: schema, timeLimit: "2s")
        try settings.yaml(port: 1, directory: directory)
            .replacing("schema: \(schema),", with: "schema: \(schema), password_file: \(password.path),")
            .write(to: file, atomically: true, encoding: .utf8)
        let migration = Process()
        migration.executableURL = try DaemonProcess.program()
        migration.arguments = ["migrate", "--config", file.path]
        migration.environment = DaemonProcess.environment
        try migration.run()
        migration.waitUntilExit()
        #expect(migration.terminationStatus == 0)
        let daemon = try DaemonProcess(configuration: file, log: directory.appendingPathComponent("daemon.log"))
        defer { daemon.kill() }
        let ports = try await daemon.ready()
        let client = APIClient(port: ports.api, adminPort: ports.admin)
        func ready() async throws -> Bool { try await client.send(.get, "/readyz", admin: true).status == 200 }
        try await Polling.until("it is ready") { try await ready() }

        _ = try await server.psql("ALTER ROLE \(role) PASSWORD 'two'")
        _ = try await server.psql(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '\(role)'")
        try await Polling.until("it is not ready with the old password") { try await !ready() }
        try "two".write(to: password, atomically: true, encoding: .utf8)
        try await Polling.until("it is ready with the new one") { try await ready() }
        #expect(try await daemon.terminate() == 0)
        try FileManager.default.removeItem(at: directory)
    }

    private actor Counter {
        private var number = 1
        func next() -> Int {
            number += 1
            return number
        }
    }
}
