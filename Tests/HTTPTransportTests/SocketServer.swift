import Foundation
import Glibc
import Testing

@testable import HTTPTransport

/// A request as it arrived.
struct ReceivedRequest: Sendable {
    let line: String
    let fields: HTTPFields
    let body: [UInt8]
}

/// A listener on the loopback interface that does with each connection whatever a test wants, on a thread of
/// its own.
final class SocketServer: Sendable {
    /// One accepted connection.
    ///
    /// Used by its own thread alone.
    final class Connection {
        let number: Int
        fileprivate let descriptor: Int32
        private let server: SocketServer
        private var buffer: [UInt8] = []

        fileprivate init(number: Int, descriptor: Int32, server: SocketServer) {
            self.number = number
            self.descriptor = descriptor
            self.server = server
        }

        /// The next request, head and body; `nil` when the other side has closed.
        func readRequest() -> ReceivedRequest? {
            while true {
                if let request = takeRequest() {
                    server.state.withLock { $0.requests.append(request) }
                    return request
                }
                guard readMore() else { return nil }
            }
        }

        /// Reads whatever is there.
        ///
        /// `false` at the end.
        func readMore() -> Bool {
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            guard count > 0 else { return false }
            buffer += chunk.prefix(count)
            return true
        }

        /// Waits until something can be read, without reading it.
        func awaitBytes() {
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            poll(&entry, 1, 10_000)
        }

        private func takeRequest() -> ReceivedRequest? {
            let end = Array("\r\n\r\n".utf8)
            guard let range = buffer.firstRange(of: end) else { return nil }
            let lines = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                .components(separatedBy: "\r\n")
            let fields = HTTPFields(
                lines.dropFirst().compactMap { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    guard parts.count == 2 else { return nil }
                    return (String(parts[0]), parts[1].trimmingCharacters(in: .whitespaces))
                })
            let length = fields["content-length"].flatMap(Int.init) ?? 0
            guard buffer.count - range.upperBound >= length else { return nil }
            let body = Array(buffer[range.upperBound..<(range.upperBound + length)])
            buffer.removeFirst(range.upperBound + length)
            return ReceivedRequest(line: lines.first ?? "", fields: fields, body: body)
        }

        func write(_ text: String) {
            write(Array(text.utf8))
        }

        func write(_ bytes: [UInt8]) {
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                rest = rest.dropFirst(count)
            }
        }

        /// A small complete answer that keeps the connection.
        func answer(_ status: Int = 200, body: String = "ok", extra: String = "") {
            write(
                "HTTP/1.1 \(status) Reason\r\nContent-Length: \(body.utf8.count)\r\n\(extra)\r\n\(body)")
        }

        /// Makes the close of this connection a reset.
        func resetOnClose() {
            var option = linger(l_onoff: 1, l_linger: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        }
    }

    struct State: Sendable {
        var requests: [ReceivedRequest] = []
        var accepted = 0
        var open: Set<Int32> = []
        var stopped = false
    }

    let port: UInt16
    fileprivate let state = Guarded(State())
    private let listener: Int32

    /// Listens on a free port; `handler` runs for each connection, which is closed when it returns.
    init(backlog: Int32 = 512, handler: (@Sendable (Connection) -> Void)?) throws {
        (listener, port) = try Self.listen(backlog)
        guard let handler else { return }
        Thread.detachNewThread { [self] in acceptLoop(handler) }
    }

    private static func listen(_ backlog: Int32) throws -> (Int32, UInt16) {
        // Never inherited: a copy in a child process would keep a connection open that a test has closed.
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                bind(descriptor, generic, length) == 0 && Glibc.listen(descriptor, backlog) == 0
                    && getsockname(descriptor, generic, &length) == 0
            }
        }
        try #require(descriptor >= 0 && bound, "a listener on the loopback interface")
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    private func acceptLoop(_ handler: @escaping @Sendable (Connection) -> Void) {
        while true {
            let descriptor = accept(listener, nil, nil)
            guard descriptor >= 0 else { return }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let number: Int? = state.withLock { state in
                guard !state.stopped else { return nil }
                state.accepted += 1
                state.open.insert(descriptor)
                return state.accepted
            }
            guard let number else {
                close(descriptor)
                return
            }
            Thread.detachNewThread { [self] in
                handler(Connection(number: number, descriptor: descriptor, server: self))
                state.withLock { _ = $0.open.remove(descriptor) }
                close(descriptor)
            }
        }
    }

    /// Answers every request on every connection with 200 and `ok`.
    static func obliging() throws -> SocketServer {
        try SocketServer { connection in
            while connection.readRequest() != nil { connection.answer() }
        }
    }

    func url(_ path: String = "/", scheme: String = "http") -> String {
        "\(scheme)://127.0.0.1:\(port)\(path)"
    }

    /// How many connections were accepted.
    var accepted: Int { state.withLock { $0.accepted } }

    /// Every complete request that arrived.
    var requests: [ReceivedRequest] { state.withLock { $0.requests } }

    /// Ends the listener and every connection.
    func stop() {
        state.withLock { state in
            guard !state.stopped else { return }
            state.stopped = true
            for descriptor in state.open { shutdown(descriptor, Int32(SHUT_RDWR)) }
            shutdown(listener, Int32(SHUT_RDWR))
            close(listener)
        }
    }

    deinit { stop() }
}

/// The failure of a request that is expected to fail.
func failure(
    _ sender: any HTTPSender, _ request: HTTPRequest, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> TransportFailure {
    do {
        let response = try await sender.send(request)
        Issue.record("answered \(response.status) instead of failing", sourceLocation: sourceLocation)
        throw CancellationError()
    } catch let error as TransportFailure {
        return error
    }
}

/// Runs a test with a sender that accepts plain HTTP, and shuts it down afterwards.
func withSender(
    _ configuration: CurlConfiguration = CurlConfiguration(http2: false, allowPlainHTTP: true),
    _ body: (CurlSender) async throws -> Void
) async throws {
    let sender = CurlSender(configuration: configuration)
    do {
        try await body(sender)
    } catch {
        await sender.shutdown(grace: .zero)
        throw error
    }
    await sender.shutdown(grace: .zero)
}

extension SocketServer.Connection {
    /// Says that nothing more will come, and goes on reading.
    func shutdownWriting() {
        shutdown(descriptor, Int32(SHUT_WR))
    }
}

/// Adds up what requests consist of on the wire, as this server received them.
final class Total: Sendable {
    private let count = Guarded(0)

    var bytes: Int { count.withLock { $0 } }

    /// The request line, each field as libcurl writes it (`name: value`), the empty line and the body.
    func add(_ request: ReceivedRequest) {
        let head = request.fields.all.reduce(request.line.utf8.count + 4) { total, field in
            total + field.name.utf8.count + 2 + field.value.utf8.count + 2
        }
        count.withLock { $0 += head + request.body.count }
    }
}
