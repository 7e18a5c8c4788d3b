import CertificateAuthority
import Foundation
import HTTPTransport
import Testing

@Suite struct `A request through TLS` {
    private func trusting(http2: Bool = false) throws -> CurlConfiguration {
        CurlConfiguration(caBundlePath: try TestCertificates.shared.get().authority, http2: http2)
    }

    private func post(_ url: String, bytes: Int = 100, _ limits: TimeLimits = TimeLimits()) -> HTTPRequest {
        HTTPRequest(
            method: .post, url: url, body: [UInt8](repeating: 68, count: bytes), limits: limits,
            label: "authorize")
    }

    @Test func `a trusted certificate is accepted and the connection is kept`() async throws {
        let server = try await TLSServer(.http1)
        defer { server.stop() }
        try await withSender(try trusting()) { sender in
            for host in ["localhost", "localhost", "localhost"] {
                let response = try await sender.send(post(server.url(host: host)))
                #expect(response.status == 200)
                #expect(response.bytesWritten > 100)
            }
        }
        #expect(server.count("connection") == 1)
        #expect(server.count("request") == 3)
    }

    @Test func `a certificate of an unknown authority is refused before a byte is sent`() async throws {
        let server = try await TLSServer(.http1)
        defer { server.stop() }
        try await withSender(CurlConfiguration()) { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .tlsFailure)
            #expect(failed.phase == .securing)
            #expect(failed.provablyNotSent)
        }
        #expect(server.count("request") == 0)
    }

    @Test func `a certificate for another host is refused before a byte is sent`() async throws {
        let server = try await TLSServer(.http1, certificate: "other")
        defer { server.stop() }
        try await withSender(try trusting()) { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
        #expect(server.count("request") == 0)
    }

    @Test func `one certificate alone is trusted, by whatever name its server is called`() async throws {
        let (server, other) = (try await TLSServer(.http1, certificate: "other"), try await TLSServer(.http1))
        defer {
            server.stop()
            other.stop()
        }
        let pair = try TestCertificates.shared.get().pair("other")
        var configuration = CurlConfiguration()
        configuration.onlyCertificate = Array(try Data(contentsOf: URL(fileURLWithPath: pair.certificate)))
        try await withSender(configuration) { sender in
            let response = try await sender.send(post(server.url()))
            #expect(response.status == 200)
            // The same authority has signed this one, for the very name that is asked for.
            let failed = try await failure(sender, post(other.url()))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
        #expect(other.count("request") == 0)
    }

    @Test func `a side that asks for a certificate is shown it`() async throws {
        let server = try await TLSServer(.asksForCertificate)
        defer { server.stop() }
        var configuration = try trusting()
        try await withSender(configuration) { sender in
            // With TLS 1.3 the request may be on its way when the other side refuses: no proof that it was not read.
            _ = try await failure(sender, post(server.url()))
        }
        #expect(server.count("request") == 0)
        let pair = try TestCertificates.shared.get().pair("client")
        configuration.clientCertificate = CurlConfiguration.ClientCertificate(
            certificatePath: pair.certificate, keyPath: pair.key)
        try await withSender(configuration) { sender in
            let response = try await sender.send(post(server.url()))
            #expect(response.status == 200)
        }
        configuration.clientCertificate?.keyPath = "/nowhere/key.pem"
        try await withSender(configuration) { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
        #expect(server.count("request") == 1)
    }

    @Test func `a CA file that is not there is a TLS failure`() async throws {
        let server = try await TLSServer(.http1)
        defer { server.stop() }
        try await withSender(CurlConfiguration(caBundlePath: "/nowhere/ca.pem")) { sender in
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a handshake that stalls is a TLS timeout, not a connect timeout`() async throws {
        let released = DispatchSemaphore(value: 0)
        let server = try SocketServer { _ in released.wait() }
        defer {
            released.signal()
            server.stop()
        }
        try await withSender(CurlConfiguration()) { sender in
            let began = ContinuousClock.now
            let failed = try await failure(
                sender,
                post(
                    server.url(scheme: "https"),
                    TimeLimits(connect: .milliseconds(300), tls: .milliseconds(600))))
            #expect(failed.code == .tlsTimeout)
            #expect(failed.phase == .securing)
            #expect(failed.provablyNotSent)
            #expect(ContinuousClock.now - began >= .milliseconds(600))
        }
    }

    @Test func `a peer that does not speak TLS is a TLS failure`() async throws {
        let server = try SocketServer { connection in
            connection.awaitBytes()
            connection.write("HTTP/1.1 400 Bad Request\r\n\r\n")
        }
        defer { server.stop() }
        try await withSender(CurlConfiguration()) { sender in
            let failed = try await failure(sender, post(server.url(scheme: "https")))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a peer that closes during the handshake is a TLS failure`() async throws {
        let server = try SocketServer { connection in
            connection.awaitBytes()
            connection.resetOnClose()
        }
        defer { server.stop() }
        try await withSender(CurlConfiguration()) { sender in
            let failed = try await failure(sender, post(server.url(scheme: "https")))
            #expect(failed.code == .tlsFailure)
            #expect(failed.provablyNotSent)
        }
    }

    @Test func `a kept TLS connection that dies is not replaced`() async throws {
        let server = try await TLSServer(.closeSecond)
        defer { server.stop() }
        try await withSender(try trusting()) { sender in
            let first = try await sender.send(post(server.url()))
            #expect(first.status == 200)
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .deadConnectionReused)
            #expect(!failed.provablyNotSent)
            #expect(failed.bytesWritten > 100)
        }
        #expect(server.count("request") == 2)
        #expect(server.count("connection") == 1)
    }

    @Test func `HTTP2 shares one connection between requests at the same time`() async throws {
        let server = try await TLSServer(.http2)
        defer { server.stop() }
        try await withSender(try trusting(http2: true)) { sender in
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for number in 0..<20 {
                    group.addTask { try await sender.send(post(server.url("/\(number)"), bytes: 1_000)) }
                }
                for try await response in group {
                    #expect(response.status == 200)
                    #expect(response.body == Array("ok".utf8))
                    #expect(response.bytesWritten > 1_000)
                }
            }
        }
        #expect(server.count("connection") == 1)
        #expect(server.count("request") == 20)
    }

    @Test func `HTTP2 falls back to HTTP1 where it is not offered`() async throws {
        let server = try await TLSServer(.http1)
        defer { server.stop() }
        try await withSender(try trusting(http2: true)) { sender in
            let response = try await sender.send(post(server.url()))
            #expect(response.status == 200)
        }
        #expect(server.count("request") == 1)
    }

    @Test func `a stream refused by HTTP2 is not sent again`() async throws {
        let server = try await TLSServer(.refuse)
        defer { server.stop() }
        try await withSender(try trusting(http2: true)) { sender in
            let first = try await sender.send(post(server.url()))
            #expect(first.status == 200)
            let failed = try await failure(sender, post(server.url()))
            #expect(failed.code == .deadConnectionReused || failed.code == .connectionReset)
            #expect(failed.bytesWritten > 100)
            #expect(!failed.provablyNotSent)
        }
        #expect(server.count("request") == 2)
    }

    @Test func `silence on HTTP2 is a first byte timeout with bytes written`() async throws {
        let server = try await TLSServer(.silent)
        defer { server.stop() }
        try await withSender(try trusting(http2: true)) { sender in
            let failed = try await failure(
                sender, post(server.url(), bytes: 200_000, TimeLimits(firstByte: .milliseconds(1_500))))
            #expect(failed.code == .firstByteTimeout)
            #expect(failed.phase == .sent)
            #expect(failed.bytesWritten > 200_000)
        }
        #expect(server.count("request") == 1)
    }
}
