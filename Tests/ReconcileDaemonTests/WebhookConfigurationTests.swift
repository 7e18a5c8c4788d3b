import Foundation
import HTTPTransport
import PaymentCore
import Testing

@testable import ReconcileDaemon

/// What a configuration is told of `callers[].webhook` before it is used.
@Suite struct WebhookConfigurationTests {
    private let base = ConfigurationTests()
    private static let secret = "whsec_" + Data(repeating: 5, count: 32).base64EncodedString()
    private static let variable = "RECONCILED_CALLERS_SHOP_WEBHOOK_SECRET"

    private func text(_ webhook: String) -> String {
        ConfigurationTests.minimal.replacing("{name: shop, ", with: "{name: shop, webhook: {\(webhook)}, ")
    }

    private func problems(_ webhook: String, _ environment: [String: String] = [variable: secret]) -> [String] {
        base.problems(text(webhook), environment)
    }

    private func webhook(_ webhook: String, _ environment: [String: String]) throws -> WebhookSettings? {
        try base.read(text(webhook), environment).webhooks[CallerID("shop")]
    }

    @Test func `a webhook is read as it is written, with one secret or two`() throws {
        let settings = try #require(
            try webhook(
                #"url: "https://shop.example/hooks/", private_networks: [10.1.0.0/16]"#, [Self.variable: Self.secret]))
        #expect(settings.url == "https://shop.example/hooks/" && !settings.allowsPlainHTTP)
        #expect(settings.secrets.count == 1 && settings.privateNetworks == [AddressRange("10.1.0.0/16")])
        let two = [Self.variable: Self.secret, "RECONCILED_CALLERS_SHOP_WEBHOOK_NEXT_SECRET": Self.secret + "\n"]
        #expect(try webhook(#"url: "https://shop.example""#, two)?.secrets.count == 2)
        let configuration = try base.read(ConfigurationTests.minimal)
        #expect(configuration.webhooks.isEmpty && configuration.reportedCallers.isEmpty)
    }

    @Test(arguments: [
        (#"url: "http://shop.example""#, "callers[0].webhook.url", "http:// with allow_plain_http: true"),
        (#"url: "https://shop.example?q=1""#, "callers[0].webhook.url", "a query or fragment does not belong in it"),
        (#"url: "https://u:hunter2@shop.example""#, "callers[0].webhook.url", "(hidden: it may hold a password)"),
        ("allow_plain_http: true", "callers[0].webhook.url", "an https:// address, where there is a webhook"),
        (
            #"url: "https://s.example", private_networks: [10.1.2.3/16]"#, "callers[0].webhook.private_networks",
            "10.1.2.3/16"
        ),
        (#"url: "https://s.example", privat: [x]"#, "callers[0].webhook.privat", "(unknown key)"),
        (#"url: "https://s.example", ca_bundle: /none.pem"#, "callers[0].webhook.ca_bundle", "a PEM file"),
    ])
    func `what cannot be used is refused with what is wrong and what is allowed`(
        _ webhook: String, _ key: String, _ words: String
    ) {
        let found = problems(webhook)
        #expect(found.count == 1 && found.allSatisfy { $0.hasPrefix("\(key): ") && $0.contains(words) }, "\(found)")
        #expect(!found.contains { $0.contains("hunter2") })
    }

    @Test(arguments: ["", "hunter2hunter2hunter2hunter2", "whsec_aHVudGVyMg=="])
    func `a webhook needs a secret that is one, and nobody is shown it`(_ secret: String) {
        let found = problems(#"url: "https://shop.example""#, [Self.variable: secret])
        #expect(!found.isEmpty && found.allSatisfy { $0.hasPrefix("callers[0].webhook.secret: ") }, "\(found)")
        #expect(found.allSatisfy { $0.contains("whsec_ and 24 to 64 bytes in Base64") && !$0.contains("hunter2") })
        #expect(!found.contains { $0.contains("aHVudGVyMg") }, "\(found)")
    }

    @Test func `a secret in the file itself is refused`() {
        let found = problems(#"url: "https://shop.example", secret: \#(Self.secret)"#)
        #expect(found.contains { $0.contains("secrets only from RECONCILED_CALLERS_SHOP_WEBHOOK_SECRET") }, "\(found)")
        #expect(!found.contains { $0.contains(Self.secret) })
    }

    @Test func `the connections to an endpoint are in the budget of descriptors`() throws {
        let with = try base.read(text(#"url: "https://shop.example""#), [Self.variable: Self.secret])
        let without = try base.read(ConfigurationTests.minimal)
        let budgets = try [with, without].map { try DescriptorBudget($0, available: 1_024) }
        #expect(budgets[0].callers == budgets[1].callers - WebhookSettings.connections - 8)
    }
}
