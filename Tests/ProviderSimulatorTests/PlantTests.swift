import Foundation
import ProviderSimulator
import Testing

/// What each kind of planted difference looks like to whoever asks for the key, reads the listing, or reads the books.
@Suite struct PlantTests {
    typealias F = SimulatorFixture

    private static let metadata =
        #"{"payment":"pay_0c5f3e9a7b21d4468f0e1c2d3b4a59687f6e5d4c","leg":"1","caller":"shop"}"#

    /// A hold of 1200 that was captured, and the rest of what a plant needs.
    private func captured(_ card: F, refunded: Int64 = 0) async throws {
        _ = try await card.pay(metadata: Self.metadata)
        _ = try await card.capture()
        if refunded > 0 { _ = try await card.refund(value: refunded) }
        card.clock.advance(60_000)
    }

    private func listed(_ card: F) async throws -> [ShownTransaction] {
        try await card.request("GET", "/card/transactions").page().data
    }

    @Test func `what is hidden is shown to whoever asks, and not listed`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            let planted = try await card.control.plant(PlantOrder(.hidden, key: F.key), at: "card")
            #expect(planted.first?.before == planted.first?.after && planted.first?.listedFrom == nil)
            #expect(try await listed(card).isEmpty)
            #expect(try await card.inquire().transaction().status == "captured")
            card.clock.advance(86_400_000)
            #expect(try await listed(card).isEmpty)
        }
    }

    @Test func `what is hidden for a time is listed after it, where it belongs`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            var order = PlantOrder(.hidden, key: F.key)
            order.forMs = 2_000
            let planted = try await card.control.plant(order, at: "card")
            #expect(planted.first?.listedFrom == card.clock.now + 2_000)
            card.clock.advance(1_999)
            #expect(try await listed(card).isEmpty)
            card.clock.advance(1)
            #expect(try await listed(card).map(\.updatedAt) == ["2027-01-15T08:00:00.000Z"])
        }
    }

    @Test func `what is forgotten is gone by key and from the listing, and was executed`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            let planted = try await card.control.plant(PlantOrder(.forgotten, key: F.key), at: "card")
            #expect(planted.first?.before?.captured == 1200 && planted.first?.after == nil)
            #expect(try await card.inquire().status == 404)
            #expect(try await listed(card).isEmpty)
            #expect(try await card.ledger().net == 1200)
        }
    }

    @Test func `an orphan names a payment and a leg, a foreign one names nobody`() async throws {
        try await withSimulator { card async throws in
            var order = PlantOrder(.orphan)
            (order.payment, order.leg, order.amountValue, order.currency) = ("pay_lost", 2, 700, "EUR")
            let orphan = try #require(try await card.control.plant(order, at: "card").first)
            let foreign = try #require(try await card.control.plant(PlantOrder(.foreign), at: "card").first)
            #expect(orphan.payment == "pay_lost" && orphan.leg == "2" && orphan.before == nil)
            #expect(orphan.after?.amount == Amount(value: 700, currency: "EUR") && orphan.after?.captured == 700)
            #expect(foreign.payment == nil && foreign.leg == nil)
            let shown = try await listed(card)
            #expect(Set(shown.map(\.key)) == [orphan.key, foreign.key])
            #expect(try await card.inquire(orphan.key).transaction().metadata["payment"] == "pay_lost")
            #expect(try await card.inquire(foreign.key).transaction().metadata == [:])
            #expect(try await card.ledger(orphan.key).net == 700)
            order = PlantOrder(.foreign, key: "a-held-stranger-1")
            order.held = true
            #expect(try await card.control.plant(order, at: "card").first?.after?.status == .authorized)
            order = PlantOrder(.foreign, key: "a-sold-stranger-1")
            order.onePhase = true
            _ = try await card.control.plant(order, at: "card")
            #expect(try await card.inquire("a-sold-stranger-1").transaction().kind == "sale")
        }
    }

    @Test func `a duplicate has another key, the same metadata and its own charge`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            let order = PlantOrder(.duplicate, key: F.key)
            let planted = try #require(try await card.control.plant(order, at: "card").first)
            #expect(planted.original == F.key && planted.key != F.key && planted.leg == "1")
            let (first, second) = (
                try await card.inquire().transaction(), try await card.inquire(planted.key).transaction()
            )
            #expect(first.metadata == second.metadata && first.amount == second.amount)
            #expect(first.captures.map(\.key) != second.captures.map(\.key) && second.status == "captured")
            let report = try await card.control.ledger("card")
            #expect(report.totals.map(\.net) == [2400] && report.chargedTwice.isEmpty)
        }
    }

    @Test func `an amount or a currency differs wherever it is looked at`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            var order = PlantOrder(.amountChanged, key: F.key)
            order.amountValue = 1000
            let planted = try #require(try await card.control.plant(order, at: "card").first)
            #expect(planted.before?.captured == 1200 && planted.after?.captured == 1000)
            let shown = try await card.inquire().transaction()
            #expect(shown.amount?.value == 1000 && shown.captures.map(\.amount.value) == [1000])
            #expect(shown.updatedAt == "2027-01-15T08:00:00.000Z", "as if it had always been so")
            #expect(try await card.ledger().net == 1000)

            _ = try await card.pay("another-key-00001")
            let changed = try await card.control.plant(
                PlantOrder(.currencyChanged, key: "another-key-00001"), at: "card")
            #expect(changed.first?.after?.amount == Amount(value: 1200, currency: "USD"))
            #expect(try await listed(card).map(\.amount?.currency) == ["JPY", "USD"])
        }
    }

    @Test func `an amount is not changed to what it is, nor below what was given back`() async throws {
        try await withSimulator { card async throws in
            try await captured(card, refunded: 200)
            var order = PlantOrder(.amountChanged, key: F.key)
            for value: Int64 in [1200, 199] {
                order.amountValue = value
                await #expect(throws: SimulatorError.self, "\(value)") {
                    try await card.control.plant(order, at: "card")
                }
                #expect(try await card.inquire().transaction().amount?.value == 1200, "\(value)")
            }
            order.amountValue = 200
            #expect(try await card.control.plant(order, at: "card").first?.after?.captured == 200)
        }
    }

    @Test func `somebody else voids what was captured and captures what was held`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            _ = try await card.pay("only-held-key-001")
            card.clock.advance(60_000)
            _ = try await card.control.plant(PlantOrder(.voidedElsewhere, key: F.key), at: "card")
            let captured = try await card.control.plant(
                PlantOrder(.capturedElsewhere, key: "only-held-key-001"), at: "card")
            #expect(try await card.inquire().transaction().status == "voided")
            #expect(try await card.ledger().net == 0)
            let shown = try await card.inquire("only-held-key-001").transaction()
            #expect(shown.status == "captured" && shown.captures.map(\.key) == [captured.first?.entryKey])
            #expect(shown.updatedAt == "2027-01-15T08:02:00.000Z")
            #expect(try await card.ledger("only-held-key-001").net == 1200)
        }
    }

    @Test func `refunds are added, changed and missing`() async throws {
        let kinds: [(PlantKind, refunds: [Int64], net: Int64)] = [
            (.refundAdded, [200, 500], 500), (.refundChanged, [199], 1001), (.refundMissing, [], 1200),
            (.chargedBack, [200, 1000], 0), (.refundFailed, [200], 1200),
        ]
        for (kind, refunds, net) in kinds {
            try await withSimulator { card async throws in
                try await captured(card, refunded: 200)
                let order = PlantOrder(kind, key: F.key)
                let planted = try #require(try await card.control.plant(order, at: "card").first)
                let shown = try await card.inquire().transaction()
                #expect(shown.refunds.map(\.amount.value) == refunds, "\(kind)")
                #expect(planted.before?.refunded == 200 && planted.after?.refunded == 1200 - net)
                let known = shown.refunds.map(\.key)
                #expect(known.contains(planted.entryKey ?? "") == (kind != .refundMissing))
                #expect(try await card.ledger().net == net, "\(kind)")
            }
        }
    }

    @Test func `it happened when the order says`() async throws {
        try await withSimulator { card async throws in
            try await captured(card)
            var order = PlantOrder(.chargedBack, key: F.key)
            order.atMs = card.clock.now - 1_000
            let planted = try await card.control.plant(order, at: "card")
            #expect(planted.first?.after?.updatedAt == order.atMs)
            #expect(try await card.inquire().transaction().refunds.map(\.createdAt) == ["2027-01-15T08:00:59.000Z"])
        }
    }
}
