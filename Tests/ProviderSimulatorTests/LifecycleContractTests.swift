import Foundation
import ProviderSimulator
import Testing

@Suite struct LifecycleContractTests {
    typealias F = SimulatorFixture

    @Test func `the first capture is final and releases the rest`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            let first = try await card.capture(value: 1000)
            #expect(first.status == 201)
            let shown = try first.transaction()
            #expect(shown.status == "captured")
            #expect(shown.captures.map(\.status) == ["succeeded"])
            #expect(shown.captures.map(\.amount.value) == [1000])
            #expect(try await card.capture(value: 1000).status == 200)
            #expect(try await card.capture(value: 999).status == 422)
            #expect(try await card.capture(F.key, "another-capture-1", value: 100).status == 409)
            let path = "/card/transactions/\(F.key)/captures/"
            #expect(try await card.request("GET", path + F.captureKey).transaction() == shown)
            #expect(try await card.request("GET", path + "another-capture-1").status == 404)
            let ledger = try await card.ledger()
            #expect(ledger.net == 1000 && ledger.held == 0 && ledger.releases.map(\.amount.value) == [200])
        }
    }

    @Test func `a capture needs a hold that is large enough`() async throws {
        try await withSimulator { card async throws in
            #expect(try await card.capture().status == 404)
            _ = try await card.pay()
            let large = try await card.capture(value: 1201)
            #expect(try large.problem().type == "/problems/amount-too-large")
            let foreign = try await card.request(
                "PUT", "/card/transactions/\(F.key)/captures/\(F.captureKey)",
                #"{"amount":{"value":1,"currency":"USD"}}"#)
            #expect(try foreign.problem().type == "/problems/currency-mismatch")
            _ = try await card.void()
            let late = try await card.capture()
            #expect(late.status == 409)
            #expect(try late.transaction().status == "voided")
        }
    }

    @Test func `a declined capture leaves the hold`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay(instrument: "capture-decline-1")
            let first = try await card.capture()
            #expect(first.status == 402)
            let shown = try first.transaction()
            #expect(shown.status == "authorized")
            #expect(shown.captures.map(\.status) == ["declined"])
            #expect(shown.captures.map(\.reason) == ["account_closed"])
            #expect(try await card.capture().withoutDate == first.withoutDate)
            #expect(try await card.void().status == 200)
        }
    }

    @Test func `refunds never exceed what was taken`() async throws {
        try await withSimulator { card async throws in
            #expect(try await card.refund().status == 404)
            _ = try await card.pay()
            #expect(try await card.refund().status == 409)
            _ = try await card.capture(value: 1000)
            let first = try await card.refund(value: 600)
            #expect(first.status == 201)
            #expect(try first.transaction().refunds.map(\.amount.value) == [600])
            #expect(try await card.refund(value: 600).status == 200)
            #expect(try await card.refund(value: 601).status == 422)
            #expect(try await card.refund(F.key, "another-refund-01", value: 401).status == 422)
            #expect(try await card.refund(F.key, "another-refund-01", value: 400).status == 201)
            let path = "/card/transactions/\(F.key)/refunds/"
            #expect(try await card.request("GET", path + F.refundKey).transaction().refunds.count == 2)
            #expect(try await card.request("GET", path + "unheard-of-refund").status == 404)
            let ledger = try await card.ledger()
            #expect(ledger.net == 0 && ledger.refunds.map(\.amount.value) == [600, 400])
        }
    }

    @Test func `a declined refund gives nothing back`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay(kind: "sale", instrument: "refund-decline-1")
            let reply = try await card.refund()
            #expect(reply.status == 402)
            #expect(try reply.transaction().refunds.map(\.status) == ["declined"])
            #expect(try await card.ledger().net == 1200)
        }
    }

    @Test func `a void undoes a hold once`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            #expect(try await card.void().transaction().status == "voided")
            #expect(try await card.void().status == 200)
            let replay = try await card.pay()
            #expect(replay.status == 409)
            #expect(try replay.transaction().status == "voided")
            let ledger = try await card.ledger()
            #expect(ledger.voids.count == 1 && ledger.held == 0)
        }
    }

    @Test func `a void of an unknown key forbids it for ever`() async throws {
        try await withSimulator { card async throws in
            let shown = try await card.void().transaction()
            #expect(shown.status == "tombstoned" && shown.amount == nil && shown.kind == nil)
            #expect(try await card.pay().status == 409)
            #expect(try await card.pay(kind: "sale").transaction().status == "tombstoned")
            #expect(try await card.capture().status == 409)
            #expect(try await card.refund().status == 409)
            #expect(try await card.ledger().holds.isEmpty)
        }
    }

    @Test func `without tombstones a void of an unknown key leaves nothing`() async throws {
        var contract = ContractOptions()
        contract.tombstoning = false
        try await withSimulator(contract) { card async throws in
            #expect(try await card.void().status == 404)
            #expect(try await card.pay().status == 201)
        }
    }

    @Test func `a void of something captured comes too late`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            _ = try await card.capture()
            let late = try await card.void()
            #expect(late.status == 409)
            #expect(try late.transaction().status == "captured")
            _ = try await card.pay("sale-key-00000001", kind: "sale")
            #expect(try await card.void("sale-key-00000001").status == 409)
        }
    }

    @Test func `a provider may reverse a completed sale`() async throws {
        var contract = ContractOptions()
        contract.voidReversesSale = true
        try await withSimulator(contract) { card async throws in
            _ = try await card.pay(kind: "sale")
            #expect(try await card.void().transaction().status == "voided")
            let ledger = try await card.ledger()
            #expect(ledger.charges.count == 1 && ledger.net == 0 && ledger.voids.map(\.kind) == [.reversal])
        }
    }

    @Test func `a hold runs out`() async throws {
        var contract = ContractOptions()
        contract.authorizationLifeMs = 60_000
        try await withSimulator(contract) { card async throws in
            _ = try await card.pay()
            card.clock.advance(59_999)
            #expect(try await card.inquire().transaction().status == "authorized")
            card.clock.advance(1)
            #expect(try await card.inquire().transaction().status == "expired")
            #expect(try await card.capture().status == 409)
            #expect(try await card.void().transaction().status == "expired")
            #expect(try await card.pay().status == 409)
            #expect(try await card.ledger().held == 0)
        }
    }

    @Test func `after its retention a key is charged again, and the ledger knows`() async throws {
        var contract = ContractOptions()
        contract.keyRetentionMs = 60_000
        try await withSimulator(contract) { card async throws in
            _ = try await card.pay(kind: "sale")
            card.clock.advance(60_001)
            #expect(try await card.inquire().status == 404)
            #expect(try await card.ledger().status == nil)
            #expect(try await card.pay(kind: "sale").status == 201)
            let ledger = try await card.ledger()
            #expect(ledger.isChargedTwice && ledger.records == 2 && ledger.net == 2400)
            #expect(try await card.control.ledger("card").chargedTwice == [F.key])
        }
    }
}
