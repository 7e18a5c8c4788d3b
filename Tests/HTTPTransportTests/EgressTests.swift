import Testing

@testable import HTTPTransport

@Suite struct `A sender that may not connect everywhere` {
    private func configuration(besides: [String] = []) throws -> CurlConfiguration {
        let ranges = try besides.map { try #require(AddressRange($0)) }
        return CurlConfiguration(http2: false, allowPlainHTTP: true, addresses: .publicOnly(besides: ranges))
    }

    private func request(_ host: String, _ server: SocketServer, scheme: String = "http") -> HTTPRequest {
        HTTPRequest(
            method: .post, url: "\(scheme)://\(host):\(server.port)/hook", body: Array("paid".utf8), label: "notify")
    }

    /// Every way of writing this machine that libcurl or the resolver takes, and some of nobody's addresses.
    static let ownHosts = [
        "localhost", "127.0.0.1", "127.1.2.3", "[::1]", "0.0.0.0", "0", "[::]", "2130706433", "0x7f.1", "0x7f000001",
        "017700000001", "127.1", "%31%32%37.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]",
        "169.254.169.254", "[fd00:ec2::254]",
    ]

    @Test(arguments: ["http", "https"])
    func `no spelling of this machine is connected to`(scheme: String) async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender(try configuration()) { sender in
            for host in Self.ownHosts {
                let failed = try await failure(sender, request(host, server, scheme: scheme))
                #expect(failed.code == .addressNotAllowed, "\(host): \(failed)")
                #expect(failed.phase == .connecting, "\(host)")
                #expect(failed.provablyNotSent, "\(host)")
                #expect(failed.detail == "\(host):\(server.port): it leads to no allowed address")
            }
        }
        // The listener takes connections in their order: any from above would have been counted before this one.
        try await withSender { sender in
            let response = try await sender.send(request("127.0.0.1", server))
            #expect(response.status == 200)
        }
        #expect(server.accepted == 1)
        #expect(server.requests.count == 1)
    }

    @Test func `a named range is connected to, and its connection is kept`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender(try configuration(besides: ["127.0.0.0/8"])) { sender in
            for _ in 0..<2 {
                let response = try await sender.send(request("127.0.0.1", server))
                #expect(response.status == 200)
            }
            #expect(server.accepted == 1)
            for host in ["localhost", "2130706433", "0x7f.1"] {
                let response = try await sender.send(request(host, server))
                #expect(response.status == 200, "\(host)")
            }
            let failed = try await failure(sender, request("[::1]", server))
            #expect(failed.code == .addressNotAllowed)
        }
        #expect(server.requests.count == 5)
    }

    @Test func `a host with an address that was tried and did not answer is not one that was refused`() async throws {
        let server = try SocketServer(handler: nil)
        server.stop()
        try await withSender(try configuration(besides: ["127.0.0.1"])) { sender in
            let failed = try await failure(sender, request("localhost", server))
            #expect(failed.code == .connectionRefused)
            #expect(failed.phase == .connecting)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a refused address leaves the sender fit for the next request`() async throws {
        let server = try SocketServer.obliging()
        defer { server.stop() }
        try await withSender(try configuration(besides: ["127.0.0.1"])) { sender in
            for _ in 0..<3 {
                let failed = try await failure(sender, request("127.0.0.2", server))
                #expect(failed.code == .addressNotAllowed)
                let response = try await sender.send(request("127.0.0.1", server))
                #expect(response.status == 200)
            }
        }
        #expect(server.accepted == 1)
    }

    @Test func `every address counts as refused only until one is allowed`() {
        let request = HTTPRequest(method: .get, url: "http://a/", label: "notify")
        var progress = TransferProgress(request, secure: false, now: .now)
        #expect(!progress.everyAddressWasRefused)
        progress.judgedAddress(isAllowed: false)
        #expect(progress.everyAddressWasRefused)
        progress.judgedAddress(isAllowed: true)
        #expect(!progress.everyAddressWasRefused)
        progress.judgedAddress(isAllowed: false)
        #expect(!progress.everyAddressWasRefused)
    }
}
