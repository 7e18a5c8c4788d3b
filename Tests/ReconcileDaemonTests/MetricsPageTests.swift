import Foundation
import Testing

@testable import ReconcileDaemon

/// The families of metrics against the page that lists them all.
@Suite struct MetricsPageTests {
    @Test func `each family is on the page with the words that it shows, and no other is`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/operate/probes-and-metrics.md"), encoding: .utf8)
        let list = try #require(page.components(separatedBy: "\n## All metrics\n").last)
        let rows = list.matches(of: /\n\| `([a-z_]+)` \| ([^\n]+) \|/).map { row in
            (String(row.output.1), String(row.output.2))
        }
        let listed = Dictionary(rows, uniquingKeysWith: { first, _ in first })
        #expect(listed.count == rows.count && listed.count > 40)
        let wrong = MetricsCatalogue.help.filter { listed[$0.key] != $0.value }.keys.sorted()
        #expect(wrong.isEmpty, "missing, or in other words: \(wrong)")
        let unknown = Set(listed.keys).subtracting(MetricsCatalogue.help.keys).sorted()
        #expect(unknown.isEmpty, "no such family: \(unknown)")
    }
}
