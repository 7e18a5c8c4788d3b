internal import NIOCore

/// Gives the decoder a few bytes at a time, and none while a request is under way.
///
/// What a client sends ahead stays with it: the system's buffer fills, and the client's own. A decoder that is given
/// all at once makes hundreds of requests of one read, each many times as large as its bytes, and keeps them all.
final class RequestFeeder: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = IOData
    typealias OutboundOut = IOData

    /// The most that is decoded before it is known whether a request has begun: 28 of the smallest requests.
    static let portion = 512
    /// The most that is read from the system at once.
    static let largestRead = 16_384
    /// How much of the answers the system keeps for a client that does not read.
    static let kept = 65_536
    /// The most that may wait. Only what comes with the end of what a client sends is read without being asked for.
    static let maximumWaiting = 65_536

    private var waiting = ByteBuffer()
    private var isReadWanted = false
    private var isInputClosed = false
    private var isFeeding = false
    private var isOver = false
    private var context: ChannelHandlerContext?
    private let onOverflow: () -> Void

    /// How the line begins that was given last, and may go on.
    private var line: [UInt8] = []

    /// Whether the line that was given last is the first of a request, and no header field: those have a colon before
    /// their first blank.
    var isInTarget: Bool {
        guard let blank = line.firstIndex(of: UInt8(ascii: " ")) else { return false }
        return !line[..<blank].contains(UInt8(ascii: ":"))
    }

    /// Whether what is under way must be answered first.
    var isBlocked = false

    /// A feeder of a connection.
    /// - Parameter onOverflow: Is told when more was sent ahead than may wait; the connection is closed then.
    init(onOverflow: @escaping () -> Void) {
        self.onOverflow = onOverflow
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        do {
            let options = context.channel.syncOptions
            try options?.setOption(.maxMessagesPerRead, value: 1)
            try options?.setOption(.socketOption(.so_sndbuf), value: RequestFeeder.kept)
            try options?.setOption(
                .recvAllocator,
                value: AdaptiveRecvByteBufferAllocator(
                    minimum: 1_024, initial: 2_048, maximum: RequestFeeder.largestRead))
        } catch {
            context.fireErrorCaught(error)
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func channelInactive(context: ChannelHandlerContext) {
        isReadWanted = false
        stop()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        var part = unwrapInboundIn(data)
        if waiting.readableBytes == 0 { waiting = part } else { waiting.writeBuffer(&part) }
        guard waiting.readableBytes <= RequestFeeder.maximumWaiting else {
            stop()
            onOverflow()
            context.close(promise: nil)
            return
        }
        feed(context)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The end comes after everything that was sent before it.
        if case .inputClosed? = event as? ChannelEvent, waiting.readableBytes > 0, !isOver {
            isInputClosed = true
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func read(context: ChannelHandlerContext) {
        if !isOver && (isBlocked || waiting.readableBytes > 0) { isReadWanted = true } else { context.read() }
    }

    /// Goes on where it stopped, if nothing is in the way any more.
    func resume() {
        guard let context, !isOver else { return }
        if feed(context) { context.fireChannelReadComplete() }
        guard !isOver, !isBlocked, waiting.readableBytes == 0 else { return }
        waiting = ByteBuffer()
        if isInputClosed {
            isInputClosed = false
            context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        if isReadWanted {
            isReadWanted = false
            context.read()
        }
    }

    /// Gives nothing any more: what was sent is no HTTP, or nobody answers it. What still comes is read and dropped.
    func stop() {
        isOver = true
        waiting = ByteBuffer()
        if isReadWanted {
            isReadWanted = false
            context?.read()
        }
    }

    private func follow(_ part: ByteBuffer) {
        let bytes = part.readableBytesView
        if let end = bytes.lastIndex(of: UInt8(ascii: "\n")) {
            line = Array(bytes[bytes.index(after: end)...].prefix(32))
        } else if line.count < 32 {
            line += bytes.prefix(32 - line.count)
        }
    }

    /// Whether anything was given.
    @discardableResult
    private func feed(_ context: ChannelHandlerContext) -> Bool {
        guard !isFeeding else { return false }
        isFeeding = true
        defer { isFeeding = false }
        var given = false
        while !isBlocked, !isOver, waiting.readableBytes > 0,
            let part = waiting.readSlice(length: min(RequestFeeder.portion, waiting.readableBytes))
        {
            follow(part)
            context.fireChannelRead(wrapInboundOut(part))
            given = true
        }
        return given
    }
}
