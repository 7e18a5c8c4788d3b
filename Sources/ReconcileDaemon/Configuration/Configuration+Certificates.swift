import HTTPEdge
import HTTPTransport
import Logging
import Metrics

extension Configuration {
    /// With what a listener encrypts its connections, as its files say.
    struct ListenerTLS: Equatable {
        var chain: String
        var key: String
        /// Who signs the certificates of clients; `nil` where clients are asked for none.
        var clientAuthorities: String?
        /// Who has to show one, where anybody has to.
        var clients: ListenerCertificates.Clients

        /// What the listener works with.
        func certificates() throws(ListenerCertificates.Failure) -> ListenerCertificates {
            try ListenerCertificates(
                chain: chain, key: key, clients: clientAuthorities == nil ? .anybody : clients,
                authorities: clientAuthorities)
        }
    }

    private static let pem = "a PEM file of certificates that can be read"
    private static let keyPEM = "the key of this certificate, as a PEM file without a password"

    /// Reads the section `tls` of a listener; `nil` without one.
    static func readTLS(_ parent: ConfigurationSection, clients: ListenerCertificates.Clients) -> ListenerTLS? {
        let section = parent.section("tls")
        defer { section.finish() }
        guard section.isForSending else {
            section.leaveOut("certificate_file", "private_key_file", "client_ca_bundle")
            return nil
        }
        let bundle = section.text("client_ca_bundle")
        guard let files = readPair(section, isNeeded: bundle != nil) else { return nil }
        let authorities = bundle.flatMap { section.content(of: $0) }
        if let bundle, authorities == nil { section.report("client_ca_bundle", value: bundle, allowed: pem) }
        let tls = ListenerTLS(
            chain: files.chain, key: files.key, clientAuthorities: authorities, clients: clients)
        do throws(ListenerCertificates.Failure) {
            _ = try tls.certificates()
            return tls
        } catch {
            report(error, section)
            return nil
        }
    }

    /// Reads the certificate that is shown to another side; `nil` without one.
    static func readClientCertificate(_ section: ConfigurationSection) -> CurlConfiguration.ClientCertificate? {
        guard section.isForSending else {
            section.leaveOut("certificate_file", "private_key_file")
            return nil
        }
        guard let files = readPair(section, isNeeded: false) else { return nil }
        do throws(ListenerCertificates.Failure) {
            _ = try ListenerCertificates(chain: files.chain, key: files.key)
            return CurlConfiguration.ClientCertificate(certificatePath: files.paths.chain, keyPath: files.paths.key)
        } catch {
            report(error, section)
            return nil
        }
    }

    /// What a certificate's two files hold; `nil` where there are none, or one is reported.
    private static func readPair(
        _ section: ConfigurationSection, isNeeded: Bool
    ) -> (chain: String, key: String, paths: (chain: String, key: String))? {
        let paths = (section.text("certificate_file"), section.text("private_key_file"))
        guard isNeeded || paths.0 != nil || paths.1 != nil else { return nil }
        guard let chainPath = paths.0, let chain = section.content(of: chainPath) else {
            section.report("certificate_file", value: paths.0 ?? "", allowed: pem)
            return nil
        }
        guard let keyPath = paths.1, let key = section.content(of: keyPath) else {
            section.report("private_key_file", value: paths.1 ?? "", allowed: keyPEM)
            return nil
        }
        return (chain, key, (chainPath, keyPath))
    }

    private static func report(_ failure: ListenerCertificates.Failure, _ section: ConfigurationSection) {
        switch failure {
        case .certificate:
            section.report("certificate_file", value: section.text("certificate_file") ?? "", allowed: pem)
        case .key:
            section.report("private_key_file", value: section.text("private_key_file") ?? "", allowed: keyPEM)
        case .authorities:
            section.report("client_ca_bundle", value: section.text("client_ca_bundle") ?? "", allowed: pem)
        }
    }
}

/// The certificates of both listeners, which are replaced while connections are accepted.
struct LiveCertificates: Sendable {
    /// Where callers come; `nil` without TLS.
    let callers: Replaceable<ListenerCertificates>?
    /// Where operators come; `nil` without TLS.
    let operators: Replaceable<ListenerCertificates>?

    init(_ configuration: Configuration) throws {
        callers = try configuration.http.tls.map { Replaceable(try $0.certificates()) }
        operators = try configuration.admin.tls.map { Replaceable(try $0.certificates()) }
    }

    /// Puts those of a configuration that was read anew in their place. Whether a listener has any is not changed.
    ///
    /// - Returns: the keys of what changed.
    func replace(_ old: Configuration, with new: Configuration) throws -> [String] {
        var replacements: [(key: String, place: Replaceable<ListenerCertificates>, with: ListenerCertificates)] = []
        for (key, place, before, after) in [
            ("http.tls", callers, old.http.tls, new.http.tls), ("admin.tls", operators, old.admin.tls, new.admin.tls),
        ] {
            guard let place, let after, before != after else { continue }
            replacements.append((key, place, try after.certificates()))
        }
        for replacement in replacements { replacement.place.replace(with: replacement.with) }
        return replacements.map(\.key)
    }

    /// Shows in metrics when they expire.
    func record() {
        for (listener, place) in [("callers", callers), ("operators", operators)] {
            guard let place else { continue }
            Gauge(label: "reconciled_certificate_expiry_time_seconds", dimensions: [("listener", listener)])
                .record(place.current.expiresAt)
        }
    }
}
