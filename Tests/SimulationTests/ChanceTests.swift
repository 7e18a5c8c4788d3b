import Simulation
import Testing

@Suite struct ChanceTests {
    @Test func `a draw depends on the seed and on what it is for, and on nothing else`() {
        let chance = Chance(seed: 7)
        #expect(chance.bits(1, 2, 3) == Chance(seed: 7).bits(1, 2, 3))
        #expect(chance.bits(1, 2, 3) != chance.bits(1, 3, 2))
        #expect(chance.bits(1, 2, 3) != Chance(seed: 8).bits(1, 2, 3))
    }

    @Test func `rates are kept`() {
        let chance = Chance(seed: 1)
        let hits = (0..<100_000).count { Chance.happens(perMillion: 250_000, chance.bits(UInt64($0))) }
        #expect((24_000...26_000).contains(hits), "\(hits)")
        #expect((0..<1_000).allSatisfy { (0..<7).contains(Chance.below(7, chance.bits(UInt64($0)))) })
    }
}
