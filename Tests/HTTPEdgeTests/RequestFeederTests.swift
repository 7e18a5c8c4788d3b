import NIOCore
import NIOEmbedded
import Testing

@testable import HTTPEdge

/// The decoder is given a few bytes at a time, and none while a request is under way.
@Suite struct RequestFeederTests {
    private final class Count {
        var overflows = 0
    }

    private func channel() throws -> (EmbeddedChannel, RequestFeeder, Count) {
        let count = Count()
        let feeder = RequestFeeder { count.overflows += 1 }
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(feeder)
        return (channel, feeder, count)
    }

    /// The sizes of the portions that were given since they were last asked for.
    private func given(_ channel: EmbeddedChannel) -> [Int] {
        var sizes: [Int] = []
        do {
            while let part = try channel.readInbound(as: ByteBuffer.self) { sizes.append(part.readableBytes) }
        } catch {
            Issue.record(error)
        }
        return sizes
    }

    @Test func `what was read at once is given in portions, in order and whole`() throws {
        let (channel, _, _) = try channel()
        let bytes = (0..<1_300).map { UInt8($0 % 251) }
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        var all: [UInt8] = []
        var sizes: [Int] = []
        while let part = try channel.readInbound(as: ByteBuffer.self) {
            sizes.append(part.readableBytes)
            all += part.readableBytesView
        }
        #expect(sizes == [512, 512, 276])
        #expect(all == bytes)
    }

    @Test func `nothing is given while a request is under way`() throws {
        let (channel, feeder, _) = try channel()
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 700))
        try channel.writeInbound(ByteBuffer(repeating: 2, count: 100))
        #expect(given(channel) == [])
        feeder.resume()
        #expect(given(channel) == [], "it is still under way")
        feeder.isBlocked = false
        feeder.resume()
        #expect(given(channel).reduce(0, +) == 800)
    }

    @Test func `a request that begins within a portion holds up what follows it`() throws {
        let (channel, feeder, _) = try channel()
        final class Blocker: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            let feeder: RequestFeeder
            init(_ feeder: RequestFeeder) { self.feeder = feeder }
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                feeder.isBlocked = true
                context.fireChannelRead(data)
            }
        }
        try channel.pipeline.syncOperations.addHandler(Blocker(feeder))
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 1_300))
        for size in [512, 512, 276] {
            #expect(given(channel) == [size])
            feeder.isBlocked = false
            feeder.resume()
        }
        #expect(given(channel) == [])
    }

    @Test func `what is answered while a portion is given holds the order`() throws {
        let (channel, feeder, _) = try channel()
        /// Answers at once, as a request that is refused does: the feeder is told before the portion is passed on.
        final class Answerer: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            let feeder: RequestFeeder
            init(_ feeder: RequestFeeder) { self.feeder = feeder }
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                feeder.resume()
                context.fireChannelRead(data)
            }
        }
        try channel.pipeline.syncOperations.addHandler(Answerer(feeder))
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 1_300))
        #expect(given(channel) == [512, 512, 276])
    }

    @Test func `what waits is not given any more once the connection is gone`() throws {
        let (channel, feeder, _) = try channel()
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10))
        channel.pipeline.fireChannelInactive()
        feeder.isBlocked = false
        feeder.resume()
        #expect(given(channel) == [])
    }

    @Test func `more than may wait ends the connection, and nothing of it is given`() throws {
        let (channel, feeder, count) = try channel()
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: RequestFeeder.maximumWaiting))
        #expect(count.overflows == 0)
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 1))
        #expect(count.overflows == 1)
        feeder.isBlocked = false
        feeder.resume()
        #expect(given(channel) == [])
        let closed = channel.closeFuture.assumeIsolated()
        var isClosed = false
        closed.whenComplete { _ in isClosed = true }
        channel.embeddedEventLoop.run()
        #expect(isClosed)
    }

    @Test func `the end of what a client sends comes after all that it sent`() throws {
        let (channel, feeder, _) = try channel()
        final class Ends: ChannelInboundHandler {
            typealias InboundIn = ByteBuffer
            var seen: [String] = []
            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                seen.append("\(unwrapInboundIn(data).readableBytes)")
            }
            func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { seen.append("end") }
        }
        let ends = Ends()
        try channel.pipeline.syncOperations.addHandler(ends)
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10))
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        #expect(ends.seen == [])
        feeder.isBlocked = false
        feeder.resume()
        #expect(ends.seen == ["10", "end"])
    }

    @Test func `after a stop nothing is given any more`() throws {
        let (channel, feeder, _) = try channel()
        feeder.stop()
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10))
        feeder.resume()
        #expect(given(channel) == [])
    }

    /// Counts what passes: reads on their way to the system, and ends of what was read.
    private final class Passing: ChannelDuplexHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundIn = ByteBuffer
        var reads = 0
        var ends = 0
        func read(context: ChannelHandlerContext) {
            reads += 1
            context.read()
        }
        func channelReadComplete(context: ChannelHandlerContext) {
            ends += 1
            context.fireChannelReadComplete()
        }
    }

    /// A feeder that something is in the way of, and of which a read was asked.
    private func blockedRead() throws -> (feeder: RequestFeeder, channel: EmbeddedChannel, before: Passing) {
        let feeder = RequestFeeder {}
        let (channel, before) = (EmbeddedChannel(), Passing())
        try channel.pipeline.syncOperations.addHandlers([before, feeder])
        feeder.isBlocked = true
        channel.read()
        #expect(before.reads == 0)
        return (feeder, channel, before)
    }

    @Test func `a read that was asked for meanwhile is made once nothing is in the way, and no other`() throws {
        let (feeder, channel, before) = try blockedRead()
        feeder.isBlocked = false
        feeder.resume()
        #expect(before.reads == 1)
        feeder.isBlocked = true
        feeder.isBlocked = false
        feeder.resume()
        #expect(before.reads == 1, "nobody asked for more")
        channel.read()
        #expect(before.reads == 2, "nothing is in the way")
    }

    @Test func `after a stop a read that waits is made, so that what still comes is read and dropped`() throws {
        let (feeder, _, before) = try blockedRead()
        feeder.stop()
        #expect(before.reads == 1)
        feeder.stop()
        #expect(before.reads == 1, "nobody asked for more")
    }

    @Test func `what is given later ends with the end of a read, and what is not, does not`() throws {
        let feeder = RequestFeeder {}
        let (channel, after) = (EmbeddedChannel(), Passing())
        try channel.pipeline.syncOperations.addHandlers([feeder, after])
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10))
        let ends = after.ends
        feeder.resume()
        #expect(after.ends == ends)
        feeder.isBlocked = false
        feeder.resume()
        #expect(after.ends == ends + 1 && given(channel) == [10])
        feeder.resume()
        #expect(after.ends == ends + 1)
    }

    @Test func `what was taken out of a connection gives nothing to it any more`() throws {
        let (channel, feeder, _) = try channel()
        feeder.isBlocked = true
        try channel.writeInbound(ByteBuffer(repeating: 1, count: 10))
        let removed = channel.pipeline.syncOperations.removeHandler(feeder)
        channel.embeddedEventLoop.run()
        try removed.wait()
        feeder.isBlocked = false
        feeder.resume()
        #expect(given(channel) == [])
    }
}
