import PaymentCore
import Testing
import Yams

@testable import ReconcileDaemon

@Suite struct RecoveryConfigurationTests {
    private func read(_ lines: String, _ environment: [String: String] = [:]) throws -> Configuration {
        var variables = ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
        variables.merge(environment) { $1 }
        return try Configuration.read(
            Yams.compose(yaml: ConfigurationTests.minimal + "\n" + lines), environment: variables
        ) { _ in "" }
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

    private func moment(_ text: String) throws -> Timestamp { try #require(Timestamp(rfc3339: text)) }

    @Test func `without a word about lost rows there is no window`() throws {
        #expect(try read("").recovery == nil)
        #expect(try read("store: {url: 'sqlite:a.sqlite'}").recovery == nil)
        #expect(try read("store: {recovery: {}}").recovery == nil)
    }

    @Test(arguments: [
        ("promotion", "2026-03-01T09:30:05.001Z"), ("asynchronous_promotion", "2026-03-01T09:32:05.001Z"),
        ("restore", "2026-03-01T09:32:05.001Z"),
    ])
    func `a loss opens the window that the contracts ask for`(kind: String, readsCountFrom: String) throws {
        let window = try #require(
            try read("store: {recovery: {kind: \(kind), at: '2026-03-01T18:30:00+09:00'}}").recovery)
        #expect(window.readsCountFrom == (try moment(readsCountFrom)))
        #expect(window.latestNotAfter == (try moment("2026-03-01T09:32:05Z")))
        #expect(!window.listingCompared)
    }

    @Test func `an operator may let reads count later, and say what is known`() throws {
        let configuration = try read(
            """
            store:
              recovery:
                kind: restore
                at: 2026-03-01T09:30:00Z
                reads_count_from: 2026-03-01T12:00:00Z
                longest_request_life: 1h
                listing_compared: true
            """)
        let window = try #require(configuration.recovery)
        #expect(window.readsCountFrom == (try moment("2026-03-01T12:00:00Z")))
        #expect(window.latestNotAfter == (try moment("2026-03-01T10:30:05Z")))
        #expect(window.listingCompared)
    }

    @Test func `the environment can open a window`() throws {
        let configuration = try read(
            "",
            [
                "RECONCILED_STORE_RECOVERY_KIND": "restore",
                "RECONCILED_STORE_RECOVERY_AT": "2026-03-01T09:30:00Z",
            ])
        #expect(configuration.recovery != nil)
    }

    @Test(arguments: [
        ("{kind: restore}", "store.recovery.at: missing"),
        ("{at: '2026-03-01T09:30:00Z'}", "store.recovery.kind: missing"),
        ("{kind: fire, at: '2026-03-01T09:30:00Z'}", "store.recovery.kind: 'fire'; allowed: one of promotion,"),
        ("{kind: restore, at: yesterday}", "store.recovery.at: 'yesterday'; allowed: a moment such as"),
        ("{kind: restore, at: '2026-03-01T09:30:00Z', until: x}", "store.recovery.until: '(unknown key)'"),
        ("{reads_count_from: '2026-03-01T09:30:00Z'}", "store.recovery.kind: missing"),
        (
            "{kind: restore, at: '2026-03-01T09:30:00Z', reads_count_from: '2026-03-01T09:31:00Z'}",
            "store.recovery.reads_count_from: 'recovery-reads-too-early'; allowed: 2026-03-01T09:32:05.001Z or later"
        ),
        (
            "{kind: restore, at: '2026-03-01T09:30:00Z', acknowledgements_kept: true}",
            "store.recovery.acknowledgements_kept: 'recovery-counts-acknowledgements'; allowed: only kind 'promotion'"
        ),
    ])
    func `a claim that is incomplete or unsafe stops the start`(claim: String, expected: String) {
        let found = problems("store: {recovery: \(claim)}")
        #expect(found.contains { $0.hasPrefix(expected) }, "\(found)")
    }
}
