import CertificateAuthority
import Foundation
import HTTPTransport

/// A daemon whose listeners speak TLS and ask for certificates.
final class SecuredDaemon: Sendable {
    let authority: CertificateAuthority
    let configuration: URL
    let log: URL
    private let live: CertificateAuthority.Pair
    private let daemon: DaemonProcess

    init(_ world: World, asking: Bool = true, more: String = "") throws {
        let directory = world.directory.appendingPathComponent("secured")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        authority = try CertificateAuthority(in: directory.appendingPathComponent("authority"))
        let first = try authority.issue("first", for: "IP:127.0.0.1")
        live = CertificateAuthority.Pair(
            certificate: directory.appendingPathComponent("live.pem").path,
            key: directory.appendingPathComponent("live.key").path)
        log = directory.appendingPathComponent("daemon.log")
        configuration = directory.appendingPathComponent("reconciled.yaml")
        let clients = asking ? ", client_ca_bundle: \(authority.certificate)" : ""
        let tls = "tls: {certificate_file: \(live.certificate), private_key_file: \(live.key)\(clients)}"
        try WorldSettings().yaml(port: world.simulatorPort, directory: directory)
            .replacing(
                "http: {host: 127.0.0.1, port: 0}", with: "http: {host: 127.0.0.1, port: 0, \(tls)\(more)}"
            )
            .replacing("admin:\n", with: "admin:\n  \(tls)\n")
            .write(to: configuration, atomically: true, encoding: .utf8)
        for (from, to) in [(first.certificate, live.certificate), (first.key, live.key)] {
            try FileManager.default.copyItem(atPath: from, toPath: to)
        }
        daemon = try DaemonProcess(configuration: configuration, log: log)
    }

    /// Puts another file in the place of the listeners' certificate or its key.
    func replace(_ file: KeyPath<CertificateAuthority.Pair, String>, with pair: CertificateAuthority.Pair) throws {
        try String(contentsOfFile: pair[keyPath: file], encoding: .utf8)
            .write(toFile: live[keyPath: file], atomically: true, encoding: .utf8)
    }

    /// A caller that shows this certificate; `nil` for none.
    func client(
        showing pair: CertificateAuthority.Pair?, trusting authority: String? = nil
    ) async throws -> APIClient {
        let ports = try await daemon.ready()
        var wire = CurlConfiguration(maximumConnections: 4, caBundlePath: authority ?? self.authority.certificate)
        wire.clientCertificate = pair.map {
            CurlConfiguration.ClientCertificate(certificatePath: $0.certificate, keyPath: $0.key)
        }
        return APIClient(
            sender: CurlSender(configuration: wire), scheme: "https", port: ports.api, adminPort: ports.admin)
    }

    /// Where its listeners are, once both answer.
    func ports() async throws -> (api: Int, admin: Int) { try await daemon.ready() }

    func end() { daemon.kill() }
}
