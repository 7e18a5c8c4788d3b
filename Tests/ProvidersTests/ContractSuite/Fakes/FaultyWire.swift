import Foundation
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// The network before a fake: a listener that does wrong what any network and any gateway may do wrong.
///
/// Nothing here waits for an amount of time. What is late comes after the next request, and what is slow is answered
/// when somebody else asks.
final class FaultyWire<Service: FakeService>: Sendable {
    /// What becomes of the connection.
    private enum Delivery: Sendable {
        case answer(FakeReply)
        /// Not before another request comes, or the listener ends.
        case answerLater(FakeReply)
        /// Half of the body is sent, then the connection is closed.
        case half(FakeReply)
        /// The connection is closed without an answer.
        case close
    }

    private struct State: Sendable {
        var service = Service()
        var ordered: [SuiteOperation: SuiteFault] = [:]
        /// Lost, and not yet arrived.
        var late: [FakeRequest] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// The next request of this kind suffers this.
    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) {
        state.withLock { $0.ordered[operation] = fault }
    }

    /// Faults that were ordered, and that no request has suffered.
    var unplayed: [SuiteFault] { state.withLock { Array($0.ordered.values) } }

    /// The fake, as it is now.
    var service: Service { state.withLock { $0.service } }

    // MARK: What a request suffers

    private func receive(_ request: FakeRequest) -> Delivery {
        releaseWaiting()
        return state.withLock { state in
            // What was late arrives once this request has been answered.
            let arriving = state.late
            state.late = []
            let operation = state.service.operation(of: request)
            let fault = operation.flatMap { state.ordered.removeValue(forKey: $0) }
            let delivery = Self.play(fault, request, &state)
            for late in arriving { _ = state.service.answer(late, suffering: nil) }
            return delivery
        }
    }

    private static func play(_ fault: SuiteFault?, _ request: FakeRequest, _ state: inout State) -> Delivery {
        func execute(_ fault: SuiteFault? = nil) -> FakeReply { state.service.answer(request, suffering: fault) }
        func words(_ status: Int, retryAfter: Int? = nil) -> FakeReply {
            var reply = state.service.words(for: status)
            reply.retryAfter = retryAfter
            return reply
        }
        switch fault {
        case nil: return .answer(execute())
        case .requestLost: return .close
        case .answerLost:
            _ = execute()
            return .close
        case .slow: return .answerLater(execute())
        case .failsBefore: return .answer(words(500))
        case .failsAfter:
            _ = execute()
            return .answer(words(500))
        case .page:
            _ = execute()
            return .answer(FakeReply(200, contentType: "text/html", "<html><body><h1>Welcome</h1></body></html>"))
        case .cutOff:
            let reply = execute()
            // Of an answer without a body, the connection ends before its head.
            return reply.body.isEmpty ? .close : .half(reply)
        case .throttled: return .answer(words(429, retryAfter: 1))
        case .unavailable: return .answer(words(503, retryAfter: 1))
        case .twice:
            let reply = execute()
            _ = execute()
            return .answer(reply)
        case .late:
            state.late.append(request)
            return .close
        case .statusMissing, .pending, .otherAmount, .staleReads: return .answer(execute(fault))
        }
    }

    // MARK: What is slow

    private func releaseWaiting(atTheEnd hasEnded: Bool = false) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.hasEnded = state.hasEnded || hasEnded
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func waitForAnotherRequest() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.waiting.append(continuation) }
                return state.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: The listener

    /// Serves on behalf of `body` on a free port, and ends when it does.
    func whileRunning<Result: Sendable>(_ body: (_ port: Int) async throws -> Result) async throws -> Result {
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            responder: CallbackResponder { [self] in try await respond(to: $0, $1) },
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0), serverName: nil),
            onServerRunning: { announcement.yield($0.localAddress?.port ?? 0) }, logger: .silent)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { announcement.finish() }
                do {
                    try await application.run()
                } catch {
                    // A cancelled listener calls its end an error.
                    guard Task.isCancelled else { throw error }
                }
            }
            var iterator = ports.makeAsyncIterator()
            guard let port = await iterator.next() else {
                try await group.next()
                throw WrongFixture()
            }
            defer {
                releaseWaiting(atTheEnd: true)
                group.cancelAll()
            }
            return try await body(port)
        }
    }

    private func respond(to request: Request, _ context: WireConnection) async throws -> Response {
        let segments = request.uri.path.split(separator: "/").dropFirst()
        let buffer = try await request.body.collect(upTo: 1 << 16)
        let received = FakeRequest(
            method: request.method.rawValue, path: segments.map { $0.removingPercentEncoding ?? String($0) },
            authorization: request.headers[.authorization],
            fields: Dictionary(
                request.headers.map { ($0.name.canonicalName, $0.value) }, uniquingKeysWith: { first, _ in first }),
            body: Array(buffer.readableBytesView))
        switch receive(received) {
        case .answer(let reply): return Self.response(reply)
        case .answerLater(let reply):
            await waitForAnotherRequest()
            return Self.response(reply)
        case .half(let reply): return Self.response(reply, isWhole: false)
        case .close:
            context.channel.close(mode: .all, promise: nil)
            return Response(status: .serviceUnavailable)
        }
    }

    /// - Parameter isWhole: if not, the whole length is announced, and the connection ends in the middle.
    private static func response(_ reply: FakeReply, isWhole: Bool = true) -> Response {
        var headers: HTTPFields = [.contentType: reply.contentType]
        if let seconds = reply.retryAfter { headers[.retryAfter] = String(seconds) }
        let bytes = ByteBuffer(string: reply.body)
        let half = ByteBuffer(bytes: bytes.readableBytesView.prefix(bytes.readableBytes / 2))
        return Response(
            status: .init(code: reply.status), headers: headers,
            body: isWhole
                ? ResponseBody(byteBuffer: bytes)
                : ResponseBody(contentLength: bytes.readableBytes) { writer in
                    try await writer.write(half)
                    throw BrokenOffOnPurpose()
                })
    }
}

/// The connection on which a request came, to close it without an answer.
private struct WireConnection: InitializableFromSource {
    let channel: any Channel

    init(source: ApplicationRequestContextSource) { channel = source.channel }
}

/// Makes the listener drop the connection after what was written so far.
private struct BrokenOffOnPurpose: Error {}
