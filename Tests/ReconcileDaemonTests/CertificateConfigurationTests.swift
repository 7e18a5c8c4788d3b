import CertificateAuthority
import Foundation
import HTTPEdge
import HTTPTransport
import Testing
import Yams

@testable import ReconcileDaemon

/// What a configuration is told of certificates before they are used.
@Suite struct CertificateConfigurationTests {
    private static let authority = Result {
        try CertificateAuthority(
            in: FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-\(UUID().uuidString)"))
    }
    private let pair: CertificateAuthority.Pair
    private let other: CertificateAuthority.Pair
    private let bundle: String

    init() throws {
        let authority = try CertificateConfigurationTests.authority.get()
        pair = try authority.issue("one-\(UUID().uuidString)", for: "DNS:one.example")
        other = try authority.issue("other-\(UUID().uuidString)", for: "DNS:other.example")
        bundle = authority.certificate
    }

    private func read(_ text: String) throws -> Configuration {
        try Configuration.read(
            Yams.compose(yaml: text), environment: ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
        ) { try String(contentsOfFile: $0, encoding: .utf8) }
    }

    private func problems(_ lines: String) -> [String] {
        do {
            _ = try read(ConfigurationTests.minimal + lines)
            return []
        } catch {
            return (error as? ConfigurationFailure)?.problems.map { "\($0)" } ?? ["\(error)"]
        }
    }

    @Test func `a certificate and its key are taken on both listeners, for the peer and for a provider`() throws {
        let files = "certificate_file: \(pair.certificate), private_key_file: \(pair.key)"
        let read = try read(
            ConfigurationTests.minimal.replacing("name: card,", with: "name: card, \(files),")
                + "\nhttp: {tls: {\(files), client_ca_bundle: \(bundle)}}\nadmin: {tls: {\(files)}}\n")
        #expect(read.http.tls?.clients == .always && read.http.tls?.clientAuthorities != nil)
        #expect(read.admin.tls?.clients == .whereAsked && read.admin.tls?.clientAuthorities == nil)
        #expect(read.providers[0].clientCertificate?.certificatePath == pair.certificate)
        // What is read is watched, so that it can be replaced.
        #expect(Set(read.files).isSuperset(of: [pair.certificate, pair.key, bundle]))
    }

    @Test func `what does not belong together is refused, and no key is repeated`() throws {
        let authority = try CertificateConfigurationTests.authority.get()
        let locked = try authority.locked(pair.key)
        let cases: [(members: String, key: String, allowed: String)] = [
            ("certificate_file: \(pair.certificate)", "private_key_file: missing", "the key of this certificate"),
            ("private_key_file: \(pair.key)", "certificate_file: missing", "a PEM file of certificates"),
            ("client_ca_bundle: \(bundle)", "certificate_file: missing", "a PEM file of certificates"),
            ("certificate_file: /nowhere, private_key_file: \(pair.key)", "certificate_file: '/nowhere'", "a PEM file"),
            (
                "certificate_file: \(pair.certificate), private_key_file: /nowhere", "private_key_file: '/nowhere'",
                "the key"
            ),
            (
                "certificate_file: \(pair.certificate), private_key_file: \(other.key)",
                "private_key_file: '\(other.key)'", "the key of this certificate"
            ),
            (
                "certificate_file: \(pair.certificate), private_key_file: \(locked)",
                "private_key_file: '\(locked)'", "without a password"
            ),
            (
                "certificate_file: \(pair.key), private_key_file: \(pair.key)", "certificate_file: '\(pair.key)'",
                "a PEM file of certificates"
            ),
            (
                "certificate_file: \(pair.certificate), private_key_file: \(pair.key), client_ca_bundle: \(pair.key)",
                "client_ca_bundle: '\(pair.key)'", "a PEM file of certificates"
            ),
            ("certificate: inline", "certificate: '(unknown key)'", "certificate_file"),
        ]
        for (members, key, allowed) in cases {
            for listener in ["http", "admin"] {
                let found = problems("\n\(listener): {tls: {\(members)}}\n")
                #expect(found.count == 1, "\(members): \(found)")
                #expect(found.first?.hasPrefix("\(listener).tls.\(key); allowed: ") == true, "\(members): \(found)")
                #expect(found.first?.contains(allowed) == true, "\(members): \(found)")
                #expect(!"\(found)".contains("PRIVATE KEY"))
            }
        }
    }

    @Test func `who looks into the books needs no certificate`() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("books-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        let tls = "tls: {certificate_file: /nowhere, private_key_file: /nowhere, client_ca_bundle: /nowhere}"
        try (ConfigurationTests.minimal + "\nhttp: {\(tls)}\nadmin: {\(tls)}\n")
            .write(to: path, atomically: true, encoding: .utf8)
        let read = try Configuration.loadForBooks(path: path.path, environment: [:])
        #expect(read.http.tls == nil && read.admin.tls == nil)
    }
}
