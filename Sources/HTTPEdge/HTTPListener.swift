package import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore

/// A listener for HTTP/1.1, and how much it accepts before a responder sees anything.
package struct HTTPListener: Sendable {
    /// How long a connection may rest, or take to send a request's headers.
    package var idleTimeout: Duration
    /// Connections that are open at the same time. More wait in the system's queue.
    package var maximumConnections: Int
    /// The largest header field, and the request line, in bytes.
    package var maximumHeaderFieldBytes = 8_192
    /// All header fields together, in bytes.
    package var maximumHeaderBytes = 16_384
    /// How many header fields.
    package var maximumHeaderFields = 64
    /// How long a connection that is being closed is still read, so that the answer is seen.
    package var linger: Duration = .seconds(2)

    /// A listener with the documented limits of headers.
    package init(idleTimeout: Duration, maximumConnections: Int) {
        self.idleTimeout = idleTimeout
        self.maximumConnections = maximumConnections
    }

    /// The listener as a service. Port 0 takes any that is free; `onServerRunning` is told which once requests are
    /// accepted.
    package func application<Responder: HTTPResponder>(
        _ responder: Responder, host: String, port: Int, logger: Logger,
        onServerRunning: @escaping @Sendable (Int) async -> Void
    ) -> Application<Responder>
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let server = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [CloseAfterAnswer(linger: TimeAmount(linger))],
                idleTimeout: TimeAmount(idleTimeout),
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: maximumHeaderFieldBytes, maxHeaderListSize: maximumHeaderBytes,
                    maxHeaderFieldCount: maximumHeaderFields)))
        return Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil,
                availableConnectionsDelegate: .maximum(maximumConnections, logger: logger)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onServerRunning(port) }
            }, logger: logger)
    }
}
