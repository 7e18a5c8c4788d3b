import Foundation
import PaymentCore
import Testing

/// The articles about the tables (`PaymentCore.docc`): the rows that they name are rows, and their code compiles.
@Suite struct ArticlesTests {
    private static let rows = Set(
        EffectTable.shipped.rows.map(\.name) + PaymentTable.shipped.rows.map(\.name)
            + RepairTable.shipped.rows.map(\.name))

    private func files(_ ending: String) throws -> [String] {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let catalog = tests.appending(path: "../../Sources/PaymentCore/PaymentCore.docc")
        let all = try FileManager.default.contentsOfDirectory(at: catalog, includingPropertiesForKeys: nil)
        return try all.filter { $0.pathExtension == ending }.map { try String(contentsOf: $0, encoding: .utf8) }
    }

    @Test func `the articles and their pictures name rows that are there`() throws {
        let texts = try files("md") + files("svg")
        #expect(texts.count == 7)
        let pattern = /\b(?:do|undo|own|none|forward|back|compensate|repair)\.[a-z]+(?:-[a-z]+)*\b(?!-?…)/
        let named = Set(texts.flatMap { text in text.matches(of: pattern).map { String($0.output) } })
        #expect(named.count > 10)
        #expect(named.subtracting(Self.rows).isEmpty, "in no table: \(named.subtracting(Self.rows).sorted())")
    }

    @Test func `a planted row decides first`() {
        var context = MachineContext(now: Timestamp(milliseconds: 0), contracts: [:])
        let hasty = EffectTable.Row(
            "planted", when: { $0.goal == .do && $0.status == .notFound }, then: { _ in .gone(.neverHappened) })
        context.effectTable = EffectTable(rows: [hasty] + EffectTable.shipped.rows)
        let facts = EffectFacts(goal: .do, worst: .indeterminate, status: .notFound)
        #expect(EffectTable.shipped.decide(facts).row == "do.not-found-send-again")
        #expect(context.effectTable.decide(facts).decision == .gone(.neverHappened))
    }

    private func wake(_ payment: Payment, _ context: MachineContext) -> [PaymentAction] {
        var machine = PaymentMachine(payment: payment)
        let actions = machine.handle(.woke, context)
        return actions
    }

    @Test func `the articles have this code and no other`() throws {
        func lines(_ text: String) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let code = lines(try String(contentsOfFile: #filePath, encoding: .utf8))
        let blocks = try files("md").flatMap { page in
            page.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "\n```")[0] }
        }
        #expect(blocks.count == 2)
        for block in blocks { #expect(code.contains(lines(block)), "not compiled here: \(block)") }
    }
}
