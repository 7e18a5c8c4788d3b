import PaymentCore
import Reconciler
import Testing

@Suite struct ProviderClocksTests {
    let cards: ProviderName
    private static let start = Timestamp(milliseconds: 1_767_225_600_000)

    init() throws { cards = try ProviderName("cards") }

    /// An answer of a provider whose clock is off by `offset`, after `roundTrip`, half of which is the way there.
    private func answer(
        at sent: Timestamp, offset: Int64, roundTrip: Int64 = 80
    ) -> ProviderClocks.Answer {
        let moment = sent.milliseconds + roundTrip / 2 + offset
        return ProviderClocks.Answer(
            sent: sent, received: sent + .milliseconds(roundTrip),
            said: Timestamp(milliseconds: moment - (moment % 1_000 + 1_000) % 1_000))
    }

    /// Answers one after the other, each 3,700 ms after the one before; what changed with each.
    private func notes(
        _ clocks: inout ProviderClocks, _ offsets: [Int64], roundTrip: Int64 = 80, skew: Span = .seconds(5)
    ) -> [Bool?] {
        offsets.enumerated().map { index, offset in
            let sent = Self.start + .milliseconds(Int64(index) * 3_700)
            return clocks.note(answer(at: sent, offset: offset, roundTrip: roundTrip), of: cards, allowed: skew)
        }
    }

    @Test(arguments: [-3_600_000, -4_999, -1, 0, 1, 2_500, 61_000] as [Int64])
    func `the offset lies within its uncertainty, which shrinks with more answers`(offset: Int64) throws {
        var clocks = ProviderClocks()
        #expect(clocks.reading(of: cards) == nil)
        _ = notes(&clocks, [offset])
        let first = try #require(clocks.reading(of: cards))
        #expect(abs(first.offset.milliseconds - offset) <= first.uncertainty.milliseconds)
        #expect(first.uncertainty <= .milliseconds(1_040))
        _ = notes(&clocks, Array(repeating: offset, count: 8))
        let last = try #require(clocks.reading(of: cards))
        #expect(abs(last.offset.milliseconds - offset) <= last.uncertainty.milliseconds)
        #expect(last.uncertainty < first.uncertainty && last.uncertainty <= .milliseconds(700))
    }

    @Test(arguments: [3_600_000, -3_600_000, 7_100, -7_100] as [Int64])
    func `a clock beyond the contract's skew is in doubt after three answers, and believed again after three`(
        offset: Int64
    ) {
        var clocks = ProviderClocks()
        #expect(notes(&clocks, [offset, offset]) == [nil, nil])
        #expect(clocks.inDoubt.isEmpty)
        #expect(notes(&clocks, [offset, offset]) == [true, nil])
        #expect(clocks.inDoubt == [cards] && clocks.reading(of: cards)?.isInDoubt == true)
        #expect(notes(&clocks, [0, 0]) == [nil, nil])
        #expect(clocks.inDoubt == [cards])
        #expect(notes(&clocks, [0]) == [false])
        #expect(clocks.inDoubt.isEmpty && clocks.reading(of: cards)?.isInDoubt == false)
        #expect(abs(clocks.reading(of: cards)?.offset.milliseconds ?? .max) < 1_100)
    }

    @Test func `one answer out of a cache changes nothing`() {
        var clocks = ProviderClocks()
        let changes = notes(&clocks, [0, -90_000, 0, -90_000, -90_000, 0, -90_000, -90_000, 0])
        #expect(changes.allSatisfy { $0 == nil })
        #expect(clocks.inDoubt.isEmpty)
    }

    @Test(arguments: [4_900, -4_900, 0] as [Int64])
    func `a clock within the skew is never in doubt, however slow its answers are`(offset: Int64) {
        for roundTrip in [1, 900, 9_000, 30_000] as [Int64] {
            var clocks = ProviderClocks()
            let changes = notes(&clocks, Array(repeating: offset, count: 40), roundTrip: roundTrip)
            #expect(changes.allSatisfy { $0 == nil }, "a round trip of \(roundTrip) ms")
        }
    }

    @Test func `an answer that took long does not make a wrong clock right`() {
        var clocks = ProviderClocks()
        _ = notes(&clocks, [60_000, 60_000, 60_000])
        // It may have been made at any moment of two minutes.
        #expect(notes(&clocks, [60_000, 60_000, 60_000, 60_000], roundTrip: 120_000).allSatisfy { $0 == nil })
        #expect(clocks.inDoubt == [cards])
    }

    @Test func `each provider has a clock of its own, and an answer before its question is none`() throws {
        let points = try ProviderName("points")
        var clocks = ProviderClocks()
        for _ in 0..<4 {
            clocks.note(answer(at: Self.start, offset: 90_000), of: points, allowed: .seconds(5))
            let backward = ProviderClocks.Answer(
                sent: Self.start, received: Self.start + .milliseconds(-1), said: Self.start + .hours(1))
            clocks.note(backward, of: cards, allowed: .seconds(5))
        }
        #expect(clocks.inDoubt == [points])
        #expect(clocks.reading(of: cards) == nil)
    }
}
