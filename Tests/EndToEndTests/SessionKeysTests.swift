import CertificateAuthority
import Foundation
import Testing

/// What TLS libraries would tell of a session to whoever can set a variable of the environment.
@Suite struct SessionKeysTests {
    @Test func `no file with the keys of sessions is written, whatever SSLKEYLOGFILE says`() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let authority = try CertificateAuthority(in: directory.appendingPathComponent("authority"))
        let pair = try authority.issue("provider", for: "DNS:localhost")
        let server = try OpenSSLServer(pair.certificate, key: pair.key, in: directory)
        defer { server.stop() }
        try await server.untilItListens()
        let configuration = directory.appendingPathComponent("reconciled.yaml")
        try WorldSettings().yaml(port: server.port, directory: directory)
            .replacing("http://127.0.0.1:\(server.port)", with: "https://localhost:\(server.port)")
            .replacing("allow_plain_http: true", with: "ca_bundle: \(authority.certificate)")
            .write(to: configuration, atomically: true, encoding: .utf8)
        let keys = directory.appendingPathComponent("keys.log")
        let daemon = try DaemonProcess(
            configuration: configuration, log: directory.appendingPathComponent("daemon.log"),
            with: ["SSLKEYLOGFILE": keys.path])
        let ports = try await daemon.ready()
        _ = try await APIClient(port: ports.api, adminPort: ports.admin).create(Bodies.card(), key: "tls-1", wait: 0)
        try await Polling.until("the daemon has a session with the provider") {
            try server.output.contains("CIPHER is")
        }
        #expect(!FileManager.default.fileExists(atPath: keys.path))
        daemon.kill()
        try FileManager.default.removeItem(at: directory)
    }
}
