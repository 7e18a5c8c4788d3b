import CertificateAuthority
import Foundation
import HTTPTransport
import Testing

/// TLS of both listeners, and certificates of whoever connects to them (docs/operate/certificates.md).
@Suite struct CertificateTests {
    /// Requires that nothing is answered: the connection ends before.
    private func expectNoAnswer(_ client: APIClient, admin: Bool = false) async throws {
        await #expect(throws: TransportFailure.self) {
            try await client.send(.get, admin ? "/livez" : "/v1/payments", admin: admin)
        }
    }

    @Test func `callers need a certificate of the authority beside their token`() async throws {
        try await World.run { world, _ in
            let secured = try SecuredDaemon(world)
            defer { secured.end() }
            let shown = try secured.authority.issue("shop", for: "DNS:shop.example")
            var client = try await secured.client(showing: shown)
            let paid = try await client.create(Bodies.card(), key: "tls-1")
            #expect(paid.state == "succeeded", "\(paid.text)")
            // A large answer, over a connection that is kept.
            #expect(try await client.send(.get, "/openapi.yaml").body.count > 20_000)
            client.token = "unknown"
            #expect(try await client.send(.get, "/v1/payments").status == 401)

            try await expectNoAnswer(try await secured.client(showing: nil))
            let foreign = try CertificateAuthority(in: world.directory.appendingPathComponent("foreign"))
            let stranger = try foreign.issue("shop", for: "DNS:shop.example")
            try await expectNoAnswer(try await secured.client(showing: stranger))
            // Nor does who speaks no TLS hear anything, and who takes the daemon for another says so.
            let mistaken = APIClient(port: client.port, adminPort: client.adminPort)
            try await expectNoAnswer(mistaken)
            try await expectNoAnswer(mistaken, admin: true)
            try await expectNoAnswer(try await secured.client(showing: shown, trusting: foreign.certificate))
            let ended = "reconciled_http_connections_ended_total{listener=\"callers\",reason=\"handshake\"}"
            #expect(try await client.metric(ended) >= 3)
            let log = try String(contentsOf: secured.log, encoding: .utf8)
            #expect(log.contains("reason=handshake"))
        }
    }

    @Test func `operators need one for all but the probes, which a kubelet asks`() async throws {
        try await World.run { world, _ in
            let secured = try SecuredDaemon(world)
            defer { secured.end() }
            let pair = try secured.authority.issue("operator", for: "DNS:operator.example")
            var (shown, unshown) = (
                try await secured.client(showing: pair), try await secured.client(showing: nil)
            )
            (shown.token, unshown.token) = (World.operatorToken, World.operatorToken)
            for path in ["/livez", "/readyz", "/startupz", "/activez"] {
                #expect(try await unshown.send(.get, path, admin: true).status == 200, "\(path)")
            }
            for path in ["/metrics", "/v1/payments", "/openapi.yaml", "/console/", "/nothing", "/livez/"] {
                let refused = try await unshown.send(.get, path, admin: true)
                #expect(refused.status == 403 && refused.json["type"] as? String == "/problems/forbidden", "\(path)")
            }
            for path in ["/metrics", "/v1/payments", "/openapi.yaml"] {
                #expect(try await shown.send(.get, path, admin: true).status == 200, "\(path)")
            }
            // Browsers keep what they get for connections with TLS alone.
            let signedIn = try await shown.send(
                .post, "/console/sign-in", body: "token=\(World.operatorToken)", admin: true,
                headers: [("Content-Type", "application/x-www-form-urlencoded")])
            #expect(signedIn.fields["set-cookie"]?.contains("; Secure") == true, "\(signedIn.text)")

            // The programs beside it know its certificate by the configuration.
            let port = String(shown.adminPort)
            let asked = try await world.command(["healthcheck", "--port", port], configuration: secured.configuration)
            #expect(asked.status == 0, "\(asked.output)")
            let token = secured.authority.directory.appendingPathComponent("token")
            try World.operatorToken.write(to: token, atomically: true, encoding: .utf8)
            let list = [
                "repairs", "list", "--token-file", token.path, "--url", "https://127.0.0.1:\(port)", "--ca-bundle",
                secured.authority.certificate,
            ]
            let refused = try await world.command(list, configuration: secured.configuration)
            #expect(refused.status == 1 && refused.output.contains("client certificate"), "\(refused.output)")
            let own = ["--certificate-file", pair.certificate, "--private-key-file", pair.key]
            let listed = try await world.command(list + own, configuration: secured.configuration)
            #expect(listed.status == 0, "\(listed.output)")
        }
    }

    @Test func `a certificate that is replaced in its files counts for the next connection`() async throws {
        try await World.run { world, _ in
            let secured = try SecuredDaemon(world, asking: false)
            defer { secured.end() }
            let next = try CertificateAuthority(in: world.directory.appendingPathComponent("next"))
            let pair = try next.issue("second", for: "IP:127.0.0.1")
            let old = try await secured.client(showing: nil)
            let new = try await secured.client(showing: nil, trusting: next.certificate)
            #expect(try await old.send(.get, "/v1/payments").status == 200)
            try await expectNoAnswer(new)
            let expiry = "reconciled_certificate_expiry_time_seconds{listener=\"callers\"}"
            let day = 86_400.0
            let left = try await old.metric(expiry) - Date().timeIntervalSince1970
            #expect(left > day && left < 3 * day)

            // A certificate without its key is not used.
            try secured.replace(\.certificate, with: pair)
            try await Polling.until("it is told") {
                try String(contentsOf: secured.log, encoding: .utf8).contains("is not used")
            }
            #expect(try await secured.client(showing: nil).send(.get, "/v1/payments").status == 200)
            try secured.replace(\.key, with: pair)
            try await Polling.until("the second certificate counts") {
                do { return try await new.send(.get, "/v1/payments").status == 200 } catch { return false }
            }
            try await Polling.until("it counts for operators") {
                do { return try await new.send(.get, "/livez", admin: true).status == 200 } catch { return false }
            }
            try await expectNoAnswer(try await secured.client(showing: nil))
            // What was connected before stays.
            #expect(try await old.send(.get, "/v1/payments").status == 200)
            let log = try String(contentsOf: secured.log, encoding: .utf8)
            #expect(log.contains("http.tls, admin.tls") && !log.contains("PRIVATE KEY"))
        }
    }

    @Test func `a provider that asks for a certificate is shown ours`() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let authority = try CertificateAuthority(in: directory.appendingPathComponent("authority"))
        let (server, own) = (
            try authority.issue("provider", for: "DNS:localhost"), try authority.issue("ours", for: "DNS:ours.example")
        )
        let provider = try OpenSSLServer(
            server.certificate, key: server.key,
            ["-Verify", "1", "-verify_return_error", "-CAfile", authority.certificate], in: directory)
        defer { provider.stop() }
        try await provider.untilItListens()
        let configuration = directory.appendingPathComponent("reconciled.yaml")
        try WorldSettings().yaml(port: provider.port, directory: directory)
            .replacing("http://127.0.0.1:\(provider.port)", with: "https://localhost:\(provider.port)")
            .replacing(
                "    allow_plain_http: true",
                with: "    ca_bundle: \(authority.certificate)\n    certificate_file: \(own.certificate)\n"
                    + "    private_key_file: \(own.key)"
            )
            .write(to: configuration, atomically: true, encoding: .utf8)
        let daemon = try DaemonProcess(
            configuration: configuration, log: directory.appendingPathComponent("daemon.log"))
        defer { daemon.kill() }
        let ports = try await daemon.ready()
        _ = try await APIClient(port: ports.api, adminPort: ports.admin).create(Bodies.card(), key: "tls-1", wait: 0)
        try await Polling.until("the provider has seen our certificate and a request") {
            let text = try provider.output
            return text.contains("CN = ours") && text.contains("PUT /card/transactions/")
        }
    }

    @Test func `who stays silent in the handshake or after it makes room`() async throws {
        var settings = WorldSettings()
        settings.places = Places.shared.count
        try await World.run(settings) { world, _ in
            let secured = try SecuredDaemon(world, asking: false, more: ", max_connections: 16")
            defer { secured.end() }
            let client = try await secured.client(showing: nil)
            let silent = try await Crowd.come(100, port: client.port)
            for number in 0..<20 {
                let began = ContinuousClock.now
                // Each comes with a connection of its own.
                let fresh = try await secured.client(showing: nil)
                #expect(try await fresh.send(.get, "/v1/payments").status == 200, "\(number)")
                #expect(ContinuousClock.now - began < .seconds(5), "\(number)")
                await fresh.sender.shutdown()
            }
            // They were counted like others: each newcomer took the place of one that rested.
            let ended = "reconciled_http_connections_ended_total{listener=\"callers\",reason=\"full\"}"
            #expect(try await client.metric(ended) >= 80)
            silent.leave()
        }
    }
}
