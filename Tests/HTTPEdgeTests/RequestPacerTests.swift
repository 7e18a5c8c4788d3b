import HTTPTypes
import LogCapture
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import Testing

@testable import HTTPEdge

/// A connection has one request at a time, and ends if its answers are not read. Time passes when a test says so.
@Suite struct RequestPacerTests {
    /// A system that takes nothing more of the answers while `isFull`.
    private final class Socket: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer
        var isFull = false
        private var held: [EventLoopPromise<Void>?] = []

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            if isFull { held.append(promise) } else { context.write(data, promise: promise) }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            drain()
            context.close(mode: mode, promise: promise)
        }

        /// Takes what waits.
        func drain() {
            isFull = false
            for promise in held { promise?.succeed() }
            held = []
        }
    }

    private struct Connection {
        let channel = EmbeddedChannel()
        let socket = Socket()
        let lines = LogLines()
        let book: ConnectionBook

        init() throws {
            let lines = lines
            book = ConnectionBook(
                name: "test", maximum: 1, maximumUnreadBytes: 1_000_000,
                logger: Logger(label: "test") { _ in lines.handler })
            book.opened()
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(socket)
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: false)
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(RequestPacer(book: book, answerTimeout: .seconds(30), linger: .seconds(1)))
            try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        }

        /// Sends requests at once, each longer than what is decoded before it is known whether one has begun.
        func send(_ paths: [String]) throws {
            let fill = String(repeating: "x", count: RequestFeeder.portion)
            let text = paths.map { "GET \($0) HTTP/1.1\r\nHost: localhost\r\nX-Fill: \(fill)\r\n\r\n" }.joined()
            try channel.writeInbound(ByteBuffer(string: text))
        }

        /// The paths that were handed on since they were last asked for.
        func handedOn() throws -> [String] {
            var paths: [String] = []
            while let part = try channel.readInbound(as: HTTPRequestPart.self) {
                if case .head(let head) = part { paths.append(head.path ?? "") }
            }
            return paths
        }

        func write(_ part: HTTPResponsePart) { channel.write(part, promise: nil) }

        func answer() {
            write(.head(HTTPResponse(status: .ok, headerFields: [.contentLength: "2"])))
            write(.body(ByteBuffer(string: "{}")))
            write(.end(nil))
            channel.flush()
        }

        func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }
    }

    @Test func `what is asked ahead is handed on once the request before it is answered`() throws {
        let connection = try Connection()
        try connection.send(["/a", "/b"])
        #expect(try connection.handedOn() == ["/a"])
        connection.answer()
        #expect(try connection.handedOn() == ["/b"])
        connection.answer()
        #expect(try connection.handedOn() == [])
    }

    @Test func `a client that does not read its answer is ended when the time is over, and that is told`() throws {
        let connection = try Connection()
        try connection.send(["/a"])
        connection.socket.isFull = true
        connection.answer()
        connection.wait(.seconds(29))
        #expect(connection.channel.isActive && connection.lines.all == [])
        connection.wait(.seconds(1))
        #expect(!connection.channel.isActive)
        #expect(connection.lines.all.count == 1)
        #expect(connection.lines.all.allSatisfy { $0.contains("unread") })
    }

    @Test func `a client that reads its answer late is not ended for it`() throws {
        let connection = try Connection()
        try connection.send(["/a"])
        connection.socket.isFull = true
        connection.answer()
        connection.wait(.seconds(29))
        connection.socket.drain()
        connection.wait(.seconds(60))
        #expect(connection.channel.isActive && connection.lines.all == [])
        try connection.send(["/b"])
        #expect(try connection.handedOn() == ["/a", "/b"])
    }

    @Test func `a request whose answer is being made is under way, however often what was written is sent`() throws {
        let connection = try Connection()
        try connection.send(["/a"])
        connection.channel.flush()
        connection.wait(.seconds(60))
        #expect(!connection.book.mayAccept(), "nobody rests, so nobody makes room")
        #expect(connection.channel.isActive && connection.lines.all == [])
        connection.answer()
        #expect(!connection.channel.isActive, "whoever came meanwhile has room now")
    }

    @Test func `what is written for a client that left is no answer that it does not read`() throws {
        let connection = try Connection()
        try connection.send(["/a"])
        connection.socket.isFull = true
        connection.write(.head(HTTPResponse(status: .ok)))
        connection.channel.pipeline.fireChannelInactive()
        connection.channel.flush()
        connection.wait(.seconds(60))
        #expect(connection.lines.all == [])
    }

    @Test func `what breaks a connection is told to whoever answers on it, and nothing more is handed on`() throws {
        let connection = try Connection()
        connection.channel.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        #expect(throws: ChannelError.ioOnClosedChannel) { try connection.channel.throwIfErrorCaught() }
        try connection.send(["/a"])
        #expect(try connection.handedOn() == [])
    }
}
