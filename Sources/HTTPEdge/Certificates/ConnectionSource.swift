package import Hummingbird
internal import NIOCore
internal import NIOSSL

/// The connection that a request came on.
package struct ConnectionSource: InitializableFromSource, Sendable {
    private let channel: any Channel

    /// The connection of a request.
    package init(source: ApplicationRequestContextSource) { channel = source.channel }

    /// Whether the client has shown a certificate that an authority of the listener has signed.
    package func hasClientCertificate() async -> Bool {
        do {
            return try await channel.nioSSL_peerCertificate().get() != nil
        } catch {
            // Without TLS, or when the connection is gone, nobody has shown anything.
            return false
        }
    }
}
