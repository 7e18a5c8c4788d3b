import Foundation
import Testing

@testable import ProviderSimulator

/// Many transactions from one order.
@Suite struct BulkTests {
    private func order(_ count: Int) -> BulkOrder {
        var order = BulkOrder(count: count)
        order.fromMs = 1_799_990_000_000
        return order
    }

    private func all(_ card: SimulatorFixture, limit: Int) async throws -> [ShownTransaction] {
        var (seen, query) = ([ShownTransaction](), "?limit=\(limit)")
        while true {
            let page = try await card.request("GET", "/card/transactions\(query)").page()
            seen += page.data
            guard let cursor = page.nextCursor else { return seen }
            query = "?limit=\(limit)&cursor=\(cursor)"
        }
    }

    @Test func `what is made is what the order says, by key, by listing and in the books`() async throws {
        try await withSimulator { card async throws in
            var order = order(2_500)
            (order.heldEvery, order.refundedEvery) = (10, 7)
            let receipt = try await card.control.create(order, at: "card")
            #expect(receipt == BulkReceipt(created: 2_500, existing: 0, order: order))
            let expected = (0..<2_500).map { order.transaction($0) }
            let shown = try await all(card, limit: 1000)
            #expect(shown.count == 2_500)
            let byKey = Dictionary(uniqueKeysWithValues: shown.map { ($0.key, $0) })
            for transaction in expected {
                let one = try #require(byKey[transaction.key])
                #expect(one.amount == transaction.amount && one.metadata["payment"] == transaction.payment)
                #expect(one.status == (transaction.isCaptured ? "captured" : "authorized"))
                #expect(one.captures.map(\.key) == [transaction.captureKey].compactMap { $0 })
                #expect(one.refunds.map(\.key) == [transaction.refund?.key].compactMap { $0 })
                #expect(one.refunds.map(\.amount) == [transaction.refund?.amount].compactMap { $0 })
            }
            #expect(expected.filter { !$0.isCaptured }.count == 250)
            #expect(expected.filter { $0.refund != nil }.count == 358 - 36)
            let total = try #require(try await card.control.ledger("card", summary: true).totals.first)
            #expect(total.charged == expected.reduce(0) { $0 + ($1.isCaptured ? $1.amount.value : 0) })
            #expect(total.held == expected.reduce(0) { $0 + ($1.isCaptured ? 0 : $1.amount.value) })
            #expect(total.refunded == expected.reduce(0) { $0 + ($1.refund?.amount.value ?? 0) })
            #expect(try await card.control.journal("card", operation: .authorize).isEmpty)
        }
    }

    @Test func `an order given again makes only what is missing`() async throws {
        try await withSimulator { card async throws in
            var part = order(100)
            part.overMs = 0
            _ = try await card.control.create(part, at: "card")
            var whole = order(150)
            whole.overMs = 0
            let receipt = try await card.control.create(whole, at: "card")
            #expect(receipt.created == 50 && receipt.existing == 100)
            #expect(try await all(card, limit: 60).count == 150)
        }
    }

    @Test func `what was made is a transaction like any other`() async throws {
        try await withSimulator { card async throws in
            var order = order(2)
            (order.fromMs, order.heldEvery) = (card.clock.now - 1_000, 2)
            let receipt = try await card.control.create(order, at: "card")
            let (held, taken) = (receipt.order.transaction(0), receipt.order.transaction(1))
            let metadata = #"{"payment":"\#(held.payment)","leg":"0","caller":"bulk"}"#
            let replay = try await card.pay(
                held.key, value: held.amount.value, instrument: BulkOrder.instrument, metadata: metadata)
            #expect(replay.status == 200)
            #expect(try await card.capture(held.key, value: held.amount.value).status == 201)
            #expect(try await card.refund(taken.key, value: 40).status == 201)
            #expect(try await card.refund(taken.key, "refund-key-00002", value: taken.amount.value).status == 422)
        }
    }

    @Test func `it is ordered over HTTP`() async throws {
        try await withSimulator { card async throws in
            let body = #"{"count":3,"one_phase":true,"currency":"EUR","prefix":"sold","over_ms":3000}"#
            guard case .answer(201, _, let data) = try await card.request("POST", "/_control/card/bulk", body) else {
                Issue.record("not made")
                return
            }
            let receipt = try JSONDecoder().decode(BulkReceipt.self, from: data)
            #expect(receipt.created == 3 && receipt.order.fromMs == card.clock.now - 3_000)
            let shown = try await all(card, limit: 10)
            #expect(shown.map(\.kind) == ["sale", "sale", "sale"] && shown.map(\.captures.count) == [0, 0, 0])
            #expect(shown.map(\.key) == (0..<3).map { receipt.order.transaction($0).key })
            for wrong in [
                "{}", #"{"count":0}"#, #"{"count":1,"one_phase":true,"held_every":1}"#, #"{"count":1,"a":1}"#,
            ] {
                #expect(try await card.request("POST", "/_control/card/bulk", wrong).status == 400, "\(wrong)")
            }
        }
    }
}
