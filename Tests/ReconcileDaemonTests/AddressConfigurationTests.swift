import PaymentAPI
import PaymentCore
import Testing

@testable import ReconcileDaemon

/// What a configuration is told before it is used: addresses, authorities, tokens, and fields with card numbers.
@Suite struct AddressConfigurationTests {
    private let base = ConfigurationTests()

    private func problems(url: String) -> [String] {
        base.problems(ConfigurationTests.minimal.replacing("https://card.example", with: url))
    }

    @Test(arguments: [
        ("https://", "the host is missing"), ("https://:8443", "the host is missing"),
        ("https:///pay", "the host is missing"), ("https://ca rd.example", "only visible ASCII"),
        ("https://card..example", "the host 'card..example' is neither a name nor an address"),
        ("https://card.example:99999", "the port '99999' is not from 1 to 65535"),
        ("https://card.example:0", "the port '0' is not"), ("https://card.example:", "the port '' is not"),
        ("https://card.example:8443x", "the port '8443x' is not"),
        ("https://card.example/?q=1", "a query or fragment does not belong in it"),
        ("https://card.example?q", "a query or fragment does not belong in it"),
        ("https://[::1", "is neither a name nor an address"), ("https://[card]/", "is neither a name nor an address"),
        ("ftp://card.example", "it must begin with https:// or http://"),
    ])
    func `an address that cannot be used is refused with what is wrong and what is allowed`(
        url: String, reason: String
    ) {
        let found = problems(url: url)
        let begin = "providers[0].url: '\(url)'; allowed: https://<host>"
        #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix(begin) }, "\(found)")
        #expect(found.contains { $0.contains(reason) }, "\(found)")
    }

    @Test func `a user and a password in an address are refused and not repeated`() {
        let found = problems(url: "https://u:hunter2@card.example")
        #expect(found.contains { $0.contains("user information does not belong in it; use the token") }, "\(found)")
        #expect(!found.contains { $0.contains("hunter2") }, "\(found)")
        let peer = base.problems(
            ConfigurationTests.minimal + "\nstore: {url: 'postgres:host=db dbname=payments'}\n"
                + "site: {peer: {name: west, url: 'https://u:hunter2@west.example'}, replication: synchronous, "
                + "proof: standby}")
        #expect(peer.contains { $0.hasPrefix("site.peer.url: '(hidden") } && !"\(peer)".contains("hunter2"), "\(peer)")
    }

    @Test(arguments: [
        ("HTTPS://card.example", "https://card.example"),
        ("https://Card.Example:8443/pay/", "https://Card.Example:8443/pay"),
        ("https://[2001:db8::1]:8443/x", "https://[2001:db8::1]:8443/x"), ("https://10.0.0.1", "https://10.0.0.1"),
        ("https://card_1.example.", "https://card_1.example."),
        ("https://card.example:65535", "https://card.example:65535"),
    ])
    func `an address that can be used is taken, with its scheme in capitals too`(url: String, used: String) throws {
        let read = try base.read(ConfigurationTests.minimal.replacing("https://card.example", with: url))
        #expect(read.providers[0].url == used)
    }

    @Test func `HTTP in capitals needs to be allowed as well`() throws {
        let plain = ConfigurationTests.minimal.replacing("https://card.example\"", with: "HTTP://card.example\"")
        #expect(base.problems(plain).contains { $0.contains("allow_plain_http: true") })
        let allowed = plain.replacing("card.example\"", with: "card.example\", allow_plain_http: true")
        #expect(try base.read(allowed).providers[0].url == "http://card.example")
    }

    /// Whoever answers for the other site can end a term, or let an old copy act.
    @Test(arguments: [
        "peer: {name: west, url: 'http://west.example'}, replication: synchronous, proof: standby",
        "proof: kubernetes, witness: {url: 'http://third.example:6443', token_file: /token}",
        "proof: dynamodb, witness: {url: 'http://third.example', region: eu-west-1, table: sites}",
    ])
    func `the other site and the witness are reached by plain HTTP only with consent`(site: String) throws {
        func problems(_ site: String) -> [String] {
            base.problems(
                ConfigurationTests.minimal + "\nstore: {url: 'postgres:host=db dbname=payments'}\nsite: {\(site)}")
        }
        let consent = "an https:// address, or http:// with allow_plain_http: true"
        let refused = problems(site).filter { $0.contains(consent) }
        #expect(refused.count == 1 && refused[0].hasPrefix("site."), "\(problems(site))")
        let allowed = problems(site.replacing("url: 'http", with: "allow_plain_http: true, url: 'http"))
        #expect(!allowed.contains { $0.contains("http") }, "\(allowed)")
        let secure = problems(site.replacing("http://", with: "https://"))
        #expect(!secure.contains { $0.contains("http") }, "\(secure)")
    }

