import Foundation
import Glibc
import HTTPTransport
import Testing

@Suite struct `A request that fails` {
    private static let body = [UInt8](repeating: 66, count: 100)

    private func post(_ url: String, _ limits: TimeLimits = TimeLimits()) -> HTTPRequest {
        HTTPRequest(method: .post, url: url, body: Self.body, limits: limits, label: "authorize")
    }

    @Test func `a refused connection proves that nothing was sent`() async throws {
        let server = try SocketServer(handler: nil)
        let url = server.url()
        server.stop()
        try await withSender { sender in
            let failed = try await failure(sender, post(url))
            #expect(failed.code == .connectionRefused)
            #expect(failed.phase == .connecting)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a name without an address proves that nothing was sent`() async throws {
        try await withSender { sender in
            let failed = try await failure(
                sender, post("http://no-such-host.invalid/", TimeLimits(connect: .seconds(10))))
            #expect(failed.code == .nameNotResolved)
            #expect(failed.phase == .resolving)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a listener that takes no more connections ends in a connect timeout`() async throws {
        let server = try SocketServer(backlog: 0, handler: nil)
        let fillers = (0..<4).map { _ in halfOpenConnection(to: server.port) }
        defer {
            for descriptor in fillers { close(descriptor) }
            server.stop()
        }
        try await withSender { sender in
            let began = ContinuousClock.now
            let failed = try await failure(
                sender, post(server.url(), TimeLimits(connect: .milliseconds(200))))
            #expect(failed.code == .connectTimeout)
            #expect(failed.phase == .connecting)
            #expect(failed.provablyNotSent)
            #expect(ContinuousClock.now - began < .seconds(2))
        }
    }

    private func halfOpenConnection(to port: UInt16) -> Int32 {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                _ = connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    @Test func `silence after the request is a first byte timeout with bytes written`() async throws {
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {}
        }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(
                sender, post(server.url(), TimeLimits(firstByte: .milliseconds(400))))
            #expect(failed.code == .firstByteTimeout)
            #expect(failed.phase == .sent)
            #expect(failed.bytesWritten > Self.body.count)
            #expect(!failed.provablyNotSent)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `an upload that nobody reads is a first byte timeout while sending`() async throws {
        let released = DispatchSemaphore(value: 0)
        let server = try SocketServer { _ in released.wait() }
        defer {
            released.signal()
            server.stop()
        }
        try await withSender { sender in
            var request = post(server.url(), TimeLimits(firstByte: .milliseconds(300)))
            request.body = [UInt8](repeating: 67, count: 32 << 20)
            let failed = try await failure(sender, request)
            #expect(failed.code == .firstByteTimeout)
            #expect(failed.phase == .sending)
            #expect(failed.bytesWritten > 0)
            #expect(failed.bytesWritten < request.body.count)
        }
    }

    @Test func `an answer that trickles ends at the total limit`() async throws {
        let released = DispatchSemaphore(value: 0)
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst")
            released.wait()
        }
        defer {
            released.signal()
            server.stop()
        }
        try await withSender { sender in
            let limits = TimeLimits(firstByte: .seconds(9), total: .milliseconds(1_200))
            let failed = try await failure(sender, post(server.url(), limits))
            #expect(failed.code == .totalTimeout)
            #expect(failed.phase == .receiving)
        }
    }

    @Test func `a reset in the middle of the answer is a reset while receiving`() async throws {
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome")
            connection.resetOnClose()
        }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .connectionReset)
            #expect(failed.phase >= .sent)
            #expect(failed.bytesWritten > Self.body.count)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nsome",
    ])
    func `a truncated body is no answer`(truncated: String) async throws {
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            connection.write(truncated)
        }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .connectionReset)
            #expect(failed.phase == .receiving)
            #expect(!failed.provablyNotSent)
        }
    }

    @Test func `a close without an answer on a new connection is a reset, and is not repeated`() async throws {
        let server = try SocketServer { connection in _ = connection.readRequest() }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .connectionReset)
            #expect(failed.phase == .sent)
            #expect(failed.bytesWritten > Self.body.count)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `an answer larger than allowed is refused, by length or by what comes`() async throws {
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            let big = String(repeating: "x", count: 5_000)
            if connection.number == 1 {
                connection.answer(body: big)
            } else {
                connection.write("HTTP/1.1 200 OK\r\n\r\n\(big)")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            for _ in 0..<2 {
                var request = post(server.url())
                request.maximumResponseBytes = 4_999
                let failed = try await failure(sender, request)
                #expect(failed.code == .responseTooLarge)
                #expect(failed.phase == .receiving)
            }
        }
    }

    @Test func `a header without end is refused`() async throws {
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            connection.write("HTTP/1.1 200 OK\r\n")
            for number in 0..<2_000 {
                connection.write("X-\(number): \(String(repeating: "y", count: 100))\r\n")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .responseTooLarge)
        }
    }

    @Test func `what is not HTTP is a malformed answer`() async throws {
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            connection.write("SSH-2.0-OpenSSH_9.2\r\n")
        }
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .malformedResponse)
            #expect(!failed.provablyNotSent)
        }
    }
}
