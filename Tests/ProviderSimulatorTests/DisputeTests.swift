import Foundation
import ProviderSimulator
import Testing

/// Disputes of a charge, as the contract shows them.
@Suite struct DisputeTests {
    typealias F = SimulatorFixture

    @Test func `nothing is refunded while a dispute is open, and the same request is executed after it`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            _ = try await card.capture()
            _ = try await card.refund(F.key, "refund-key-00000", value: 200)
            card.clock.advance(1_000)
            let opened = try await card.control.dispute(DisputeOrder(.open, key: F.key), at: "card")
            #expect(opened.amount.value == 1_000 && opened.status == .open)
            let shown = try await card.inquire().transaction()
            #expect(shown.disputes.map(\.id) == [opened.id] && shown.disputes.map(\.status) == ["open"])
            #expect(shown.status == "captured" && shown.updatedAt == "2027-01-15T08:00:01.000Z")
            #expect(try await card.request("GET", "/card/transactions").page().data == [shown])

            let refused = try await card.refund(value: 300)
            #expect(refused.status == 409)
            #expect(try refused.transaction().refunds.count == 1)
            let won = try await card.control.dispute(DisputeOrder(.won, key: F.key), at: "card")
            #expect(won.id == opened.id)
            #expect(try await card.ledger().net == 1_000)
            #expect(try await card.refund(value: 300).status == 201)
            #expect(try await card.ledger().net == 700)
        }
    }

    @Test func `what is lost is given back under a key of the provider`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay(kind: "sale")
            let order = #"{"key":"\#(F.key)","status":"open"}"#
            #expect(try await card.request("POST", "/_control/card/disputes", order).status == 201)
            let end = #"{"key":"\#(F.key)","status":"lost"}"#
            #expect(try await card.request("POST", "/_control/card/disputes", end).status == 201)
            let shown = try await card.inquire().transaction()
            #expect(shown.disputes.map(\.status) == ["lost"] && shown.refunds.map(\.amount.value) == [1_200])
            #expect(try await card.ledger().net == 0)
            #expect(try await card.refund(value: 1).status == 422)
        }
    }

    @Test func `only a charge is disputed, once at a time, and only an open dispute is decided`() async throws {
        try await withSimulator { card async throws in
            func order(_ status: DisputeStatus) async throws -> Int? {
                let body = #"{"key":"\#(F.key)","status":"\#(status.rawValue)"}"#
                return try await card.request("POST", "/_control/card/disputes", body).status
            }
            #expect(try await order(.open) == 409)
            _ = try await card.pay()
            #expect(try await order(.open) == 409)
            _ = try await card.capture()
            #expect(try await order(.won) == 409)
            #expect(try await order(.open) == 201)
            #expect(try await order(.open) == 409)
            #expect(try await order(.lost) == 201)
            #expect(try await order(.lost) == 409)
            #expect(try await order(.open) == 409)
            let odd = #"{"key":"\#(F.key)","status":"open","amount":1}"#
            #expect(try await card.request("POST", "/_control/card/disputes", odd).status == 400)
        }
    }
}
