import Foundation
import Testing

@testable import ProviderSimulator

/// What holds at the ends of what is allowed.
@Suite struct BoundTests {
    @Test func `faults by chance that come to a hundred of a hundred leave no request whole`() async throws {
        let rates = [Fault(.throttled), Fault(.html)].map { FaultRate($0, rate: 0.5, operations: [.authorize]) }
        try await withSimulator(rates: rates) { card in
            var kinds: Set<Int?> = []
            for number in 10..<40 { kinds.insert(try await card.pay("chance-key-000\(number)").status) }
            #expect(kinds.count == 2 && !kinds.contains(201), "\(kinds)")
        }
    }

    @Test func `a journal is read from its beginning as from after the line of number zero`() async throws {
        try await withSimulator { card in
            _ = try await card.pay()
            let all = try await card.request("GET", "/_control/card/journal")
            #expect(all.status == 200)
            guard case .answer(200, _, let body) = try await card.request("GET", "/_control/card/journal?after=0"),
                case .answer(200, _, let expected) = all
            else {
                Issue.record("no journal")
                return
            }
            #expect(body == expected)
            #expect(try await card.request("GET", "/_control/card/journal?after=-1").status == 400)
        }
    }

    @Test(arguments: [(1_200, 1_201), (Int64.max, .max - 1)])
    func `a changed amount is one beside the one that was asked for`(asked: Int64, recorded: Int64) {
        let twist = Twist(changesAmount: true)
        #expect(twist.recorded(Amount(value: asked, currency: "JPY")).value == recorded)
        #expect(Twist().recorded(Amount(value: asked, currency: "JPY")).value == asked)
    }
}
