import PaymentCore
import Testing

@Suite struct BalanceTests {
    @Test func `sums count both sides by currency, and take away again`() throws {
        let (yen, euro) = (try Compared.yen(), try #require(Currency(code: "EUR")))
        var sums = NetSums()
        try sums.count(ours: NetAmount(100, yen), theirs: NetAmount(-30, yen))
        try sums.count(ours: nil, theirs: NetAmount(7, euro))
        try sums.count(ours: NetAmount(1, yen), theirs: nil, sign: -1)
        #expect(sums[yen] == .init(ours: 99, theirs: -30))
        #expect(sums[euro] == .init(ours: 0, theirs: 7))
        var twice = sums
        try twice.add(sums)
        #expect(twice[yen] == .init(ours: 198, theirs: -60))
        #expect(twice.lines.map(\.currency) == [euro, yen])
    }

    @Test func `a sum that does not fit is an error`() throws {
        let yen = try Compared.yen()
        var sums = NetSums([yen: .init(ours: .max, theirs: .min)])
        #expect(throws: Money.Failure.overflow) { try sums.count(ours: NetAmount(1, yen), theirs: nil) }
        #expect(throws: Money.Failure.overflow) { try sums.count(ours: nil, theirs: NetAmount(1, yen), sign: -1) }
        #expect(throws: Money.Failure.overflow) { try sums.add(NetSums([yen: .init(ours: 0, theirs: -1)])) }
    }

    @Test func `money is proven when nothing drifted and everything is explained`() throws {
        let yen = try Compared.yen()
        func proof(closing: NetSums.Sides, _ explained: ExplainedDifference) -> BalanceProof {
            BalanceProof(
                currency: yen, opening: .init(ours: 10, theirs: 10), moved: .init(ours: 5, theirs: 7),
                closing: closing, explained: explained)
        }
        let closing = NetSums.Sides(ours: 15, theirs: 17)
        let proven = proof(closing: closing, .init(discrepancies: -3, inFlight: 1))
        #expect(proven.isProven)
        #expect(proven.unexplained == 0)
        let unexplained = proof(closing: closing, .init(discrepancies: -3))
        #expect(!unexplained.isProven)
        #expect(unexplained.unexplained == 1)
        let drifted = proof(closing: .init(ours: 16, theirs: 18), .init(discrepancies: -2))
        #expect(!drifted.isProven)
        #expect(drifted.unexplained == 0)
        #expect(drifted.drift == .init(ours: 1, theirs: 1))
    }
}
