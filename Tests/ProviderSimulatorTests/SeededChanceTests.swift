import Testing

@testable import ProviderSimulator

@Suite struct SeededChanceTests {
    @Test func `where one part ends counts`() {
        let chance = SeededChance(seed: 7)
        #expect(chance.draw(["a", "bc"]) != chance.draw(["ab", "c"]))
        #expect(chance.draw(["a", "bc"]) != chance.draw(["a", "bc", ""]))
        #expect(chance.draw(["a", "bc"]) == SeededChance(seed: 7).draw(["a", "bc"]))
        #expect(chance.draw(["a", "bc"]) != SeededChance(seed: 8).draw(["a", "bc"]))
    }
}
