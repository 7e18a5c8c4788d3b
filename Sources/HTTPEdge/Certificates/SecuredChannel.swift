internal import HummingbirdCore
internal import Logging
internal import NIOCore
internal import NIOSSL
internal import NIOTLS

/// A connection whose bytes are encrypted, with the certificates that its listener has at that moment.
struct SecuredChannel<Base: ServerChildChannel & HTTPChannelHandler>: ServerChildChannel, HTTPChannelHandler {
    let base: Base
    let certificates: Replaceable<ListenerCertificates>
    let book: ConnectionBook

    var responder: HTTPChannelHandler.Responder { base.responder }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Base.Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: certificates.current.context))
            try pipeline.addHandler(HandshakeWatch(book: book))
        }.flatMap {
            base.setup(channel: channel, logger: logger)
        }
    }

    func handle(value: Base.Value, logger: Logger) async { await base.handle(value: value, logger: logger) }
}

/// Counts connections that never came to speak HTTP: other certificates, other versions, or no TLS at all.
final class HandshakeWatch: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let book: ConnectionBook
    private var isPending = true

    init(book: ConnectionBook) { self.book = book }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { isPending = false }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if isPending {
            isPending = false
            book.ended(.handshake)
            context.close(promise: nil)
        }
        context.fireErrorCaught(error)
    }
}
