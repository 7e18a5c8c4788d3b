import Foundation
import Simulation
import Testing

/// The invariants that are judged against `docs/invariants.md`: pages and drills name them by number.
@Suite struct InvariantsPageTests {
    @Test func `each invariant is on the page with its number and its sentence, and no other is`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/invariants.md"), encoding: .utf8)
        let rows = page.matches(of: /\n\| (\d+) \| ([^|]+) \|/).map { "\($0.output.1) \($0.output.2)" }
        let judged = Judges.sentences.sorted { $0.number < $1.number }.map { "\($0.number) \($0.sentence)" }
        #expect(!judged.isEmpty && rows == judged)
    }
}
