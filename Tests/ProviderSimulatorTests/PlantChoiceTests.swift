import Foundation
import ProviderSimulator
import Testing

/// Which transactions an order means, what it refuses, and the truth that it leaves.
@Suite struct PlantChoiceTests {
    private func bulk() -> BulkOrder {
        var order = BulkOrder(count: 200)
        (order.fromMs, order.heldEvery, order.refundedEvery) = (1_799_999_000_000, 5, 3)
        return order
    }

    private func planted(_ order: PlantOrder, clock: ManualClock = ManualClock()) async throws -> [Planted] {
        var planted: [Planted] = []
        try await withSimulator(clock: clock) { card async throws in
            _ = try await card.control.create(bulk(), at: "card")
            planted = try await card.control.plant(order, at: "card")
        }
        return planted
    }

    @Test(arguments: PlantKind.allCases)
    func `the same seed plants the same, another seed something else`(kind: PlantKind) async throws {
        let first = try await planted(PlantOrder(kind, count: 5, seed: 3))
        #expect(first.count == 5 && Set(first.map(\.key)).count == 5)
        #expect(first.allSatisfy { $0.plant == kind })
        #expect(try await planted(PlantOrder(kind, count: 5, seed: 3)) == first)
        #expect(try await planted(PlantOrder(kind, count: 5, seed: 4)).map(\.key) != first.map(\.key))
    }

    @Test func `nothing differs in two ways, and the ledger tells all that was planted`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.control.create(bulk(), at: "card")
            var all: [Planted] = []
            for kind in PlantKind.allCases {
                all += try await card.control.plant(PlantOrder(kind, count: 4), at: "card")
            }
            let touched = all.flatMap { [$0.key] + ($0.original.map { [$0] } ?? []) }
            #expect(Set(touched).count == touched.count)
            #expect(try await card.control.planted(at: "card") == all)
            #expect(try await card.control.ledger("card").planted == all)
            #expect(try await card.control.ledger("card", summary: true).planted.isEmpty)
            let duplicate = try #require(all.first { $0.plant == .duplicate })
            #expect(try await card.control.planted(at: "card", key: duplicate.original) == [duplicate])
            #expect(try await card.control.planted(at: "points").isEmpty)
            let text = try await card.control.ledger("card").text
            #expect(text.contains("planted: amount_changed 4, captured_elsewhere 4,"))
        }
    }

    @Test func `an order that cannot be carried out whole plants nothing and says why`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.control.create(bulk(), at: "card")
            let cases: [(PlantOrder, says: String)] = [
                (PlantOrder(.capturedElsewhere, count: 41), "count: only 40 can be captured_elsewhere"),
                (PlantOrder(.hidden, key: "no-such-key-0001"), "key: the provider knows no no-such-key-0001"),
                (PlantOrder(.refundMissing, key: bulk().transaction(1).key), "a refund that succeeded"),
                (PlantOrder(.hidden, count: 0), "count: 1 to 100000"),
                (PlantOrder(.hidden, key: "short"), "key: 16 to 64 characters"),
            ]
            for (order, says) in cases {
                await #expect { try await card.control.plant(order, at: "card") } throws: { error in
                    (error as? SimulatorError)?.code == .cannotPlant && "\(error)".contains(says)
                }
            }
            #expect(try await card.control.planted(at: "card").isEmpty)
            let hidden = PlantOrder(.hidden, key: bulk().transaction(1).key)
            _ = try await card.control.plant(hidden, at: "card")
            await #expect(throws: SimulatorError.self) { try await card.control.plant(hidden, at: "card") }
            _ = try await card.control.plant(PlantOrder(.orphan, count: 2, seed: 9), at: "card")
            await #expect(throws: SimulatorError.self) {
                try await card.control.plant(PlantOrder(.orphan, count: 2, seed: 9), at: "card")
            }
            await #expect(throws: SimulatorError.self) {
                try await card.control.plant(PlantOrder(.orphan), at: "nobody")
            }
        }
    }

    @Test func `it is planted and told over HTTP`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            let order = #"{"plant":"amount_changed","key":"\#(SimulatorFixture.key)","amount_value":1300}"#
            let reply = try await card.request("POST", "/_control/card/plants", order)
            guard case .answer(201, _, let body) = reply,
                case .answer(200, _, let told) = try await card.request("GET", "/_control/card/plants")
            else {
                Issue.record("not planted: \(reply)")
                return
            }
            let planted = try JSONDecoder().decode([Planted].self, from: body)
            #expect(planted.map(\.after?.amount?.value) == [1300])
            #expect(try JSONDecoder().decode([Planted].self, from: told) == planted)
            #expect(try await card.request("POST", "/_control/card/plants", order).status == 409)
            #expect(try await card.request("GET", "/_control/nobody/plants").status == 404)
        }
    }

    @Test(arguments: [
        #"{"plant":"stolen"}"#, #"{"plant":"hidden","count":0}"#, #"{"plant":"hidden","amount_value":1}"#,
        #"{"plant":"forgotten","for_ms":1}"#, #"{"plant":"hidden","key":"transaction-key-1","count":2}"#,
        #"{"plant":"foreign","payment":"pay_1"}"#, #"{"plant":"orphan","leg":-1}"#, #"{"plant":"orphan","sum":1}"#,
        #"{"plant":"orphan","currency":"yen"}"#, #"{"plant":"orphan","one_phase":true,"held":true}"#, "{}",
    ])
    func `an order that means nothing is refused`(order: String) async throws {
        try await withSimulator { card async throws in
            let reply = try await card.request("POST", "/_control/card/plants", order)
            #expect(reply.status == 400)
        }
    }
}
