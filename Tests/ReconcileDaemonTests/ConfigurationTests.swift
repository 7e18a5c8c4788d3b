import Foundation
import PaymentAPI
import PaymentCore
import PostgresStore
import Testing
import Yams

@testable import ReconcileDaemon

@Suite struct ConfigurationTests {
    static let minimal = """
        callers:
          - {name: shop, token_sha256: "\(String(repeating: "a", count: 64))"}
        providers:
          - {name: card, url: "https://card.example"}
        """

    func read(_ text: String, _ environment: [String: String] = [:]) throws -> Configuration {
        var variables = ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
        variables.merge(environment) { $1 }
        return try Configuration.read(Yams.compose(yaml: text), environment: variables) { path in
            switch path {
            case "/secrets/card": return "from-a-file\n"
            case "/tls/ca.pem": return "-----BEGIN CERTIFICATE-----\nMII=\n-----END CERTIFICATE-----\n"
            default: throw ConfigurationFailure(problems: [])
            }
        }
    }

    func problems(_ text: String, _ environment: [String: String] = [:]) -> [String] {
        do {
            _ = try read(text, environment)
            return []
        } catch let failure as ConfigurationFailure {
            return failure.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `what is not said has its documented default`() throws {
        let configuration = try read(ConfigurationTests.minimal)
        guard case .sqlite("reconciled.sqlite", nil) = configuration.store else {
            Issue.record("the store is \(configuration.store)")
            return
        }
        #expect(configuration.http.port == 8080)
        #expect(configuration.admin.host == "127.0.0.1")
        #expect(configuration.policy.inquirySchedule == .inquiry)
        #expect(configuration.providers[0].contract == .reference)
    }

    @Test func `a caller has a largest payment in each currency that is named`() throws {
        func callers(_ limits: String) -> String {
            ConfigurationTests.minimal.replacingOccurrences(of: "\"}\nproviders", with: "\", \(limits)}\nproviders")
        }
        let jpy = try #require(Currency(code: "JPY"))
        let configuration = try read(callers("largest_amounts: [{currency: JPY, value: 50000}]"))
        #expect(configuration.largestAmounts == [try CallerID("shop"): [jpy: 50_000]])
        #expect(try read(ConfigurationTests.minimal).largestAmounts.isEmpty)
        for (wrong, words) in [
            ("{currency: XXQ, value: 1}", "callers[0].largest_amounts[0].currency"),
            ("{currency: JPY}", "callers[0].largest_amounts[0].value"),
            ("{currency: JPY, value: 0}", "callers[0].largest_amounts[0].value"),
            ("{currency: JPY, value: 1000000000001}", "callers[0].largest_amounts[0].value"),
            ("{currency: JPY, value: 1}, {currency: JPY, value: 2}", "callers[0].largest_amounts[1].currency"),
            ("{currency: JPY, value: 1, of: x}", "callers[0].largest_amounts[0].of"),
        ] {
            let found = problems(callers("largest_amounts: [\(wrong)]"))
            #expect(found.count == 1 && found[0].contains(words), "\(wrong): \(found)")
        }
    }

    @Test func `a caller has tokens with rights of their own, and a rate`() throws {
        func callers(_ more: String) -> String {
            ConfigurationTests.minimal.replacingOccurrences(of: "\"}\nproviders", with: "\", \(more)}\nproviders")
        }
        func token(_ letter: String, _ more: String) -> String {
            "{token_sha256: \"\(String(repeating: letter, count: 64))\", \(more)}"
        }
        let plain = try #require(try read(ConfigurationTests.minimal).callers.first)
        #expect(plain.scopes == Set(CallerScope.allCases) && plain.tokens.isEmpty && plain.rate == nil)

        let text = callers(
            "scopes: [create, read], rate: {requests_per_second: 50}, tokens: ["
                + token("b", "name: warehouse, scopes: [capture]") + "]")
        let caller = try #require(try read(text).callers.first)
        #expect(caller.scopes == [.create, .read])
        #expect(caller.rate == CallerRate(requestsPerSecond: 50, burst: 50))
        let digest = try #require(Digest(hex: String(repeating: "b", count: 64)))
        #expect(caller.tokens == [.init(name: "warehouse", digests: [digest], scopes: [.capture])])

        for (wrong, words) in [
            ("scopes: []", "callers[0].scopes"),
            ("scopes: [create, write]", "callers[0].scopes"),
            ("rate: {burst: 5}", "callers[0].rate.requests_per_second"),
            ("rate: {requests_per_second: 0}", "callers[0].rate.requests_per_second"),
            ("rate: {requests_per_second: 1, per: hour}", "callers[0].rate.per"),
            ("tokens: [\(token("a", "name: other"))]", "callers[0].tokens[0].token_sha256"),
            ("tokens: [\(token("b", "name: Other"))]", "callers[0].tokens[0].name"),
            ("tokens: [\(token("b", "scopes: [read]"))]", "callers[0].tokens[0].name"),
            ("tokens: [\(token("b", "name: x")), \(token("c", "name: x"))]", "callers[0].tokens[1].name"),
            ("tokens: [\(token("b", "name: x, scopes: [all]"))]", "callers[0].tokens[0].scopes"),
        ] {
            let found = problems(callers(wrong))
            #expect(found.count == 1 && found[0].contains(words), "\(wrong): \(found)")
        }
    }

    @Test func `a caller without a good token is reported once, whatever else it has`() {
        let text = ConfigurationTests.minimal.replacingOccurrences(
            of: String(repeating: "a", count: 64) + "\"", with: "none\", scopes: [read], rate: {requests_per_second: 1}"
        )
        let found = problems(text)
        #expect(found.count == 1 && found[0].contains("callers[0].token_sha256"), "\(found)")
    }

    @Test func `what is settled is kept for a while in a file as well`() throws {
        let configuration = try read(ConfigurationTests.minimal + "\nstore: {url: 'sqlite:books', retention: 400d}")
        guard case .sqlite("books", let retention) = configuration.store else {
            Issue.record("the store is \(configuration.store)")
            return
        }
        #expect(retention == .days(400))
    }

    @Test func `a database is named by a URL or by key words, and its password by a secret`() throws {
        for url in ["postgres://app@db1,db2:5433/payments", "postgres:host=db1,db2 dbname=payments user=app"] {
            let configuration = try read(
                ConfigurationTests.minimal + "\nstore: {url: '\(url)', schema: ledger, writers: 3}",
                ["RECONCILED_STORE_PASSWORD": "hush"])
            guard case .postgres(let settings) = configuration.store else {
                Issue.record("the store is \(configuration.store)")
                continue
            }
            #expect(settings.schema == "ledger")
            #expect(settings.writers == 3)
            #expect(settings.password == "hush")
        }
        let fromEnvironment = try read(
            ConfigurationTests.minimal, ["RECONCILED_STORE_URL": "postgres://app:secret@db/payments"])
        guard case .postgres = fromEnvironment.store else {
            Issue.record("a URL with a password may come from the environment")
            return
        }
    }

    @Test func `the environment overrides a key, and addresses a provider by its name`() throws {
        let configuration = try read(
            ConfigurationTests.minimal,
            [
                "RECONCILED_HTTP_PORT": "9999", "RECONCILED_PROVIDERS_CARD_URL": "https://other.example",
                "RECONCILED_RECONCILE_INQUIRY_SCHEDULE": "1s, 5s",
                "RECONCILED_PROVIDERS_CARD_TIMEOUTS_TOTAL": "7s",
            ])
        #expect(configuration.http.port == 9_999)
        #expect(configuration.providers[0].url == "https://other.example")
        #expect(configuration.providers[0].total == .seconds(7))
        #expect(configuration.policy.inquirySchedule.delays == [.seconds(1), .seconds(5)])
    }

    @Test func `who sends nothing to providers needs neither their tokens nor their certificates`() throws {
        let text = ConfigurationTests.minimal.replacing(
            "card.example\"", with: "card.example\", token_file: /nowhere/token, ca_bundle: /nowhere/ca.pem")
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("books-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        let configuration = try Configuration.loadForBooks(path: path.path, environment: [:])
        #expect(configuration.providers.map(\.token) == [""])
        let set = ["RECONCILED_PROVIDERS_CARD_TOKEN": "", "RECONCILED_PROVIDERS_CARD_TOKEN_FILE": "/nowhere"]
        #expect(throws: Never.self) { try Configuration.loadForBooks(path: path.path, environment: set) }
        #expect(throws: ConfigurationFailure.self) { try Configuration.load(path: path.path, environment: [:]) }
        // Anything else is judged as ever.
        #expect(throws: ConfigurationFailure.self) {
            try Configuration.loadForBooks(path: path.path, environment: ["RECONCILED_HTTP_PORT": "many"])
        }
    }

    @Test func `a secret comes from the environment or a file, never from the configuration`() throws {
        let inFile = ConfigurationTests.minimal.replacing("card.example\"", with: "card.example\", token: abc")
        let found = problems(inFile)
        #expect(found.contains { $0.hasPrefix("providers[0].token:") && !$0.contains("abc") }, "\(found)")
        let byFile = try read(
            ConfigurationTests.minimal,
            ["RECONCILED_PROVIDERS_CARD_TOKEN": "", "RECONCILED_PROVIDERS_CARD_TOKEN_FILE": "/secrets/card"])
        #expect(byFile.providers[0].token == "from-a-file")
    }

    @Test(arguments: [
        ("http: {port: 70000}", "http.port: '70000'; allowed: a whole number from 0 to 65535"),
        ("reconcile: {lease: 5}", "reconcile.lease: '5'; allowed: a duration such as"),
        ("reconcile: {inquiry_schedule: [5s, 2s]}", "reconcile.inquiry_schedule: '5s, 2s'; allowed: a list"),
        ("unknown: 1", "unknown: '(unknown key)'; allowed:"),
        ("store: {url: 'mysql:x'}", "store.url: 'mysql:x'; allowed: sqlite:<path>"),
        ("store: {url: 'postgres:hots=a'}", "store.url: '(hidden: it may hold a password)'; allowed: sqlite:<path>"),
        (
            "store: {url: 'postgres://u:secret@h/d'}",
            "store.url: '(hidden: it holds a password)'; allowed: a password in"
        ),
        ("store: {schema: 'a-b'}", "store.schema: 'a-b'; allowed: a name of a-z, 0-9 and _"),
        ("telemetry: {log_format: xml}", "telemetry.log_format: 'xml'; allowed: text or json"),
    ])
    func `a bad value stops the start with the key, the value and what is allowed`(
        line: String, expected: String
    ) {
        let found = problems(ConfigurationTests.minimal + "\n" + line)
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }

    @Test func `a variable that overrides nothing is a problem`() {
        let found = problems(ConfigurationTests.minimal, ["RECONCILED_HTPP_PORT": "1"])
        #expect(found.contains { $0.hasPrefix("RECONCILED_HTPP_PORT") }, "\(found)")
    }

    @Test func `what is missing is said, with where it may come from`() {
        let found = problems("providers:\n  - {name: bank, url: \"https://bank.example\"}\n")
        #expect(found.contains { $0.hasPrefix("callers: missing") }, "\(found)")
        #expect(found.contains { $0.contains("RECONCILED_PROVIDERS_BANK_TOKEN") }, "\(found)")
    }

    @Test func `plain HTTP needs to be allowed in words`() {
        let plain = ConfigurationTests.minimal.replacing("https://", with: "http://")
        #expect(problems(plain).contains { $0.contains("allow_plain_http: true") })
    }

    @Test(arguments: [
        ("{base: listed}", "undo-impossible"), ("{base: paypay}", "undo-impossible"),
        ("{base: gmo_pg}", "undo-impossible"),
        ("{inquiry: none, cancel: none}", "no-inquiry-and-no-cancel"),
        ("{inquiry: none, key_retention: 1d}", "no-inquiry-and-keys-expire"),
        ("{key_retention: 60s, enforces_not_after: false}", "keys-not-idempotent"),
        ("{status_retention: 10s}", "status-forgotten-before-proof"),
    ])
    func `a contract that no decision makes safe is refused by the name of its trap`(
        contract: String, trap: String
    ) {
        let text = ConfigurationTests.minimal.replacing(
            "card.example\"", with: "card.example\", contract: \(contract)")
        #expect(problems(text).contains { $0.contains("'\(trap)'") }, "\(problems(text))")
    }

    @Test func `time limits must fit into the longest request life`() {
        let text = ConfigurationTests.minimal.replacing(
            "card.example\"", with: "card.example\", timeouts: {total: 3m}")
        #expect(problems(text).contains { $0.hasPrefix("providers[0].timeouts.total") }, "\(problems(text))")
    }
}
