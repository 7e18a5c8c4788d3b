import Foundation
import PaymentCore
import Testing

@testable import ReconcileDaemon

/// The environments in which the models behind the protocol charged or misled somebody: the daemon starts in none of
/// them. Each test writes a file as an operator would and loads it as `reconciled check-config` and `serve` do.
@Suite struct UnsafeEnvironmentTests {
    private func problems(contract: String = "{}", _ lines: String = "") throws -> [String] {
        let text = """
            callers:
              - {name: shop, token_sha256: "\(String(repeating: "a", count: 64))"}
            providers:
              - name: card
                url: https://card.example
                contract: \(contract)
            \(lines)

            """
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("unsafe-\(UUID().uuidString).yaml")
        try Data(text.utf8).write(to: path)
        defer { try? FileManager.default.removeItem(at: path) }
        do {
            _ = try Configuration.load(
                path: path.path, environment: ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"])
            return []
        } catch let failure as ConfigurationFailure {
            return failure.problems.map(\.description)
        }
    }

    @Test(arguments: [
        // Run 3: a create that is executed again under the same key; run 17: keys forgotten before `not_after`.
        ("{key_retention: 0s}", "", "keys-not-idempotent"),
        ("{key_retention: 2m}", "", "keys-not-idempotent"),
        ("{key_retention: 0s, enforces_not_after: false}", "", "keys-not-idempotent"),
        // Runs 4 and A14: a cancel that leaves nothing behind, and nothing else to undo with.
        ("{cancel: only_if_present, enforces_not_after: false}", "", "undo-impossible"),
        ("{cancel: none, enforces_not_after: false}", "reconcile: {allow_plug: false}", "undo-impossible"),
        ("{base: paypay}", "", "undo-impossible"),
        // Runs 7 and 7b: a status that may be stale for any time, with and without an enforced `not_after`.
        ("{visibility_lag: unbounded}", "", "stale-reads-unbounded"),
        ("{visibility_lag: unbounded, cancel: none}", "", "stale-reads-unbounded"),
        ("{base: listed, visibility_lag: 1d}", "reconcile: {allow_plug: true}", "stale-reads-outlast-keys"),
        // Runs 5 and 16: a request that is still on its way when it counts as dead.
        ("{}", "reconcile: {send_within: 2m}", "requests-outlive-their-limit"),
        ("{max_request_life: 40s}", "", "requests-outlive-their-limit"),
        // Run 18: other keys after lost rows.
        ("{key_format: random}", "", "random-keys"),
        // Runs 20 and 21: money taken in one step over rows that may be lost.
        (
            "{phases: sale}", "store: {recovery: {kind: asynchronous_promotion, at: '2026-03-01T09:30:00Z'}}",
            "one-phase-on-asynchronous-store"
        ),
        (
            "{phases: sale}",
            "store: {recovery: {kind: promotion, at: '2026-03-01T09:30:00Z', acknowledgements_kept: false}}",
            "one-phase-on-asynchronous-store"
        ),
        // Runs C2 and W1: acknowledgements that count although their rows are lost.
        (
            "{}", "store: {recovery: {kind: restore, at: '2026-03-01T09:30:00Z', acknowledgements_kept: true}}",
            "recovery-counts-acknowledgements"
        ),
        (
            "{}",
            "store: {recovery: {kind: asynchronous_promotion, at: 2026-03-01T09:30:00Z, acknowledgements_kept: true}}",
            "recovery-counts-acknowledgements"
        ),
        // Runs W3 and W5: reads that begin while requests of lost rows may still be executed; run C12: stale ones.
        (
            "{}",
            "store: {recovery: {kind: restore, at: '2026-03-01T09:30:00Z', reads_count_from: '2026-03-01T09:32:05Z'}}",
            "recovery-reads-too-early"
        ),
        (
            "{phases: sale}",
            "store: {recovery: {kind: restore, at: '2026-03-01T09:30:00Z', reads_count_from: '2026-03-01T09:30:10Z'}}",
            "recovery-reads-too-early"
        ),
        (
            "{visibility_lag: 1m}",
            "store: {recovery: {kind: promotion, at: 2026-03-01T09:30:00Z, reads_count_from: 2026-03-01T09:31:05Z}}",
            "recovery-reads-too-early"
        ),
    ])
    func `an environment in which a model was unsafe is refused by the name of its trap`(
        contract: String, lines: String, trap: String
    ) throws {
        let found = try problems(contract: contract, lines)
        #expect(found.contains { $0.contains("'\(trap)'; allowed: ") }, "\(found)")
        #expect(ContractTrap.Name(rawValue: trap) != nil)
    }

    @Test(arguments: [
        ("{key_retention: 1d}", ""),
        ("{cancel: only_if_present, enforces_not_after: true}", ""),
        ("{cancel: only_if_present, enforces_not_after: false}", "reconcile: {allow_plug: true}"),
        ("{visibility_lag: 10m, key_format: uuid}", ""),
        ("{base: listed, visibility_lag: 23h}", "reconcile: {allow_plug: true}"),
        ("{max_request_life: 46s}", ""),
        ("{phases: sale}", "store: {recovery: {kind: restore, at: '2026-03-01T09:30:00Z'}}"),
        (
            "{phases: sale}",
            """
            store: {recovery: {kind: asynchronous_promotion, at: '2026-03-01T09:30:00Z'}}
            reconcile: {accept_one_phase_on_asynchronous_store: true}
            """
        ),
        ("{}", "store: {recovery: {kind: promotion, at: '2026-03-01T09:30:00Z', acknowledgements_kept: true}}"),
        (
            "{}",
            "store: {recovery: {kind: restore, at: '2026-03-01T09:30:00Z', reads_count_from: '2026-03-01T09:32:06Z'}}"
        ),
    ])
    func `the nearest environment in which it was safe is accepted`(contract: String, lines: String) throws {
        let found = try problems(contract: contract, lines)
        #expect(found.isEmpty, "\(found)")
    }
}
