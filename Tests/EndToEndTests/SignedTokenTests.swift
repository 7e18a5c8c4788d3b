import Crypto
import Foundation
import HTTPTransport
import Testing

/// Tokens that somebody else signs for callers, through a real daemon (docs/integrate.md).
struct SignedTokenTests {
    /// Who signs, with one key.
    private struct Issuer {
        private let key = P256.Signing.PrivateKey()

        private func encoded(_ bytes: some DataProtocol) -> String {
            Data(bytes).base64EncodedString()
                .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        }

        var keySet: String {
            let point = key.publicKey.rawRepresentation
            return """
                {"keys":[{"kty":"EC","crv":"P-256","kid":"k1","use":"sig","x":"\(encoded(point.prefix(32)))",\
                "y":"\(encoded(point.suffix(32)))"}]}
                """
        }

        func token(_ scope: String, subject: String = "client-1", lasts: Int = 300) throws -> String {
            let end = Int(Date().timeIntervalSince1970) + lasts
            let claims = """
                {"iss":"https://issuer.example/","aud":"payments","sub":"\(subject)","exp":\(end),"scope":"\(scope)"}
                """
            let signed = [#"{"alg":"ES256","typ":"at+jwt","kid":"k1"}"#, claims]
                .map { encoded(Data($0.utf8)) }.joined(separator: ".")
            return "\(signed).\(encoded(try key.signature(for: Data(signed.utf8)).rawRepresentation))"
        }
    }

    /// Runs a daemon that takes an issuer's tokens for the caller `shop`.
    private func run(
        _ body: @Sendable (_ world: World, _ client: APIClient, _ keys: URL, _ log: URL) async throws -> Void
    ) async throws {
        try await World.run { world, _ in
            let directory = world.directory.appendingPathComponent("signed")
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let (file, keys, log) = (
                directory.appendingPathComponent("reconciled.yaml"), directory.appendingPathComponent("keys.json"),
                directory.appendingPathComponent("daemon.log")
            )
            let jwt = "jwt: {issuer: \"https://issuer.example/\", audience: payments, key_set_file: \(keys.path)}"
            try WorldSettings().yaml(port: world.simulatorPort, directory: directory)
                .replacing("http: {host: 127.0.0.1, port: 0}", with: "http: {host: 127.0.0.1, port: 0, \(jwt)}")
                .replacing("- {name: shop,", with: "- {name: shop, jwt_subject: client-1,")
                .write(to: file, atomically: true, encoding: .utf8)
            let daemon = try DaemonProcess(configuration: file, log: log)
            defer { daemon.kill() }
            let ports = try await daemon.ready()
            try await body(world, APIClient(port: ports.api, adminPort: ports.admin), keys, log)
        }
    }

    @Test func `until the keys are known nobody can tell, and then a signed token is its caller's`() async throws {
        try await run { _, opaque, keys, log in
            let issuer = Issuer()
            func bearing(_ token: String) -> APIClient {
                var client = opaque
                client.token = token
                return client
            }
            let unknown = try await bearing(issuer.token("read")).send(.get, "/v1/payments")
            #expect(unknown.status == 503 && unknown.fields["retry-after"] == "5", "\(unknown.text)")
            // Other tokens do not wait for keys.
            #expect(try await opaque.send(.get, "/v1/payments").status == 200)
            try issuer.keySet.write(to: keys, atomically: true, encoding: .utf8)
            try await Polling.until("the keys are known", within: .seconds(30)) {
                try await bearing(issuer.token("read")).send(.get, "/v1/payments").status == 200
            }

            let paid = try await bearing(issuer.token("create read")).create(Bodies.card(), key: "signed-1")
            #expect(paid.state == "succeeded", "\(paid.text)")
            // The payment is the caller's, whichever of its tokens is used, and so is the key.
            #expect(try await opaque.send(.get, "/v1/payments/\(paid.id)").status == 200)
            #expect(try await opaque.create(Bodies.card(), key: "signed-1").id == paid.id)

            let refused = try await bearing(issuer.token("read")).create(Bodies.card(), key: "signed-2")
            #expect(refused.status == 403, "\(refused.text)")
            for token in [
                try issuer.token("read", subject: "client-2"), try issuer.token("read", lasts: -60),
                try Issuer().token("read"), try issuer.token("read").dropLast().description,
            ] {
                #expect(try await bearing(token).send(.get, "/v1/payments").status == 401)
            }
            for (reason, count) in [("subject", 1), ("expired", 1), ("signature", 1), ("unknown", 0)] {
                let metric = try await opaque.metric("reconciled_tokens_refused_total{reason=\"\(reason)\"}")
                #expect(metric >= Double(count), "\(reason)")
            }
            let text = try String(contentsOf: log, encoding: .utf8)
            #expect(text.contains("token=jwt") && !text.contains("eyJ"))
        }
    }
}
