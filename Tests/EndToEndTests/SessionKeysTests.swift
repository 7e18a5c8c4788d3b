import Foundation
import PostgresServers
import Testing

/// What TLS libraries would tell of a session to whoever can set a variable of the environment.
@Suite struct SessionKeysTests {
    /// OpenSSL's own server: it says for each session which cipher was chosen.
    private final class Server {
        let process = Process()
        let said: URL
        let authority: String
        let port: Int

        init(in directory: URL) throws {
            authority = directory.appendingPathComponent("ca.pem").path
            said = directory.appendingPathComponent("server.log")
            let key = directory.appendingPathComponent("key.pem").path
            let made = Process()
            made.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            made.arguments =
                ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
                + ["-keyout", key, "-out", authority, "-days", "2", "-subj", "/CN=localhost"]
                + ["-addext", "subjectAltName=DNS:localhost"]
            made.standardError = FileHandle.nullDevice
            try made.run()
            made.waitUntilExit()
            try #require(made.terminationStatus == 0, "openssl could not make a certificate")
            port = try FreePort.next()
            _ = FileManager.default.createFile(atPath: said.path, contents: nil)
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl", "s_server", "-accept", "\(port)", "-cert", authority, "-key", key]
            process.standardOutput = try FileHandle(forWritingTo: said)
            process.standardError = FileHandle.nullDevice
            // It ends with its input.
            process.standardInput = Pipe()
            try process.run()
        }

        var sessions: String { (try? String(contentsOf: said, encoding: .utf8)) ?? "" }
    }

    @Test func `no file with the keys of sessions is written, whatever SSLKEYLOGFILE says`() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let server = try Server(in: directory)
        defer { server.process.terminate() }
        try await Polling.until("the server listens") { server.sessions.contains("ACCEPT") }
        let configuration = directory.appendingPathComponent("reconciled.yaml")
        try WorldSettings().yaml(port: server.port, directory: directory)
            .replacing("http://127.0.0.1:\(server.port)", with: "https://localhost:\(server.port)")
            .replacing("allow_plain_http: true", with: "ca_bundle: \(server.authority)")
            .write(to: configuration, atomically: true, encoding: .utf8)
        let keys = directory.appendingPathComponent("keys.log")
        let daemon = try DaemonProcess(
            configuration: configuration, log: directory.appendingPathComponent("daemon.log"),
            with: ["SSLKEYLOGFILE": keys.path])
        let ports = try await daemon.ready()
        _ = try await APIClient(port: ports.api, adminPort: ports.admin).create(Bodies.card(), key: "tls-1", wait: 0)
        try await Polling.until("the daemon has a session with the provider") {
            server.sessions.contains("CIPHER is")
        }
        #expect(!FileManager.default.fileExists(atPath: keys.path))
        daemon.kill()
        try FileManager.default.removeItem(at: directory)
    }
}
