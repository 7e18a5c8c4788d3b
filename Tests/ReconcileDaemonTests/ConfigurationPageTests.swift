import Foundation
import Testing
import Yams

@testable import ReconcileDaemon

/// The keys that the configuration has against the page that explains them.
@Suite struct ConfigurationPageTests {
    /// A key that no section has: the report about it names those that the section has.
    static let unheard = "unheard: 1"

    /// Each section with a key too much. A proof decides which keys a witness has.
    static func everywhere(proof: String) -> String {
        let token = "token_sha256: \"\(String(repeating: "a", count: 64))\""
        return """
            \(unheard)
            site: {\(unheard), proof: \(proof), replication: asynchronous, peer: {\(unheard)}, witness: {\(unheard)}}
            store: {\(unheard), url: "postgres:dbname=x", recovery: {\(unheard)}}
            http: {\(unheard), card_numbers: {\(unheard)}}
            admin: {\(unheard), operators: [{\(unheard), name: me}]}
            callers:
              - {\(unheard), \(token), name: shop, rate: {\(unheard)}, tokens: [{\(unheard)}],
                 largest_amounts: [{\(unheard)}]}
            providers:
              - {\(unheard), name: card, url: "https://card.example", timeouts: {\(unheard)}, breaker: {\(unheard)},
                 conversion: {\(unheard)}, contract: {\(unheard)}}
            reconcile: {\(unheard), comparison: {\(unheard), policy: {\(unheard)}}}
            objectives: {\(unheard)}
            telemetry: {\(unheard)}
            """
    }

    /// The keys of each section, by its path.
    static func keys() throws -> [String: Set<String>] {
        var keys: [String: Set<String>] = [:]
        for proof in ["none", "standby", "postgres", "kubernetes", "dynamodb"] {
            do {
                let environment = ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
                _ = try Configuration.read(Yams.compose(yaml: everywhere(proof: proof)), environment: environment) {
                    _ in
                    throw ConfigurationFailure(problems: [])
                }
            } catch let failure as ConfigurationFailure {
                for problem in failure.problems where problem.value == "(unknown key)" {
                    let section = problem.key.split(separator: ".").dropLast().joined(separator: ".")
                    keys[section, default: []].formUnion(problem.allowed.components(separatedBy: ", "))
                }
            }
        }
        return keys
    }

    @Test func `each key is on the page`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/configuration.md"), encoding: .utf8)
        var words: Set<String> = []
        for span in page.replacing("```", with: "").matches(of: /`([^`\n]+)`/) {
            words.formUnion(span.output.1.matches(of: /[a-z0-9_]+/).map { String($0.output) })
        }
        let keys = try Self.keys()
        let sections: Set<String> = [
            "", "site", "site.peer", "site.witness", "store", "store.recovery", "http", "http.card_numbers", "admin",
            "admin.operators[0]", "callers[0]", "callers[0].rate", "callers[0].tokens[0]",
            "callers[0].largest_amounts[0]", "providers[0]", "providers[0].timeouts", "providers[0].breaker",
            "providers[0].conversion", "providers[0].contract", "reconcile", "reconcile.comparison",
            "reconcile.comparison.policy", "objectives", "telemetry",
        ]
        #expect(Set(keys.keys) == sections)
        for (section, keys) in keys {
            let missing = keys.subtracting(words).sorted()
            #expect(missing.isEmpty, "\(section): \(missing) are not on the page")
        }
    }
}
