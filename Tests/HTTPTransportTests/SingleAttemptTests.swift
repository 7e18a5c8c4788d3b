import Foundation
import HTTPTransport
import Testing

/// libcurl repeats a request by itself when a kept connection turns out to be dead.
///
/// Here that must never happen.
@Suite struct `A request is sent once` {
    private func request(_ server: SocketServer) -> HTTPRequest {
        HTTPRequest(method: .post, url: server.url(), body: Array("pay".utf8), label: "authorize")
    }

    @Test func `a kept connection that closes after reading the request is not replaced`() async throws {
        let server = try SocketServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer()
            if connection.number == 1 {
                _ = connection.readRequest()
                return
            }
            while connection.readRequest() != nil { connection.answer() }
        }
        defer { server.stop() }
        try await withSender { sender in
            #expect(try await sender.send(request(server)).status == 200)
            let failed = try await failure(sender, request(server))
            #expect(failed.code == .deadConnectionReused)
            #expect(failed.phase == .sent)
            #expect(failed.bytesWritten > 3)
            #expect(!failed.provablyNotSent)
            #expect(server.requests.count == 2)
            #expect(try await sender.send(request(server)).status == 200)
        }
        #expect(server.requests.count == 3)
        #expect(server.accepted == 2)
    }

    @Test func `a kept connection that is reset without reading the request is not replaced`() async throws {
        let server = try SocketServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.answer()
            connection.awaitBytes()
            connection.resetOnClose()
        }
        defer { server.stop() }
        try await withSender { sender in
            #expect(try await sender.send(request(server)).status == 200)
            let failed = try await failure(sender, request(server))
            #expect(failed.code == .deadConnectionReused)
            #expect(failed.bytesWritten > 0)
            #expect(!failed.provablyNotSent)
        }
        #expect(server.requests.count == 1)
        #expect(server.accepted == 1)
    }

    @Test func `a kept connection known to be closed is left alone and a new one used`() async throws {
        let closed = DispatchSemaphore(value: 0)
        let server = try SocketServer { connection in
            guard connection.readRequest() != nil else { return }
            if connection.number == 1 {
                // The close travels with the answer, so libcurl sees it before it uses the connection again.
                connection.answer()
                connection.shutdownWriting()
                closed.signal()
                while connection.readMore() {}
                return
            }
            connection.answer()
        }
        defer { server.stop() }
        try await withSender { sender in
            let first = try await sender.send(request(server))
            await awaitSignal(closed)
            let second = try await sender.send(request(server))
            #expect(first.status == 200 && second.status == 200)
        }
        #expect(server.requests.count == 2)
        #expect(server.accepted == 2)
    }

    @Test func `a start time in the past sends nothing`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender { sender in
            var late = request(server)
            late.startBefore = .now - .milliseconds(1)
            let failed = try await failure(sender, late)
            #expect(failed.code == .expiredBeforeSend)
            #expect(failed.provablyNotSent)
        }
        #expect(server.accepted == 0)
    }

    @Test func `a start time that passes while waiting for a connection sends nothing`() async throws {
        let released = DispatchSemaphore(value: 0)
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {
                released.wait()
                connection.answer()
            }
        }
        defer { server.stop() }
        let single = CurlConfiguration(maximumConnections: 1, http2: false, allowPlainHTTP: true)
        try await withSender(single) { sender in
            async let first = sender.send(request(server))
            #expect(try await eventually { server.requests.count == 1 })
            var second = request(server)
            second.startBefore = .now + .milliseconds(100)
            let failed = try await failure(sender, second)
            #expect(failed.code == .expiredBeforeSend)
            #expect(failed.phase == .waiting)
            #expect(failed.provablyNotSent)
            released.signal()
            #expect(try await first.status == 200)
        }
        #expect(server.requests.count == 1)
    }
}
