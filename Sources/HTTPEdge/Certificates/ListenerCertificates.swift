internal import NIOCore
internal import NIOSSL

/// A listener's certificate with its key, and whose certificates its clients have to show.
package struct ListenerCertificates: Sendable {
    /// What is wrong with a certificate, a key or the authorities.
    package enum Failure: Error, Sendable, Hashable {
        /// This is no certificate, or there is none.
        case certificate
        /// This is no key without a password, or it belongs to another certificate.
        case key
        /// These are no certificates of authorities.
        case authorities
    }

    /// Whether a client has to show a certificate that an authority of the listener has signed.
    package enum Clients: Sendable, Hashable {
        /// Nobody is asked for one.
        case anybody
        /// Who shows none is not spoken to.
        case always
        /// Who shows none is spoken to; ``ConnectionSource/hasClientCertificate()`` tells the others apart.
        case whereAsked
    }

    /// When the listener's own certificate expires, in seconds since 1970.
    package let expiresAt: Int
    /// Who has to show a certificate.
    package let clients: Clients
    let context: NIOSSLContext

    /// Certificates as PEM.
    ///
    /// Clients speak TLS 1.2 or 1.3. A connection that is closed waits for its client's word for a quarter of a second,
    /// so that who says nothing holds no descriptor.
    /// - Parameters:
    ///   - chain: The listener's certificate, and then those that lead to an authority.
    ///   - key: Its key, without a password.
    ///   - clients: Who has to show a certificate.
    ///   - authorities: Who signs the certificates of clients.
    package init(
        chain: String, key: String, clients: Clients = .anybody, authorities: String? = nil
    ) throws(Failure) {
        let certificates: [NIOSSLCertificate]
        do { certificates = try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)) } catch { throw .certificate }
        guard let own = certificates.first else { throw .certificate }
        let privateKey: NIOSSLPrivateKey
        // Without this, who runs the program by hand would be asked for a password.
        do {
            privateKey = try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem) { reply in reply([UInt8]()) }
        } catch { throw .key }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.shutdownTimeout = .milliseconds(250)
        if let authorities {
            let signers: [NIOSSLCertificate]
            do { signers = try NIOSSLCertificate.fromPEMBytes(Array(authorities.utf8)) } catch { throw .authorities }
            guard !signers.isEmpty else { throw .authorities }
            configuration.trustRoots = .certificates(signers)
            configuration.sendCANameList = true
        }
        switch clients {
        case .anybody: break
        case .always: configuration.certificateVerification = .noHostnameVerification
        case .whereAsked: configuration.certificateVerification = .optionalVerification
        }
        do { context = try NIOSSLContext(configuration: configuration) } catch { throw .key }
        expiresAt = own.notValidAfter
        self.clients = clients
    }
}
