internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes

/// Ends the connection after an answer that says `Connection: close`.
///
/// It closes its own direction first and reads on for a moment: a connection that is closed with unread bytes
/// is reset by the system, and whoever asked would lose the answer that explains why.
final class CloseAfterAnswer: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let linger: TimeAmount
    private var closes = false

    init(linger: TimeAmount) {
        self.linger = linger
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let head):
            closes = head.headerFields[.connection] == "close"
        case .end where closes:
            let channel = context.channel
            let linger = linger
            let written = promise ?? context.eventLoop.makePromise()
            written.futureResult.whenComplete { _ in
                channel.close(mode: .output, promise: nil)
                channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
            }
            context.write(data, promise: written)
            return
        case .body, .end:
            break
        }
        context.write(data, promise: promise)
    }
}
