import HTTPTransport
import Testing

@Suite struct `A request over a plain connection` {
    @Test func `two requests share one kept connection and arrive as they were made`() async throws {
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {
                connection.answer(201, body: "made", extra: "X-Reply: one\r\nx-reply: two\r\nEmpty:\r\n")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            let request = HTTPRequest(
                method: .put, url: server.url("/transactions/k1?a=b"),
                fields: HTTPFields([("Content-Type", "application/json"), ("X-Empty", "")]),
                body: Array(#"{"amount":1}"#.utf8), label: "authorize")
            for _ in 0..<2 {
                let response = try await sender.send(request)
                #expect(response.status == 201)
                #expect(response.body == Array("made".utf8))
                #expect(response.fields.values(of: "X-REPLY") == ["one", "two"])
                #expect(response.fields["empty"] == "")
            }
        }
        #expect(server.accepted == 1)
        let received = server.requests
        #expect(received.map(\.line) == Array(repeating: "PUT /transactions/k1?a=b HTTP/1.1", count: 2))
        #expect(received.first?.body == Array(#"{"amount":1}"#.utf8))
        #expect(received.first?.fields["content-type"] == "application/json")
        #expect(received.first?.fields["x-empty"] == "" || received.first?.fields["x-empty"] == nil)
        #expect(received.first?.fields["expect"] == nil)
    }

    @Test(arguments: [0, 10, 5_000, 300_000, 3_000_000])
    func `the bytes written are those that arrive, head and body`(size: Int) async throws {
        let arrived = Total()
        let server = try SocketServer { connection in
            while let request = connection.readRequest() {
                arrived.add(request)
                connection.answer()
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            let request = HTTPRequest(
                method: .post, url: server.url("/x"), body: [UInt8](repeating: 65, count: size),
                label: "upload")
            let response = try await sender.send(request)
            #expect(response.bytesWritten == arrived.bytes)
            #expect(server.requests.first?.body.count == size)
            #expect(server.requests.first?.fields["expect"] == nil)
        }
    }

    @Test func `interim answers and trailers are skipped`() async throws {
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {
                connection.write("HTTP/1.1 103 Early Hints\r\nX-Hint: early\r\n\r\n")
                connection.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Last: yes\r\n\r\n")
                connection.write("3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: late\r\n\r\n")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            let response = try await sender.send(
                HTTPRequest(method: .get, url: server.url(), label: "read"))
            #expect(response.status == 200)
            #expect(response.body == Array("abcde".utf8))
            #expect(response.fields["x-hint"] == nil)
            #expect(response.fields["x-last"] == "yes")
            #expect(response.fields["x-trailer"] == nil)
        }
    }

    @Test func `a redirect is an answer and is not followed`() async throws {
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {
                connection.answer(307, body: "", extra: "Location: /elsewhere\r\n")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            let response = try await sender.send(
                HTTPRequest(method: .post, url: server.url(), body: [1], label: "capture"))
            #expect(response.status == 307)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `two hundred requests at once are each answered once`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender(
            CurlConfiguration(maximumConnections: 16, http2: false, allowPlainHTTP: true)
        ) { sender in
            let answered = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let request = HTTPRequest(method: .get, url: server.url("/\(number)"), label: "read")
                        return try await sender.send(request).status
                    }
                }
                return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
            }
            #expect(answered == 200)
        }
        #expect(Set(server.requests.map(\.line)).count == 200)
        #expect(server.requests.count == 200)
        #expect(server.accepted <= 16)
    }

    @Test func `a connection on which an answer arrives that nobody asked for is closed`() async throws {
        let server = try SocketServer { connection in
            while connection.readRequest() != nil {
                let own = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                connection.write(own + "HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nstray")
            }
        }
        defer { server.stop() }
        try await withSender { sender in
            for number in 0..<4 {
                let request = HTTPRequest(method: .get, url: server.url("/\(number)"), label: "read")
                let response = try await sender.send(request)
                #expect(response.status == 200 && response.body == Array("ok".utf8))
            }
        }
        #expect(server.accepted == 4, "a connection with bytes left over is not used again")
    }

    @Test func `a connection idle for longer than its life is not used again`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender(
            CurlConfiguration(idleConnectionLife: .seconds(1), http2: false, allowPlainHTTP: true)
        ) { sender in
            let request = HTTPRequest(method: .get, url: server.url(), label: "read")
            _ = try await sender.send(request)
            try await letPass(.milliseconds(2_200))
            _ = try await sender.send(request)
        }
        #expect(server.accepted == 2)
    }

    @Test(arguments: [
        ("ftp://127.0.0.1/", "scheme"), ("http://user:secret@127.0.0.1/", "user"), ("/relative", "relative"),
        ("http://127.0.0.1/a b", "space"), ("http://127.0.0.1/\r\nX: y", "line"), ("http:///path", "host"),
    ])
    func `a URL that is not plain is refused before anything happens`(url: String, what: String) async throws {
        try await withSender { sender in
            let failed = try await failure(sender, HTTPRequest(method: .get, url: url, label: "read"))
            #expect(failed.code == .invalidRequest, "\(what)")
            #expect(failed.provablyNotSent)
            #expect(!failed.description.contains("secret"))
        }
    }

    @Test func `fields that inject or frame, a zero limit and a GET with a body are refused`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender { sender in
            let good = HTTPRequest(method: .get, url: server.url(), label: "read")
            var injecting = good
            injecting.fields.append("X-A", "b\r\nX-C: d")
            var framing = good
            framing.fields.append("transfer-encoding", "chunked")
            var limitless = good
            limitless.limits.total = .zero
            var bodied = good
            bodied.body = [1]
            for bad in [injecting, framing, limitless, bodied] {
                let failed = try await failure(sender, bad)
                #expect(failed.code == .invalidRequest)
            }
        }
        #expect(server.accepted == 0)
    }

    @Test func `plain HTTP is refused unless the configuration allows it`() async throws {
        try await withSender(CurlConfiguration()) { sender in
            let failed = try await failure(
                sender, HTTPRequest(method: .get, url: "http://127.0.0.1:1/", label: "read"))
            #expect(failed.code == .invalidRequest)
        }
    }
}
