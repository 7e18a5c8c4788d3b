import Foundation
import Glibc
import HTTPTransport
import Testing

/// HTTP as RFC 9110 and RFC 9112 have it, asked byte by byte on both listeners.
struct HTTPRulesTests {
    /// What came back: the final answer, what came before it, and whether the connection ended then.
    private struct Reply {
        var interim: [Int] = []
        var status = 0
        var fields: [String: String] = [:]
        var body = ""
        var isClosed = false

        var problem: String? {
            guard fields["content-type"] == "application/problem+json" else { return nil }
            let document = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            return document?["title"] as? String
        }
    }

    /// Sends parts one after the other, each once the answer to the one before began, and reads one final answer.
    private func ask(_ port: Int, _ parts: String..., isHead: Bool = false) async throws -> Reply {
        let descriptor = try Socket.connecting(port: port, receiveBuffer: nil)
        return await Socket.onThread {
            defer { close(descriptor) }
            Socket.wait(for: [descriptor], atMost: .seconds(2))
            var left = parts[...]
            var bytes: [UInt8] = []
            var reply = Reply()
            let end = ContinuousClock.now + .seconds(5)
            func send() {
                guard let part = left.popFirst() else { return }
                var rest = Array(part.utf8)[...]
                while !rest.isEmpty, ContinuousClock.now < end {
                    let count = rest.withUnsafeBytes {
                        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    if count > 0 { rest = rest.dropFirst(count) } else if errno != EAGAIN { return }
                }
            }
            send()
            while ContinuousClock.now < end {
                if let (head, count) = HTTPRulesTests.head(bytes) {
                    if head.status < 200 {
                        reply.interim.append(head.status)
                        bytes.removeFirst(count)
                        send()
                        continue
                    }
                    let length = isHead ? 0 : Int(head.fields["content-length"] ?? "") ?? 0
                    if reply.status == 0, bytes.count >= count + length {
                        (reply.status, reply.fields) = (head.status, head.fields)
                        reply.body = String(decoding: bytes[count..<count + length], as: UTF8.self)
                        #expect(bytes.count == count + length, "nothing follows the answer")
                    }
                }
                // Whether it ends is known a moment after the answer.
                var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                guard poll(&wanted, 1, reply.status == 0 ? 100 : 300) > 0 else {
                    if reply.status != 0 { return reply }
                    continue
                }
                var part = [UInt8](repeating: 0, count: 65_536)
                let count = recv(descriptor, &part, part.count, 0)
                guard count > 0 else {
                    reply.isClosed = count == 0
                    return reply
                }
                bytes += part.prefix(count)
            }
            return reply
        }
    }

    private static func head(_ bytes: [UInt8]) -> (head: Reply, count: Int)? {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let end = text.range(of: "\r\n\r\n") else { return nil }
        let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
        var head = Reply()
        head.status = Int(lines[0].split(separator: " ")[1]) ?? 0
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            head.fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        return (head, text[..<end.upperBound].utf8.count)
    }

    private let token = "Authorization: Bearer \(World.callerToken)\r\n"

    @Test func `a request without a host, with two, or that is no HTTP gets a problem document and the end`()
        async throws
    {
        try await World.run { _, client in
            let port = client.port
            let post = "POST /v1/payments HTTP/1.1\r\nHost: a\r\n"
            let cases: [(String, Int, String)] = [
                ("GET /v1/payments HTTP/1.1\r\n\(token)\r\n", 400, "Invalid request"),
                ("GET /v1/payments HTTP/1.1\r\nHost: a\r\nHost: b\r\n\(token)\r\n", 400, "Invalid request"),
                ("hello\r\n\r\n", 400, "Invalid request"),
                ("GET /v1/payments HTTP/3.7\r\nHost: a\r\n\r\n", 400, "Invalid request"),
                ("GET /\(String(repeating: "a", count: 20_000)) HTTP/1.1\r\nHost: a\r\n\r\n", 414, "Target too long"),
                (
                    "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n", 431,
                    "Header fields too large"
                ),
                (
                    "GET / HTTP/1.1\r\nHost: a\r\n\((0..<100).map { "X\($0): a\r\n" }.joined())\r\n", 431,
                    "Header fields too large"
                ),
                (
                    "POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\(token)\r\n{}",
                    413,
                    "Body too large"
                ),
                (
                    "POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\(token)\r\n{}",
                    400, "Invalid request"
                ),
                (
                    "\(post)Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
                    400, "Invalid request"
                ),
                (
                    "\(post)Content-Encoding: gzip\r\nContent-Length: 2\r\n\(token)\r\n{}",
                    415, "Unsupported media type"
                ),
                (
                    "POST /v1/payments HTTP/1.1\r\nHost: a\r\nExpect: luck\r\nContent-Length: 2\r\n\(token)\r\n{}", 417,
                    "Expectation failed"
                ),
            ]
            for (request, status, title) in cases {
                for port in [port, client.adminPort] {
                    let reply = try await ask(port, request)
                    #expect(reply.status == status && reply.problem == title, "\(request.prefix(90)): \(reply)")
                    #expect(reply.isClosed, "\(request.prefix(90))")
                }
            }
            #expect(try await client.send(.get, "/v1/payments").status == 200)
        }
    }

    @Test func `a body is asked for where its sender waits for that`() async throws {
        try await World.run { _, client in
            let body = Bodies.payment([("card", 700)])
            let head = """
                POST /v1/payments HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nIdempotency-Key: expect-1\r
                \(token)Expect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n
                """.replacing("\r\n\n", with: "\r\n")
            let reply = try await ask(client.port, head, body)
            #expect(reply.interim == [100])
            #expect(reply.status == 201 || reply.status == 202, "\(reply)")
        }
    }

    @Test func `an old version ends its connection unless it asks for more`() async throws {
        try await World.run { _, client in
            let plain = try await ask(client.adminPort, "GET /livez HTTP/1.0\r\n\r\n")
            #expect(plain.status == 200 && plain.isClosed, "\(plain)")
            let kept = try await ask(client.adminPort, "GET /livez HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(kept.status == 200 && !kept.isClosed && kept.fields["connection"] == "keep-alive", "\(kept)")
            let ended = try await ask(client.adminPort, "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(ended.status == 200 && ended.isClosed)
        }
    }

    @Test func `HEAD is answered as GET, without the body`() async throws {
        try await World.run { _, client in
            for (port, path) in [
                (client.adminPort, "/livez"), (client.adminPort, "/readyz"), (client.adminPort, "/metrics"),
                (client.port, "/v1/payments"),
            ] {
                let asked = try await ask(port, "HEAD \(path) HTTP/1.1\r\nHost: a\r\n\(token)\r\n", isHead: true)
                #expect(asked.status == 200 && !asked.isClosed, "\(path): \(asked)")
                #expect(Int(asked.fields["content-length"] ?? "") ?? 0 > 0, "\(path)")
            }
            let refused = try await ask(client.port, "TRACE /v1/payments HTTP/1.1\r\nHost: a\r\n\(token)\r\n")
            #expect(refused.status == 405 && refused.fields["allow"] == "GET, HEAD, POST", "\(refused)")
        }
    }

    @Test func `nothing follows an answer that ends the connection`() async throws {
        try await World.run { _, client in
            let reply = try await ask(
                client.adminPort,
                "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\nGET /livez HTTP/1.1\r\n\r\n")
            // That nothing follows is judged where it is read.
            #expect(reply.status == 200 && reply.isClosed && reply.fields["connection"] == "close", "\(reply)")
        }
    }

    @Test func `requests in one packet are answered in their order, also where the last is refused`() async throws {
        try await World.run { _, client in
            let descriptor = try Socket.connecting(port: client.adminPort, receiveBuffer: nil)
            let text = await Socket.onThread {
                defer { close(descriptor) }
                Socket.wait(for: [descriptor], atMost: .seconds(2))
                let request =
                    "GET /livez HTTP/1.1\r\nHost: a\r\n\r\nHEAD /livez HTTP/1.1\r\nHost: a\r\n\r\n"
                    + "GET /x HTTP/1.1\r\n\r\n"
                _ = Array(request.utf8).withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) }
                var bytes: [UInt8] = []
                while true {
                    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                    guard poll(&wanted, 1, 5_000) > 0 else { break }
                    var part = [UInt8](repeating: 0, count: 65_536)
                    let count = recv(descriptor, &part, part.count, 0)
                    guard count > 0 else { break }
                    bytes += part.prefix(count)
                }
                return String(decoding: bytes, as: UTF8.self)
            }
            let statuses = text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
            #expect(statuses == [200, 200, 400], "\(text)")
            #expect(text.components(separatedBy: "{\"status\":\"pass\"}").count == 2, "HEAD has no body: \(text)")
        }
    }
}
