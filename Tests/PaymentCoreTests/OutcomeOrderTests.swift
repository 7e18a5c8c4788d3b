import PaymentCore
import Testing

/// The worst of all outcomes counts, so that it must be known which of two is worse.
@Suite struct OutcomeOrderTests {
    private static let order: [OutcomeClass] = [
        .unsent, .throttled, .refused, .declined, .accepted, .indeterminate,
    ]

    @Test func `outcomes are in the order of uncertainty, and none is worse than itself`() {
        #expect(OutcomeClass.allCases.sorted() == Self.order)
        for (index, outcome) in Self.order.enumerated() {
            #expect(Self.order.filter { $0 < outcome } == Array(Self.order[..<index]))
            #expect(Self.order.filter { $0 <= outcome } == Array(Self.order[...index]))
            #expect(Self.order.filter { $0 > outcome } == Array(Self.order[(index + 1)...]))
        }
    }
}
