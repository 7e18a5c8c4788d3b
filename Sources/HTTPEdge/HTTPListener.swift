package import Hummingbird
internal import HummingbirdCore
package import Logging
internal import NIOCore

/// A listener for HTTP/1.1, with TLS or without, and how much it accepts before a responder sees anything.
///
/// A connection has one request at a time, and is not read further until its answer is with the system. When there is
/// no room for another connection, the one that has rested for the longest makes room.
package struct HTTPListener: Sendable {
    /// Which one it is, in the log and in metrics.
    package var name: String
    /// How long a connection may rest, or take to send a request's headers.
    package var idleTimeout: Duration
    /// Connections that are open at the same time. More wait in the system's queue while all have a request under way.
    package var maximumConnections: Int
    /// How long an answer may wait until it is read. The connection ends then.
    package var answerTimeout: Duration = .seconds(30)
    /// Bytes of answers that wait until they are read, of all connections together. Beyond it who has not read for the
    /// longest is ended.
    package var maximumUnreadBytes = 64 << 20
    /// The largest header field, and the request line, in bytes.
    package var maximumHeaderFieldBytes = 8_192
    /// All header fields together, in bytes.
    package var maximumHeaderBytes = 16_384
    /// How many header fields.
    package var maximumHeaderFields = 64
    /// How long a connection that is being closed is still read, so that the answer is seen.
    package var linger: Duration = .seconds(2)
    /// With what new connections are encrypted; `nil` where another program does that, or nobody.
    package var certificates: Replaceable<ListenerCertificates>?

    /// A listener with the documented limits of headers.
    package init(_ name: String, idleTimeout: Duration, maximumConnections: Int) {
        self.name = name
        self.idleTimeout = idleTimeout
        self.maximumConnections = maximumConnections
    }

    /// How many may wait in the system's queue: what comes in a moment, so that nobody has to try again after a second.
    private static let backlog = 1_024

    /// The listener as a service. Port 0 takes any that is free; `onServerRunning` is told which once requests are
    /// accepted.
    package func application<Responder: HTTPResponder>(
        _ responder: Responder, host: String, port: Int, logger: Logger,
        onServerRunning: @escaping @Sendable (Int) async -> Void
    ) -> Application<Responder>
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        let book = ConnectionBook(
            name: name, maximum: maximumConnections, maximumUnreadBytes: maximumUnreadBytes, logger: logger)
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [
                CloseAfterAnswer(linger: TimeAmount(linger)),
                RequestPacer(
                    book: book, answerTimeout: TimeAmount(answerTimeout), linger: TimeAmount(linger),
                    isEncrypted: certificates != nil),
            ],
            idleTimeout: TimeAmount(idleTimeout),
            httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                maxHeaderFieldSize: maximumHeaderFieldBytes, maxHeaderListSize: maximumHeaderBytes,
                maxHeaderFieldCount: maximumHeaderFields))
        let server = HTTPServerBuilder { [certificates] responder in
            let plain = HTTP1Channel(responder: responder, configuration: channel)
            guard let certificates else { return plain }
            return SecuredChannel(base: plain, certificates: certificates, book: book)
        }
        // Below `info` the library writes each service with all that it holds.
        var quiet = logger
        quiet.logLevel = max(logger.logLevel, .info)
        return Application(
            responder: responder, server: server,
            configuration: ApplicationConfiguration(
                address: .hostname(host, port: port), serverName: nil, backlog: HTTPListener.backlog,
                availableConnectionsDelegate: BookedConnections(book: book)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { await onServerRunning(port) }
            }, logger: quiet)
    }
}
