import Foundation
import HTTPTransport
import Testing

@Suite struct `The life of a sender` {
    private static let configuration = CurlConfiguration(http2: false, allowPlainHTTP: true)

    private func request(_ server: SocketServer) -> HTTPRequest {
        HTTPRequest(method: .post, url: server.url(), body: [1, 2, 3], label: "authorize")
    }

    private func silentServer() throws -> SocketServer {
        try SocketServer { connection in while connection.readRequest() != nil {} }
    }

    @Test func `cancelling the task ends the request and tells how far it got`() async throws {
        let server = try silentServer()
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await withThrowingTaskGroup(of: TransportFailure.self) { group in
                group.addTask { try await failure(sender, request(server)) }
                #expect(try await eventually { server.requests.count == 1 })
                group.cancelAll()
                return try #require(try await group.next())
            }
            #expect(failed.code == .cancelled)
            #expect(failed.phase == .sent)
            #expect(failed.bytesWritten > 3)
        }
    }

    @Test func `a task that is cancelled already sends nothing`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender { sender in
            let failed = try await withThrowingTaskGroup(of: TransportFailure.self) { group in
                group.cancelAll()
                group.addTask { try await failure(sender, request(server)) }
                return try #require(try await group.next())
            }
            #expect(failed.code == .cancelled)
            #expect(failed.provablyNotSent)
        }
        #expect(server.accepted == 0)
    }

    @Test func `cancelling at any moment always ends the request`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender { sender in
            for round in 0..<200 {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask {
                        do throws(TransportFailure) {
                            let response = try await sender.send(request(server))
                            #expect(response.status == 200)
                        } catch {
                            #expect(error.code == .cancelled)
                        }
                    }
                    for _ in 0..<(round % 20) { await Task.yield() }
                    group.cancelAll()
                }
            }
        }
    }

    @Test func `shutdown lets a request in progress finish and refuses new ones`() async throws {
        let released = DispatchSemaphore(value: 0)
        let server = try SocketServer { connection in
            _ = connection.readRequest()
            released.wait()
            connection.answer()
        }
        defer { server.stop() }
        let sender = CurlSender(configuration: Self.configuration)
        async let inProgress = sender.send(request(server))
        #expect(try await eventually { server.requests.count == 1 })
        async let ended: Void = sender.shutdown(grace: .seconds(10))
        var refused: TransportFailure?
        // The shutdown runs beside this task; what is sent before it has begun is merely cancelled.
        while refused?.detail != "the sender was shut down" {
            var short = request(server)
            short.limits.total = .milliseconds(20)
            refused = try await failure(sender, short)
        }
        #expect(refused?.code == .cancelled)
        #expect(refused?.provablyNotSent == true)
        released.signal()
        released.signal()
        #expect(try await inProgress.status == 200)
        await ended
    }

    @Test func `shutdown fails what does not finish in time`() async throws {
        let server = try silentServer()
        defer { server.stop() }
        let sender = CurlSender(configuration: Self.configuration)
        async let failed = failure(sender, request(server))
        #expect(try await eventually { server.requests.count == 1 })
        await sender.shutdown(grace: .milliseconds(50))
        #expect(try await failed.code == .cancelled)
        #expect(try await failed.phase == .sent)
        await sender.shutdown()
    }

    @Test func `a sender that is dropped ends its thread`() async throws {
        let before = threadCount()
        for _ in 0..<20 { _ = CurlSender(configuration: Self.configuration) }
        #expect(try await eventually { threadCount() <= before + 10 })
    }

    private func threadCount() -> Int {
        do {
            return try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
        } catch {
            return 0
        }
    }
}

/// Waits for a semaphore without blocking a thread of the cooperative pool.
func awaitSignal(_ semaphore: DispatchSemaphore) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            semaphore.wait()
            continuation.resume()
        }
    }
}