    @Test(arguments: [
        ("host=db", "sslmode is 'prefer'"), ("host=db sslmode=require", "sslmode is 'require'"),
        ("host=db,127.0.0.1 sslmode=disable", "sslmode is 'disable'"), ("host=db sslmode=verify-ca", nil),
        ("host=db sslmode=verify-full sslrootcert=/ca.pem", nil), ("host=127.0.0.1", nil),
        ("host=/run/postgresql", nil), ("host=localhost,::1 sslmode=disable", nil),
    ])
    func `a database whose server is not verified is told of`(dsn: String, told: String?) throws {
        let read = try base.read(ConfigurationTests.minimal + "\nstore: {url: 'postgres:\(dsn) dbname=payments'}")
        let lines = read.unverifiedServers
        #expect(lines.count == (told == nil ? 0 : 1), "\(lines)")
        if let told { #expect(lines.first?.hasPrefix("store.url: ") == true && lines[0].contains(told), "\(lines)") }
    }

    @Test func `a bundle of authorities is there and holds certificates`() throws {
        func text(_ path: String) -> String {
            ConfigurationTests.minimal.replacing("card.example\"", with: "card.example\", ca_bundle: \(path)")
        }
        #expect(try base.read(text("/tls/ca.pem")).providers[0].caBundle == "/tls/ca.pem")
        for path in ["/tls/missing.pem", "/secrets/card"] {
            let found = base.problems(text(path))
            #expect(
                found == ["providers[0].ca_bundle: '\(path)'; allowed: a PEM file of certificates that can be read"])
        }
    }

    @Test(arguments: [
        ("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "that of an empty text"),
        ("01ba4719c80b6fe911b091a7c05124b64eeece964e09c058ef8f9805daca546b", "that of an empty text"),
        ("abc", "this is none"),
    ])
    func `the SHA-256 of nothing is no token's`(hash: String, reason: String) {
        let text = ConfigurationTests.minimal.replacing(String(repeating: "a", count: 64), with: hash)
        let found = base.problems(text)
        #expect(
            found.contains { $0.hasPrefix("callers[0].token_sha256: '(hidden)'") && $0.contains(reason) }, "\(found)")
    }

    @Test func `a caller and an operator do not have one token`() throws {
        let operators = "\nadmin: {operators: [{name: hana, token_sha256: \(String(repeating: "a", count: 64))}]}"
        let found = base.problems(ConfigurationTests.minimal + operators)
        #expect(found.count == 1 && found[0].contains("another caller or operator has this one"), "\(found)")
        let other = operators.replacing(String(repeating: "a", count: 64), with: String(repeating: "b", count: 64))
        #expect(try base.read(ConfigurationTests.minimal + other).operators.count == 1)
    }

    @Test func `card numbers are refused in each field unless it accepts them`() throws {
        #expect(try base.read(ConfigurationTests.minimal).cardNumbers.accepted.isEmpty)
        let some =
            ConfigurationTests.minimal + "\nhttp: {card_numbers: {key: accept, metadata: accept, reason: refuse}}"
        let variable = ["RECONCILED_HTTP_CARD_NUMBERS_INSTRUMENT": "accept"]
        #expect(try base.read(some, variable).cardNumbers.accepted == [.key, .metadata, .instrument])
        let wrong = base.problems(ConfigurationTests.minimal + "\nhttp: {card_numbers: {key: maybe, path: accept}}")
        #expect(wrong.contains("http.card_numbers.key: 'maybe'; allowed: one of refuse, accept"), "\(wrong)")
        #expect(wrong.contains { $0.hasPrefix("http.card_numbers.path: '(unknown key)'") }, "\(wrong)")
    }
}
