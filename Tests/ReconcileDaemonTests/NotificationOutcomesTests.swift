import APIDescription
import Reconciler
import Testing
import Yams

@testable import ReconcileDaemon

/// What a provider's notification may come to against the description of the API, which generated clients read.
@Suite struct NotificationOutcomesTests {
    @Test func `each outcome is described, and no other is`() throws {
        let text = String(decoding: PackageResources.payments_yaml, as: UTF8.self)
        let document: JSONText = try YAMLDecoder().decode(JSONText.self, from: text)
        let outcome = document["components"]?["schemas"]?["NotificationOutcome"]
        guard case .array(let listed) = outcome?["enum"] else {
            Issue.record("the outcomes are not listed")
            return
        }
        let described = listed.compactMap { $0.string }
        #expect(described.sorted() == ProviderNotifications.Outcome.allCases.map(\.rawValue).sorted())
    }
}
