/// How a ``CurlSender`` connects.
public struct CurlConfiguration: Sendable {
    /// The most connections, open or kept, at one time; further requests wait for one.
    ///
    /// At least 1. libcurl's own default for kept connections is four times the requests in progress, which
    /// makes it open and close connections all the time when the load varies.
    public var maximumConnections: Int
    /// A file of PEM certificates to trust **instead of** those of the system; `nil` for those of the system.
    public var caBundlePath: String?
    /// The one certificate, as PEM, that is trusted instead, by whatever name the other side is called; `nil` for those
    /// above. For a program that asks another on the same machine.
    public var onlyCertificate: [UInt8]?
    /// What a side is shown that asks for a certificate.
    public var clientCertificate: ClientCertificate?
    /// A connection unused for longer than this is not used again.
    ///
    /// Keep it below the other side's own idle limit, so that a request does not meet a connection that is
    /// about to be closed. Whole seconds, at least one.
    public var idleConnectionLife: Duration
    /// Offer HTTP/2 in the TLS handshake and share connections.
    ///
    /// Where the other side does not take it: HTTP/1.1.
    public var http2: Bool
    /// Accept `http://` URLs.
    ///
    /// For tests, and for a side-car on the same machine.
    public var allowPlainHTTP: Bool
    /// Which addresses may be connected to.
    ///
    /// Each new connection is judged by the very address to which it is made, however the host was written and
    /// whatever its name meant before. A kept connection obeys too: connections belong to one sender, and it
    /// judged each when it was opened.
    public var addresses: AddressRule

    /// A certificate of this side, in files that may be replaced: each new connection reads them.
    public struct ClientCertificate: Sendable, Hashable {
        /// A file of PEM certificates: its own, and then those that lead to an authority.
        public var certificatePath: String
        /// A file with its key as PEM, without a password.
        public var keyPath: String

        /// A certificate in two files.
        public init(certificatePath: String, keyPath: String) {
            self.certificatePath = certificatePath
            self.keyPath = keyPath
        }
    }

    /// A configuration; the defaults suit a provider on the internet.
    public init(
        maximumConnections: Int = 64, caBundlePath: String? = nil,
        idleConnectionLife: Duration = .seconds(20),
        http2: Bool = true, allowPlainHTTP: Bool = false, addresses: AddressRule = .any
    ) {
        self.maximumConnections = maximumConnections
        self.caBundlePath = caBundlePath
        self.idleConnectionLife = idleConnectionLife
        self.http2 = http2
        self.allowPlainHTTP = allowPlainHTTP
        self.addresses = addresses
    }
}
