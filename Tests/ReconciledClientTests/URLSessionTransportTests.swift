import Foundation
import Hummingbird
import Logging
import Testing

@testable import ReconciledClient

/// The wire of a client, against a real server.
@Suite struct URLSessionTransportTests {
    private struct Server: Sendable {
        let url: String

        func request(_ path: String, _ limit: Duration = .seconds(20), body: String? = nil) throws -> ClientRequest {
            ClientRequest(
                method: body == nil ? "GET" : "POST", url: try #require(URL(string: url + path)),
                headers: ["Authorization": "Bearer token", "Content-Type": "application/json"],
                body: body.map { Data($0.utf8) }, timeLimit: limit)
        }
    }

    private func serving(_ body: (Server) async throws -> Void) async throws {
        let (silence, silent) = AsyncStream.makeStream(of: Void.self)
        defer { silent.finish() }
        let router = Router()
        router.post("/echo") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 16)
            let token = request.headers[.authorization] ?? "none"
            return Response(
                status: .accepted, headers: [.retryAfter: "3", .contentType: "application/json"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: token + " " + String(buffer: body))))
        }
        router.get("/moved") { _, _ in Response(status: .found, headers: [.location: "/echo"]) }
        router.get("/long") { _, _ in
            Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(repeating: 0x20, count: 5 << 20)))
        }
        router.get("/never") { _, _ in
            for await _ in silence {}
            return Response(status: .ok)
        }
        var logger = Logger(label: "server")
        logger.logLevel = .critical
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { port.yield($0.localAddress?.port ?? 0) }, logger: logger)
        let task = Task { try await application.run() }
        defer { task.cancel() }
        var first = ports.makeAsyncIterator()
        try await body(Server(url: "http://127.0.0.1:\(await first.next() ?? 0)"))
    }

    @Test func `what was sent arrives, and the answer's headers have small letters`() async throws {
        try await serving { server in
            let answer = try await URLSessionTransport().send(server.request("/echo", body: #"{"a": 1}"#))
            #expect(answer.status == 202 && answer.headers["retry-after"] == "3")
            #expect(String(decoding: answer.body, as: UTF8.self) == #"Bearer token {"a": 1}"#)
        }
    }

    @Test func `a redirection is an answer, and nobody goes there with the token`() async throws {
        try await serving { server in
            let answer = try await URLSessionTransport().send(server.request("/moved"))
            #expect(answer.status == 302)
        }
    }

    @Test func `an answer without an end is none`() async throws {
        try await serving { server in
            await #expect(throws: (any Error).self) { try await URLSessionTransport().send(server.request("/long")) }
        }
    }

    @Test func `an answer that takes too long is none`() async throws {
        try await serving { server in
            let start = ContinuousClock.now
            let error = await #expect(throws: URLError.self) {
                try await URLSessionTransport().send(server.request("/never", .milliseconds(300)))
            }
            #expect(error?.code == .timedOut && ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `a task that is canceled ends its request`() async throws {
        try await serving { server in
            let request = try server.request("/never", .seconds(50))
            let task = Task { try await URLSessionTransport().send(request) }
            task.cancel()
            let start = ContinuousClock.now
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test func `nobody listens`() async throws {
        let server = Server(url: "http://127.0.0.1:1")
        await #expect(throws: URLError.self) { try await URLSessionTransport().send(server.request("/echo")) }
    }
}
