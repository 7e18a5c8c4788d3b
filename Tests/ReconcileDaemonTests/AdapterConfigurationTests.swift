import PaymentCore
import Providers
import Reconciler
import Testing

@testable import ReconcileDaemon

@Suite struct AdapterConfigurationTests {
    private let reading = ConfigurationTests()
    /// A host of 253 characters, the most that a name may have (RFC 1035).
    private static let longestHost =
        Array(repeating: String(repeating: "a", count: 63), count: 3)
        .joined(separator: ".") + "." + String(repeating: "b", count: 61)

    private func text(_ rest: String) -> String {
        ConfigurationTests.minimal.replacing("card.example\"", with: "card.example\", \(rest)")
    }

    @Test func `without a word a provider speaks the reference contract`() throws {
        #expect(try reading.read(ConfigurationTests.minimal).providers[0].adapter == .reference)
        #expect(try reading.read(text("adapter: reference")).providers[0].contract == .reference)
    }

    @Test func `an adapter brings the contract that fits it`() throws {
        let provider = try reading.read(text("adapter: stripe")).providers[0]
        // Its rules, over a wire of which the adapter makes a listing.
        var unlisted = provider.contract
        unlisted.listing = false
        #expect(provider.adapter == .stripe && provider.contract.listing && unlisted == .stripe)
        let sale = try reading.read(text("adapter: stripe, contract: {phases: sale, requests_per_second: 80}"))
        #expect(sale.providers[0].contract.phases == .sale && sale.providers[0].contract.requestsPerSecond == 80)
        #expect(sale.providers[0].contract.endpointRequestsPerSecond == 25, "one of two rates is no word on the other")
        let fast = try reading.read(text("adapter: stripe, contract: {endpoint_requests_per_second: 90}"))
        #expect(fast.providers[0].contract.endpointRequestsPerSecond == 90)
        let wrong = reading.problems(text("adapter: stripe, contract: {endpoint_requests_per_second: 0}"))
        #expect(
            wrong.contains { $0.hasPrefix("providers[0].contract.endpoint_requests_per_second") }, "\(wrong)")
    }

    @Test(arguments: [
        (ConfigurationTests.minimal, "card.example"),
        (
            ConfigurationTests.minimal.replacing("https://card.example", with: "HTTPS://Card.Example:8443/v1/"),
            "card.example:8443"
        ),
        (ConfigurationTests.minimal.replacing("https://card.example", with: "https://[::1]:9443"), "[::1]:9443"),
        (
            ConfigurationTests.minimal.replacing("card.example", with: "\(longestHost):65535"), "\(longestHost):65535"
        ),
        (ConfigurationTests.minimal.replacing("card.example\"", with: "card.example\", key_space: eu-1"), "eu-1"),
    ])
    func `keys are kept at the host and port of the url, or where the configuration says`(
        text: String, space: String
    ) throws {
        let configuration = try reading.read(text)
        let card = try ProviderName("card")
        #expect(configuration.contracts[card]?.keySpace?.name == space)
        #expect(configuration.site.desk.keySpaces.byProvider["card"]?.name == space)
    }

    @Test(arguments: ["EU", "a/b", "a b"])
    func `a key space with another name is refused, with what is allowed`(name: String) {
        let problems = reading.problems(text("key_space: \(name)"))
        #expect(problems.contains { $0.hasPrefix("providers[0].key_space") && $0.contains("a-z, 0-9") }, "\(problems)")
    }

    @Test(arguments: [
        ("adapter: braintree", "providers[0].adapter: 'braintree'", "reference, stripe, paypay"),
        ("adapter: stripe, contract: {base: paypay}", "providers[0].contract.base: 'paypay'", "stripe"),
        ("adapter: stripe, contract: {base: reference}", "providers[0].contract.base: 'reference'", "stripe"),
        ("adapter: stripe, contract: {cancel: none}", "providers[0].contract.cancel: 'none'", "tombstoning"),
        (
            "adapter: stripe, contract: {inquiry: by_listing}", "providers[0].contract.inquiry: 'by_listing'",
            "by_own_key"
        ),
        (
            "adapter: stripe, contract: {enforces_not_after: true}",
            "providers[0].contract.enforces_not_after: 'true'", "Stripe knows no such moment"
        ),
        (
            "adapter: stripe, contract: {refund_visibility: sums_only}",
            "providers[0].contract.refund_visibility: 'sums_only'", "by_key"
        ),
        (
            "adapter: stripe, conversion: {unit_code: PTS, currency: EUR}",
            "providers[0].conversion.unit_code: 'PTS'", "no conversion"
        ),
    ])
    func `what the wire cannot keep is refused, with what is allowed`(rest: String, problem: String, allowed: String) {
        let problems = reading.problems(text(rest))
        #expect(problems.contains { $0.hasPrefix(problem) && $0.contains(allowed) }, "\(problems)")
    }

    @Test(arguments: [
        ("cancel: tombstoning", "cancel: 'tombstoning'", "only_if_present"),
        ("listing: true", "listing: 'true'", "nothing lists payments"),
        ("inquiry: by_listing", "inquiry: 'by_listing'", "by_own_key"),
        ("enforces_not_after: true", "enforces_not_after: 'true'", "PayPay knows no such moment"),
        ("cancel_reverses_sale: false", "cancel_reverses_sale: 'false'", "true"),
        ("refund_visibility: sums_only", "refund_visibility: 'sums_only'", "by_key"),
        ("base: stripe", "base: 'stripe'", "paypay"),
    ])
    func `what PayPay's wire cannot keep is refused`(contract: String, problem: String, allowed: String) {
        let problems = reading.problems(text("adapter: paypay, contract: {\(contract)}"), Self.payPay)
        #expect(
            problems.contains { $0.hasPrefix("providers[0].contract.\(problem)") && $0.contains(allowed) },
            "\(problems)")
    }

    private static let payPay = ["RECONCILED_PROVIDERS_CARD_TOKEN": "key:7f3a91c2:merchant"]

    @Test func `PayPay's adapter brings its contract, and needs the plug`() throws {
        let refused = reading.problems(text("adapter: paypay"), Self.payPay)
        #expect(refused.count == 1 && refused[0].contains("'undo-impossible'"), "\(refused)")
        let allowed = "\nreconcile: {allow_plug: true}"
        let provider = try reading.read(text("adapter: paypay") + allowed, Self.payPay).providers[0]
        // Its rules, over a wire that lists nothing.
        var listed = provider.contract
        listed.listing = true
        #expect(provider.adapter == .payPay && !provider.contract.listing && listed == .payPay)
        #expect(provider.token == "key:7f3a91c2:merchant")
        let held = try reading.read(
            text("adapter: paypay, contract: {phases: authorize_capture}") + allowed, Self.payPay)
        #expect(held.providers[0].contract.phases == .authorizeCapture)
    }

    @Test(arguments: ["7f3a91c2", "key:7f3a91c2", "key:7f3a91c2:", "key:7f3a91c2:merchant:more"])
    func `a token that PayPay's adapter cannot take apart is refused, and not repeated`(token: String) {
        let problems = reading.problems(text("adapter: paypay"), ["RECONCILED_PROVIDERS_CARD_TOKEN": token])
        let found = problems.filter { $0.hasPrefix("providers[0].token:") }
        #expect(found.count == 1 && found[0].contains("API_KEY:API_SECRET:MERCHANT_ID"), "\(problems)")
        #expect(found.allSatisfy { $0.contains("RECONCILED_PROVIDERS_CARD_TOKEN") })
        #expect(!problems.joined().contains("7f3a91c2"), "\(problems)")
        // Other adapters take every token.
        #expect(reading.problems(ConfigurationTests.minimal, ["RECONCILED_PROVIDERS_CARD_TOKEN": token]).isEmpty)
    }

    @Test func `a wrong base is the only problem that is told of it`() {
        let contract = "contract: {base: paypay, key_retention: 12h, requests_per_second: 80}"
        let problems = reading.problems(text("adapter: stripe, \(contract)"))
        #expect(problems.count == 1 && problems[0].contains("contract.base: 'paypay'"), "\(problems)")
    }

    @Test func `notifications are signed with a secret from the environment or a file, two while one is replaced`()
        throws
    {
        let name = "RECONCILED_PROVIDERS_CARD_NOTIFICATION_SECRET"
        let next = "RECONCILED_PROVIDERS_CARD_NEXT_NOTIFICATION_SECRET"
        let secrets = [name: "whsec_4c7d2f0e9b1a8635", next: "whsec_0fd1b2c3a4958677"]
        let provider = try reading.read(text("adapter: stripe"), secrets).providers[0]
        #expect(provider.notificationSecrets == ["whsec_4c7d2f0e9b1a8635", "whsec_0fd1b2c3a4958677"])
        #expect(try reading.read(text("adapter: stripe")).providers[0].notificationSecrets.isEmpty)
        let short = reading.problems(text("adapter: stripe"), [name: "guessable"])
        #expect(short.contains { $0.contains("at least 16 characters") && !$0.contains("guessable") }, "\(short)")
        let none = reading.problems(ConfigurationTests.minimal, secrets)
        #expect(none.contains { $0.contains("the adapter reference has no notifications") }, "\(none)")
        let written = reading.problems(text("adapter: stripe, notification_secret: whsec_4c7d2f0e9b1a8635"))
        #expect(written.contains { $0.contains("(hidden)") } && !written.joined().contains("4c7d"), "\(written)")
    }

    @Test func `an adapter has each of its contracts, and its first one keeps what the wire fixes`() throws {
        for adapter in ProviderAdapter.all {
            #expect(adapter.contracts.allSatisfy { adapter.contract(named: $0) != nil }, "\(adapter.name)")
            let first = try #require(adapter.contracts.first.flatMap { adapter.contract(named: $0) })
            #expect(adapter.problems(with: first).isEmpty, "\(adapter.name)")
        }
        let carried = Set(ProviderAdapter.all.flatMap(\.contracts))
        #expect(Set(ProviderContract.known.map(\.name)).isSubset(of: carried))
    }
}
