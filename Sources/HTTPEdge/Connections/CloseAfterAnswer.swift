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
            let written = promise ?? context.eventLoop.makePromise()
            CloseAfterAnswer.close(context.channel, once: written, linger: linger)
            context.write(data, promise: written)
            return
        case .body, .end:
            break
        }
        context.write(data, promise: promise)
    }

    /// Closes our direction once the answer is with the system, and the connection a moment later.
    static func close(_ channel: any Channel, once written: EventLoopPromise<Void>, linger: TimeAmount) {
        written.futureResult.whenComplete { _ in
            channel.close(mode: .output, promise: nil)
            channel.eventLoop.scheduleTask(in: linger) { channel.close(promise: nil) }
        }
    }
}
