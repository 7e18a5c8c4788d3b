internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import NIOHTTP1

/// What RFC 9110 and RFC 9112 ask of a server that the library in front of it leaves out.
///
/// It stands between the decoder and the types that the rest works with, where a request is still as it came: with its
/// version, and each of its `Host` fields. What is refused here is answered with a problem document, and the connection
/// ends. `HEAD` goes on as `GET`, in logs and metrics too; only its answer is written without the body.
final class RequestRules: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    /// A request that was handed on and is not answered yet.
    private struct Asked {
        let isHead: Bool
        /// The client of an older version has to be told that the connection stays.
        let staysOpen: Bool
        /// The client wants nothing more.
        let isLast: Bool
    }

    private let linger: TimeAmount
    private let onRefusal: () -> Void
    private let isInTarget: () -> Bool
    private var asked: [Asked] = []
    private var refusal: Problem?
    /// The answer that is being written ends the connection: nothing may follow it.
    private var isLast = false
    /// Nothing is written any more: the refusal was, or an answer that ends the connection.
    private var isOver = false

    /// The rules of one connection.
    /// - Parameters:
    ///   - linger: How long the connection is read after a refusal, so that the answer arrives.
    ///   - isInTarget: Whether what was read last belongs to the first line of a request.
    ///   - onRefusal: Is told that nothing of what follows is wanted.
    init(linger: TimeAmount, isInTarget: @escaping () -> Bool, onRefusal: @escaping () -> Void) {
        self.linger = linger
        self.isInTarget = isInTarget
        self.onRefusal = onRefusal
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard refusal == nil else { return }
        guard case .head(var head) = unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        if let problem = RequestRules.problem(of: head) { return refuse(problem, context) }
        let isOld = RequestRules.isOld(head)
        let options = head.headers[canonicalForm: "connection"].map { $0.lowercased() }
        let wantsMore = options.contains("keep-alive")
        let isLast = options.contains("close") || isOld && !wantsMore
        if isOld, !wantsMore { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        if !isOld, asked.isEmpty, head.headers.contains(name: "Expect") {
            let going = HTTPResponseHead(version: .http1_1, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(going)), promise: nil)
        }
        asked.append(Asked(isHead: head.method == .HEAD, staysOpen: isOld && wantsMore, isLast: isLast))
        if head.method == .HEAD { head.method = .GET }
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isOver, let request = asked.first else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if request.isLast { head.headers.replaceOrAdd(name: "Connection", value: "close") }
            isLast = head.headers["Connection"].contains("close")
            if request.staysOpen, head.headers["Connection"].isEmpty {
                head.headers.add(name: "Connection", value: "keep-alive")
            }
            if let allowed = head.headers.first(name: "Allow"), allowed.contains("GET"), !allowed.contains("HEAD") {
                head.headers.replaceOrAdd(name: "Allow", value: allowed.replacing("GET", with: "GET, HEAD"))
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body where request.isHead: promise?.succeed()
        case .body: context.write(data, promise: promise)
        case .end:
            asked.removeFirst()
            context.write(data, promise: promise)
            if isLast { isOver = true }
            if let refusal, asked.isEmpty { answer(refusal, context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else { return context.fireErrorCaught(error) }
        guard refusal == nil else { return }
        refuse(RequestRules.problem(of: error, inTarget: isInTarget()), context)
    }

    private func refuse(_ problem: Problem, _ context: ChannelHandlerContext) {
        refusal = problem
        onRefusal()
        if asked.isEmpty { answer(problem, context) }
    }

    private func answer(_ problem: Problem, _ context: ChannelHandlerContext) {
        guard !isOver else { return }
        isOver = true
        let answer = Answer(problem)
        var headers = HTTPHeaders()
        for field in answer.response().headers { headers.add(name: field.name.rawName, value: field.value) }
        headers.replaceOrAdd(name: "Content-Length", value: String(answer.body.count))
        headers.replaceOrAdd(name: "Connection", value: "close")
        let head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))), promise: nil)
        let written = context.eventLoop.makePromise(of: Void.self)
        CloseAfterAnswer.close(context.channel, once: written, linger: linger)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }
}

extension RequestRules {
    /// What is wrong with a request before anything of it is looked at.
    private static func problem(of head: HTTPRequestHead) -> Problem? {
        let hosts = head.headers["Host"]
        if hosts.count > 1 || hosts.isEmpty && !isOld(head) {
            return .malformed(field: "Host", "Must be there once.")
        }
        let encodings = head.headers[canonicalForm: "content-encoding"].filter { $0.lowercased() != "identity" }
        guard encodings.isEmpty else {
            return Problem(
                .unsupportedMediaType, 415, "Unsupported media type",
                detail: "A body is read as it is, without a Content-Encoding.", field: "Content-Encoding")
        }
        if let length = head.headers.first(name: "Content-Length"), Int64(length) == nil {
            return Problem(
                .bodyTooLarge, 413, "Body too large", detail: "No body of this length is read.",
                field: "Content-Length")
        }
        let expectations = head.headers[canonicalForm: "expect"]
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else {
            return Problem(
                .invalidRequest, 417, "Expectation failed", detail: "Only 100-continue is known.", field: "Expect")
        }
        return nil
    }

    /// Whether it is of a version that has no `Host`, and ends each connection.
    private static func isOld(_ head: HTTPRequestHead) -> Bool {
        head.version.major < 1 || head.version.major == 1 && head.version.minor < 1
    }

    /// What the decoder could not read.
    private static func problem(of error: HTTPParserError, inTarget: Bool) -> Problem {
        if error == .headerOverflow {
            return inTarget
                ? Problem(.invalidRequest, 414, "Target too long", detail: "The line of the request is too long.")
                : Problem(.invalidRequest, 431, "Header fields too large", detail: "Send fewer or shorter fields.")
        }
        return Problem(.invalidRequest, 400, "Invalid request", detail: "This is no request of HTTP/1.1: \(error).")
    }
}
