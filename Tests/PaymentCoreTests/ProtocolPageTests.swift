import Foundation
import PaymentCore
import Testing

/// The rows of the tables against `docs/protocol.md`: whoever reads a row's name in a trail finds it there, and nothing
/// is described that does not decide.
@Suite struct ProtocolPageTests {
    private static let rows = Set(
        EffectTable.shipped.rows.map(\.name) + PaymentTable.shipped.rows.map(\.name)
            + RepairTable.shipped.rows.map(\.name))

    /// The row names in a text: words in code marks that begin as those of a table do.
    private static func named(in text: String) -> Set<String> {
        let pattern = /`((?:do|undo|own|none|forward|back|compensate|repair)\.[a-z-]+)`/
        return Set(text.matches(of: pattern).map { String($0.output.1) })
    }

    @Test func `each row is on the page, and each row of the page is in a table`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/protocol.md"), encoding: .utf8)
        let named = ProtocolPageTests.named(in: page)
        let missing = ProtocolPageTests.rows.subtracting(named)
        #expect(missing.isEmpty, "not on the page: \(missing.sorted())")
        let unknown = named.subtracting(ProtocolPageTests.rows)
        #expect(unknown.isEmpty, "in no table: \(unknown.sorted())")
    }

    @Test func `a name is found where it stands, and only as a whole`() {
        let found = ProtocolPageTests.named(in: "| `do.first` · `undo.gone` | own.done `docs.swift` `do.Second` |")
        #expect(found == ["do.first", "undo.gone"])
    }
}
