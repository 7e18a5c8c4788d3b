import Foundation
import ProviderSimulator
import Testing

@Suite struct FaultOrderTests {
    typealias F = SimulatorFixture

    @Test func `an order strikes only what it names, so often as it says`() async throws {
        try await withSimulator { card async throws in
            let order = FaultOrder(Fault(.errorBefore), operation: .inquire, key: F.key, times: 2, skip: 1)
            try card.control.order(order, at: "card")
            _ = try await card.pay()
            #expect(try await card.inquire("transaction-key-2").status == 404)
            var statuses: [Int?] = []
            for _ in 0..<4 { statuses.append(try await card.inquire().status) }
            #expect(statuses == [200, 500, 500, 200])
            #expect(try card.control.faults(at: "card").orders.isEmpty)
        }
    }

    @Test func `an order can name a capture's key`() async throws {
        try await withSimulator { card async throws in
            try card.control.order(FaultOrder(Fault(.errorAfter), key: F.captureKey), at: "card")
            #expect(try await card.pay().status == 201)
            #expect(try await card.capture().status == 500)
            #expect(try await card.capture().status == 200)
        }
    }

    @Test func `faults by chance come again with the same seed and differ with another`() async throws {
        func fates(_ seed: UInt64) async throws -> [Bool] {
            var fates: [Bool] = []
            try await withSimulator(rates: [FaultRate(Fault(.errorBefore), rate: 0.5)], seed: seed) {
                card async throws in
                for number in 10..<50 {
                    fates.append(try await card.pay("seeded-key-\(number)-000").status == 500)
                }
            }
            return fates
        }
        let first = try await fates(7)
        #expect(try await fates(7) == first)
        #expect(try await fates(8) != first)
        let struck = first.count(where: { $0 })
        #expect((8...32).contains(struck))
    }

    @Test func `a key's fate does not depend on what others send`() async throws {
        let rates = [FaultRate(Fault(.errorBefore), rate: 0.5, operations: [.authorize])]
        var alone: [Int?] = []
        try await withSimulator(rates: rates) { card async throws in
            for _ in 0..<10 { alone.append(try await card.pay().status) }
        }
        var amongOthers: [Int?] = []
        try await withSimulator(rates: rates) { card async throws in
            for number in 10..<20 {
                _ = try await card.pay("other-key-\(number)-0000")
                amongOthers.append(try await card.pay().status)
            }
        }
        #expect(alone == amongOthers)
        #expect(Set(alone).count > 1)
    }

    @Test func `counters and journal tell every request and fault`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.requestLost), .authorize, times: 2)
            for _ in 0..<3 { _ = try await card.pay() }
            _ = try await card.inquire()
            let report = try await card.control.ledger("card")
            #expect(report.requests == ["authorize": 3, "inquire": 1])
            #expect(report.faults == ["request_lost": 2])
            let sends = try await card.control.journal("card", key: F.key, operation: .authorize)
            #expect(sends.map(\.executed) == [false, false, true])
            #expect(sends.map(\.status) == [nil, nil, 201])
            let rest = try await card.control.journal("card", after: sends[1].id, limit: 1)
            #expect(rest.map(\.id) == [sends[2].id])
        }
    }

    @Test(arguments: [
        #"{"fault":"response_losst"}"#, #"{"fault":"response_lost","tims":2}"#,
        #"{"fault":"response_lost","delay_ms":5}"#, #"{"fault":"pending","operation":"inquire"}"#,
        #"{"fault":"down"}"#, #"{"fault":"html","times":0}"#, #"{"operation":"sale"}"#,
    ])
    func `an order that means nothing is refused`(body: String) async throws {
        try await withSimulator { card async throws in
            let reply = try await card.request("POST", "/_control/card/faults", body)
            #expect(reply.status == 400)
            #expect(try card.control.faults(at: "card").orders.isEmpty)
        }
    }
}
