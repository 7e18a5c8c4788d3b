internal import HTTPTypes
internal import NIOCore
internal import NIOHTTPTypes
internal import NIOHTTPTypesHTTP1

/// Lets a connection have one request at a time, and ends it if its answers are not read.
///
/// The next request is decoded once the system has taken the whole answer to the one before it. So whoever does not
/// read is not read either, and costs one answer.
final class RequestPacer: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// How long an answer may wait until its connection counts as one that rests, and may make room for others.
    static let restAfter = TimeAmount.seconds(1)

    private let book: ConnectionBook
    private let answerTimeout: TimeAmount
    private let isEncrypted: Bool
    private let feeder: RequestFeeder
    private let linger: TimeAmount
    private var place: ConnectionBook.Place?
    /// The end of the newest request was not read yet.
    private var isReading = false
    /// Requests whose answers are not with the system yet.
    private var unanswered = 0
    /// Answers that are written and not with the system yet, and their bytes.
    private var unread = 0
    private var unreadBytes = 0
    private var timers: [Scheduled<Void>] = []
    /// The connection ends after the answer that is being written.
    private var isLast = false

    /// A pacer of a connection.
    /// - Parameters:
    ///   - answerTimeout: How long the system may take to get rid of a whole answer.
    ///   - isEncrypted: Whether a ``HandshakeWatch`` is there.
    init(book: ConnectionBook, answerTimeout: TimeAmount, linger: TimeAmount, isEncrypted: Bool = false) {
        self.isEncrypted = isEncrypted
        self.linger = linger
        self.book = book
        self.answerTimeout = answerTimeout
        feeder = RequestFeeder { book.ended(.pipelined) }
    }

    func handlerAdded(context: ChannelHandlerContext) {
        do {
            let pipeline = context.pipeline.syncOperations
            // What is fed is what was decrypted.
            try pipeline.addHandler(
                feeder,
                position: isEncrypted ? .after(try pipeline.handler(type: HandshakeWatch.self)) : .first)
            let codec = try pipeline.handler(type: HTTP1ToHTTPServerCodec.self)
            let rules = RequestRules(
                linger: linger, isInTarget: { [feeder] in feeder.isInTarget }, onRefusal: { [feeder] in feeder.stop() })
            try pipeline.addHandler(rules, position: .before(codec))
        } catch {
            // Only a pipeline that is gone takes no handler.
            context.fireErrorCaught(error)
        }
        place = book.enter(context.channel)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        if let place { book.leave(place) }
        place = nil
        disarm()
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let place { book.leave(place) }
        place = nil
        disarm()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head:
            guard let place, unanswered > 0 || book.begins(place) else {
                // It was chosen to make room just before this came. Nothing has begun, so it may be asked again.
                feeder.stop()
                context.close(promise: nil)
                return
            }
            isReading = true
            unanswered += 1
        case .body: break
        case .end: isReading = false
        }
        feeder.isBlocked = !isReading && unanswered > 0
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What follows after something that is no HTTP has no meaning.
        feeder.stop()
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .body(let bytes): unreadBytes += bytes.readableBytes
        case .head(let head) where head.status.kind != .informational:
            unread += 1
            isLast = head.headerFields[.connection] == "close"
        case .head: break
        case .end:
            let written = promise ?? context.eventLoop.makePromise(of: Void.self)
            written.futureResult.assumeIsolated().whenComplete { _ in self.isWritten() }
            context.write(data, promise: written)
            // Whatever comes after it is read by nobody.
            if isLast { feeder.stop() }
            return
        }
        context.write(data, promise: promise)
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        guard unread > 0, timers.isEmpty, let place else { return }
        book.holds(unreadBytes, place)
        let loop = context.eventLoop.assumeIsolated()
        timers = [
            loop.scheduleTask(in: RequestPacer.restAfter) {
                if let place = self.place { self.book.rests(place) }
            },
            loop.scheduleTask(in: answerTimeout) {
                guard self.place != nil else { return }
                self.book.ended(.unread)
                context.close(promise: nil)
            },
        ]
    }

    private func isWritten() {
        unread -= 1
        // An answer to what was no request has none that it belongs to.
        unanswered = max(0, unanswered - 1)
        if unread == 0 {
            unreadBytes = 0
            if !timers.isEmpty, let place { book.holds(0, place) }
            disarm()
        }
        if let place {
            // Where the next one came with it, it is under way, however long this one waited.
            if unanswered == 0 { book.rests(place) } else { _ = book.begins(place) }
        }
        feeder.isBlocked = !isReading && unanswered > 0
        feeder.resume()
    }

    private func disarm() {
        for timer in timers { timer.cancel() }
        timers = []
    }
}
