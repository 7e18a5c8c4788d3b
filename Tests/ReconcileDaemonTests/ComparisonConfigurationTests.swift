import PaymentCore
import Testing
import Yams

@testable import ReconcileDaemon

@Suite struct ComparisonConfigurationTests {
    private func read(_ lines: String, _ environment: [String: String] = [:]) throws -> Configuration {
        var variables = ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
        variables.merge(environment) { $1 }
        let text = ConfigurationTests.minimal + "\nreconcile: {comparison: {\(lines)}}"
        return try Configuration.read(Yams.compose(yaml: text), environment: variables) { _ in "" }
    }

    private func problems(_ lines: String) -> [String] {
        do {
            _ = try read(lines)
            return []
        } catch let failure as ConfigurationFailure {
            return failure.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `without a word comparisons are on, with the documented defaults`() throws {
        let comparison = try read("").comparison
        #expect(comparison.isEnabled && comparison.settings == ComparisonSettings())
    }

    @Test func `every key is read, from the file or the environment`() throws {
        let settings = try read(
            """
            enabled: true, window: 30m, overlap: 7m, page_size: 100, settle_delay: 1m, ask_again_after: 2h,
            begin: 2026-01-01T00:00:00Z, orphan_wait: 2h,
            policy: {duplicate: undo, hidden: quarantine after 6h, orphan: undo, late_reversal: settle}
            """,
            ["RECONCILED_RECONCILE_COMPARISON_PAGE_SIZE": "200"]
        ).comparison.settings
        #expect(settings.window == .minutes(30) && settings.overlap == .minutes(7) && settings.pageSize == 200)
        #expect(settings.settleDelay == .minutes(1) && settings.askAgainAfter == .hours(2))
        #expect(settings.begin == Timestamp(rfc3339: "2026-01-01T00:00:00Z"))
        #expect(settings.policy.rule(for: .duplicate) == .init(.undo))
        #expect(settings.policy.rule(for: .hidden) == .init(.quarantine, after: .hours(6)))
        #expect(settings.policy.rule(for: .orphan) == .init(.undo, after: .hours(2)))
        #expect(settings.policy.rule(for: .lateReversal) == .init(.settle))
        #expect(settings.policy.rule(for: .foreign) == ComparisonPolicy.standard.rule(for: .foreign))
        let variable = ["RECONCILED_RECONCILE_COMPARISON_POLICY_ORPHAN": "undo"]
        #expect(try read("", variable).comparison.settings.policy.rule(for: .orphan) == .init(.undo, after: .days(1)))
        #expect(try !read("enabled: false").comparison.isEnabled)
    }

    @Test(arguments: [
        ("widnow: 1h", "reconcile.comparison.widnow: '(unknown key)'; allowed: ask_again_after, begin, enabled"),
        ("window: 1s", "reconcile.comparison.window: '1s'; allowed: a duration"),
        ("page_size: 0", "reconcile.comparison.page_size: '0'; allowed: a whole number from 1 to 10000"),
        ("begin: yesterday", "reconcile.comparison.begin: 'yesterday'; allowed: a moment"),
        ("enabled: maybe", "reconcile.comparison.enabled: 'maybe'; allowed: true or false"),
        ("policy: {orfan: tell}", "reconcile.comparison.policy.orfan: '(unknown key)'; allowed: amount_differs"),
        ("policy: {matched: tell}", "reconcile.comparison.policy.matched: '(unknown key)'"),
        ("policy: {foreign: undo}", "reconcile.comparison.policy.foreign: 'undo'; allowed: one of tell"),
        (
            "policy: {ours_only: undo}",
            "reconcile.comparison.policy.ours_only: 'undo'; allowed: one of settle, quarantine"
        ),
        ("policy: {orphan: shout}", "reconcile.comparison.policy.orphan: 'shout'; allowed: one of undo, tell"),
        ("policy: {orphan: undo later}", "reconcile.comparison.policy.orphan: 'undo later'; allowed: one of undo"),
        (
            "orphan_wait: 1h, policy: {orphan: undo after 2h}",
            "reconcile.comparison.orphan_wait: '1h'; allowed: either this or policy.orphan with a wait"
        ),
    ])
    func `a senseless value is refused with what is allowed`(lines: String, expected: String) {
        let found = problems(lines)
        #expect(found.count == 1 && found[0].hasPrefix(expected), "\(found)")
    }

    @Test func `an overlap below a provider's visibility lag is refused: what is listed late would be missed`() throws {
        let provider = ConfigurationTests.minimal.replacing(
            "card.example\"", with: "card.example\", contract: {visibility_lag: 5s}")
        func found(_ overlap: String) -> [String] {
            let text = provider + "\nreconcile: {comparison: {overlap: \(overlap)}}"
            return ConfigurationTests().problems(text)
        }
        let expected = "reconcile.comparison.overlap: '4s'; allowed: at least 5s, the visibility_lag of card"
        #expect(found("4s").first?.hasPrefix(expected) == true, "\(found("4s"))")
        #expect(found("5s").isEmpty, "\(found("5s"))")
    }

    @Test func `a window that a provider forgets before it is compared is told of`() throws {
        let contract = "contract: {status_retention: 2d, visibility_lag: 5s, clock_skew: 5s, max_request_life: 10m}"
        let provider = ConfigurationTests.minimal.replacing("card.example\"", with: "card.example\", \(contract)")
        func told(_ lines: String) throws -> [String] {
            let text = provider + "\nreconcile: {comparison: {settle_delay: 5m, \(lines)}}"
            return try ConfigurationTests().read(text).warnings
        }
        let long = try told("window: 2d")
        #expect(long.count == 1 && long[0].hasSuffix("better: below 171890s"), "\(long)")
        #expect(long.first?.hasPrefix("reconcile.comparison.window: card shows a status for 2d") == true, "\(long)")
        #expect(try told("window: 171890s").count == 1)
        #expect(try told("window: 171889s").isEmpty)
        #expect(try told("window: 2d, enabled: false").isEmpty)
    }

    @Test func `check-config says when a provider is compared and what is done about each class`() throws {
        let configuration = try read("window: 2h, policy: {duplicate: undo after 90s}")
        let lines = configuration.comparison.summary(configuration.providers)
        #expect(lines[0].hasPrefix("comparison: card in windows of 2h, each "), "\(lines)")
        #expect(
            lines[1].contains("duplicate: undo after 90s") && lines[1].contains("orphan: tell after 1d"), "\(lines)")
        let off = try read("enabled: false")
        #expect(off.comparison.summary(off.providers)[0].contains("switched off"))
    }

    @Test(arguments: ["0s", "1ms", "500ms", "1s", "90s", "2m", "1h", "36h", "7d"])
    func `a duration is written as it is read`(text: String) throws {
        #expect(DurationText.render(try #require(DurationText.parse(text))) == text)
    }
}
