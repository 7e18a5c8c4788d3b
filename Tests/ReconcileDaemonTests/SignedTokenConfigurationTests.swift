import PaymentCore
import SignedTokens
import Testing

@testable import ReconcileDaemon

/// What a configuration is told of who signs tokens for callers.
@Suite struct SignedTokenConfigurationTests {
    private let base = ConfigurationTests()
    private static let issuer = "issuer: 'https://issuer.example/', audience: payments"

    private func configuration(_ jwt: String, caller: String = "jwt_subject: client-1") -> String {
        """
        http: {jwt: {\(jwt)}}
        callers:
          - {name: shop, \(caller)}
        providers:
          - {name: card, url: "https://card.example"}
        """
    }

    @Test func `an issuer and its keys are taken, and a caller needs no other token then`() throws {
        let read = try base.read(
            configuration(
                "\(Self.issuer), key_set_url: 'https://issuer.example/keys', clock_skew: 5s, scope_claim: scp, "
                    + "scope_prefix: 'pay:', key_set_trusted_for: 2h"))
        let settings = try #require(read.signedTokens)
        #expect(
            settings.rules
                == TokenRules(
                    issuer: "https://issuer.example/", audience: "payments", clockSkew: .seconds(5), scopeClaim: "scp",
                    scopePrefix: "pay:"))
        #expect(settings.trustedFor == .hours(2))
        guard case .address("https://issuer.example/keys", nil) = settings.keys else {
            Issue.record("the keys are at \(settings.keys)")
            return
        }
        #expect(read.callers.map(\.subject) == ["client-1"] && read.callers[0].tokenDigests.isEmpty)
        #expect(try base.read(ConfigurationTests.minimal).signedTokens == nil)
    }

    @Test(arguments: [
        ("audience: payments, key_set_file: /k", "http.jwt.issuer"),
        ("issuer: x, key_set_file: /k", "http.jwt.audience"),
        (issuer, "http.jwt.key_set_url"),
        ("\(issuer), key_set_file: /k, key_set_url: 'https://issuer.example/k'", "http.jwt.key_set_url"),
        ("\(issuer), key_set_url: 'http://issuer.example/k'", "http.jwt.key_set_url"),
        ("\(issuer), key_set_url: 'https://u:p@issuer.example/k'", "http.jwt.key_set_url: '(hidden"),
        ("\(issuer), key_set_file: /k, key_set_trusted_for: 1m", "http.jwt.key_set_trusted_for"),
        ("\(issuer), key_set_file: /k, algorithm: none", "http.jwt.algorithm: '(unknown key)'"),
        ("", "http.jwt: missing; allowed: issuer, audience and keys"),
    ])
    func `what is missing or cannot be used is refused by its key`(_ jwt: String, _ key: String) {
        let found = base.problems(configuration(jwt))
        #expect(found.contains { $0.hasPrefix(key) }, "\(found)")
        #expect(!"\(found)".contains("u:p@"))
    }

    @Test func `two callers cannot be one subject, and one without any token is refused`() {
        let good = "\(Self.issuer), key_set_file: /k"
        let twice = base.problems(
            configuration(good).replacing(
                "providers:", with: "  - {name: other, jwt_subject: client-1}\nproviders:"))
        #expect(twice.contains { $0.hasPrefix("callers[1].jwt_subject: 'client-1'") }, "\(twice)")
        let none = base.problems(configuration(good, caller: "scopes: [read]"))
        #expect(none.contains { $0.hasPrefix("callers[0].token_sha256: missing") }, "\(none)")
    }
}
