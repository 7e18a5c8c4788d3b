import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import HTTPEdge

/// What HTTP asks of a server, on the parts of requests and answers.
@Suite struct RequestRulesTests {
    private final class Count {
        var refusals = 0
    }

    private func channel() throws -> (EmbeddedChannel, Count) {
        let count = Count()
        let rules = RequestRules(linger: .seconds(1), isInTarget: { false }, onRefusal: { count.refusals += 1 })
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(rules)
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return (channel, count)
    }

    private func ask(
        _ channel: EmbeddedChannel, _ method: HTTPMethod = .GET, _ version: HTTPVersion = .http1_1,
        _ fields: [(String, String)] = []
    ) throws {
        let headers = HTTPHeaders([("Host", "localhost")] + fields)
        let head = HTTPRequestHead(version: version, method: method, uri: "/v1/payments", headers: headers)
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    private func answer(_ channel: EmbeddedChannel, _ status: HTTPResponseStatus = .ok) throws {
        try channel.writeOutbound(HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: status)))
        try channel.writeOutbound(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: "{}"))))
        try channel.writeOutbound(HTTPServerResponsePart.end(nil))
    }

    /// The heads of what was written since they were last asked for, and how many bodies there were.
    private func written(_ channel: EmbeddedChannel) throws -> (heads: [HTTPResponseHead], bodies: Int) {
        var heads: [HTTPResponseHead] = []
        var bodies = 0
        while let part = try channel.readOutbound(as: HTTPServerResponsePart.self) {
            switch part {
            case .head(let head): heads.append(head)
            case .body: bodies += 1
            case .end: break
            }
        }
        return (heads, bodies)
    }

    /// How many requests were handed on, and as what, since they were last asked for.
    private func handedOn(_ channel: EmbeddedChannel) throws -> [HTTPMethod] {
        var methods: [HTTPMethod] = []
        while let part = try channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .head(let head) = part { methods.append(head.method) }
        }
        return methods
    }

    @Test func `who expects it is told to go on, unless another answer comes first or it cannot know that`() throws {
        let expects = [("Expect", "100-continue")]
        let (channel, _) = try channel()
        try ask(channel, .POST, .http1_1, expects)
        #expect(try written(channel).heads.map(\.status) == [.continue])
        try ask(channel, .POST, .http1_1, expects)
        #expect(try written(channel).heads.isEmpty, "the first is not answered yet")
        let (old, _) = try self.channel()
        try ask(old, .POST, .http1_0, expects)
        #expect(try written(old).heads.isEmpty)
        let (plain, _) = try self.channel()
        try ask(plain, .POST)
        #expect(try written(plain).heads.isEmpty)
    }

    @Test func `a refusal waits for the answers before it, and ends the connection`() throws {
        let (channel, count) = try channel()
        try ask(channel)
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(count.refusals == 1)
        #expect(try written(channel).heads.isEmpty, "the first is not answered yet")
        try answer(channel)
        let heads = try written(channel).heads
        #expect(heads.map(\.status) == [.ok, .badRequest])
        #expect(heads.last?.headers["Connection"] == ["close"])
        try ask(channel)
        #expect(try handedOn(channel) == [.GET], "what comes after a refusal is not handed on")
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(count.refusals == 1)
        #expect(try written(channel).heads.isEmpty)
    }

    @Test func `a refusal with nothing before it is answered at once`() throws {
        let (channel, _) = try channel()
        channel.pipeline.fireErrorCaught(HTTPParserError.invalidMethod)
        #expect(try written(channel).heads.map(\.status) == [.badRequest])
    }

    @Test func `HEAD is asked as GET, and its answer has no body`() throws {
        let (channel, _) = try channel()
        try ask(channel, .HEAD)
        #expect(try handedOn(channel) == [.GET])
        try answer(channel)
        let seen = try written(channel)
        #expect(seen.heads.count == 1 && seen.bodies == 0)
        try ask(channel)
        try answer(channel)
        #expect(try written(channel).bodies == 1)
    }

    @Test(arguments: [
        (HTTPVersion.http1_1, nil, []), (.http1_1, "close", ["close"]), (.http1_0, nil, ["close"]),
        (.http1_0, "Keep-Alive", ["keep-alive"]),
    ])
    func `the connection stays or ends as its client wants it`(
        _ version: HTTPVersion, _ wish: String?, _ said: [String]
    ) throws {
        let (channel, _) = try channel()
        try ask(channel, .GET, version, wish.map { [("Connection", $0)] } ?? [])
        try answer(channel)
        #expect(try written(channel).heads.map { $0.headers["Connection"] } == [said])
    }
}
