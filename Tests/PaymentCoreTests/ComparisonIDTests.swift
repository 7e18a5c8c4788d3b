import PaymentCore
import Testing

@Suite struct ComparisonIDTests {
    @Test func `a discrepancy is named by what it is about, and by nothing else`() throws {
        let cards = try Compared.provider()
        let key = DiscrepancySubject.transaction(EffectKey(reported: "JPY"))
        let id = DiscrepancyID(provider: cards, subject: key)
        #expect(id == DiscrepancyID(provider: cards, subject: key))
        #expect(id.text.hasPrefix("dis_") && id.text.utf8.count == 44)
        let others = [
            DiscrepancyID(provider: try ProviderName("points"), subject: key),
            DiscrepancyID(provider: cards, subject: .transaction(EffectKey(reported: "JPY "))),
            DiscrepancyID(provider: cards, subject: .balance(try Compared.yen())),
        ]
        #expect(Set(others + [id]).count == 4)
        #expect(DiscrepancyID(text: id.text) == id)
        #expect(DiscrepancyID(text: "cmp_" + id.text.dropFirst(4)) == nil)
        #expect(DiscrepancyID(text: id.text + "0") == nil)
    }

    @Test func `a run is named by provider, window, kind, attempt and whether it is dry`() throws {
        let runs = [
            try Compared.run(), try Compared.run(hour: 1), try Compared.run(kind: .asked),
            try Compared.run(isDry: true), try Compared.run(attempt: 1),
        ]
        #expect(Set(runs.map(\.id)).count == 5)
        #expect(try Compared.run().id == Compared.run().id)
        for run in runs { #expect(ComparisonRunID(text: run.id.text) == run.id) }
        #expect(ComparisonRunID(text: "cmp_") == nil)
    }
}
