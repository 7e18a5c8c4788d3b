import Foundation
import ProviderSimulator
import Testing

/// Faults of the provider itself: what it records, forgets and shows.
@Suite struct StateFaultTests {
    typealias F = SimulatorFixture

    @Test(arguments: [(Fault.Outcome.succeeded, "authorized"), (.declined, "declined")])
    func `something pending is decided later`(outcome: Fault.Outcome, status: String) async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.pending)
            fault.delayMs = 30_000
            fault.outcome = outcome
            try card.order(fault, .authorize)
            let first = try await card.pay()
            #expect(first.status == 202)
            #expect(try first.transaction().status == "pending")
            #expect(try await card.pay().status == 202)
            #expect(try await card.void().status == 409)
            #expect(try await card.ledger().held == 0)
            card.clock.advance(30_000)
            #expect(try await card.inquire().transaction().status == status)
            #expect(try await card.pay().status == (outcome == .succeeded ? 200 : 402))
            #expect(try await card.ledger().held == (outcome == .succeeded ? 1200 : 0))
        }
    }

    @Test func `a pending capture blocks a void and is decided by itself`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.pending)
            fault.delayMs = 30_000
            try card.order(fault, .capture)
            _ = try await card.pay()
            let reply = try await card.capture()
            #expect(reply.status == 202)
            #expect(try reply.transaction().captures.map(\.status) == ["pending"])
            #expect(try await card.void().status == 409)
            card.clock.advance(30_000)
            // Nobody asks: the provider settles it on its own.
            try await card.eventually { try await card.ledger().charges.count == 1 }
            #expect(try await card.capture().status == 200)
        }
    }

    @Test func `a decline by fault is bound or not, as ordered`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.declineBound), .authorize)
            #expect(try await card.pay().status == 402)
            #expect(try await card.pay().status == 402)
            let other = "transaction-key-2"
            try card.order(Fault(.declineUnbound), .authorize)
            #expect(try await card.pay(other).status == 402)
            #expect(try await card.pay(other).status == 201)
            try card.order(Fault(.declineBound), .capture)
            #expect(try await card.capture(other).status == 402)
            #expect(try await card.capture(other).status == 402)
            #expect(try await card.capture(other, "another-capture-1").status == 201)
        }
    }

    @Test func `inquiries can lag behind a write that was answered`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.staleInquiry), .authorize)
            #expect(try await card.pay().status == 201)
            #expect(try await card.inquire().status == 404)
            #expect(try await card.capture().status == 201)
            #expect(try await card.inquire().status == 404)
            card.clock.advance(2000)
            #expect(try await card.inquire().transaction().status == "captured")
        }
    }

    @Test func `an inquiry can be answered from the state before the last change`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            _ = try await card.capture()
            var fault = Fault(.staleInquiry)
            fault.staleMs = 500
            try card.order(fault, .inquire)
            #expect(try await card.inquire().transaction().status == "authorized")
            let path = "/card/transactions/\(F.key)/captures/\(F.captureKey)"
            #expect(try await card.request("GET", path).status == 404)
            card.clock.advance(500)
            #expect(try await card.inquire().transaction().status == "captured")
        }
    }

    @Test func `a lost response can come with lagging inquiries`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.responseLost)
            fault.staleMs = 1000
            try card.order(fault, .sale)
            #expect(try await card.pay(kind: "sale") == .nothing)
            #expect(try await card.inquire().status == 404)
            card.clock.advance(1000)
            #expect(try await card.inquire().status == 200)
        }
    }

    @Test func `a changed amount is recorded and shown, and replays still match`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.amountChanged), .sale)
            #expect(try await card.pay(kind: "sale").transaction().amount?.value == 1201)
            #expect(try await card.pay(kind: "sale").status == 200)
            #expect(try await card.inquire().transaction().amount?.value == 1201)
            #expect(try await card.ledger().net == 1201)
            var fault = Fault(.amountChanged)
            fault.amountValue = 5
            try card.order(fault, .refund)
            #expect(try await card.refund(value: 100).transaction().refunds.map(\.amount.value) == [5])
            #expect(try await card.refund(value: 100).status == 200)
        }
    }

    @Test func `a forgotten key charges a second time and the ledger shows both`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay(kind: "sale")
            try card.order(Fault(.keyForgotten), .inquire)
            #expect(try await card.inquire().status == 404)
            #expect(try await card.pay(kind: "sale").status == 201)
            let ledger = try await card.ledger()
            #expect(ledger.charges.count == 2 && ledger.isChargedTwice && ledger.net == 2400)
            try await card.control.forget(F.key, at: "card")
            #expect(try await card.inquire().status == 404)
        }
    }

    @Test func `a duplicated request changes nothing more where the key protects it`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.duplicated), .sale)
            #expect(try await card.pay(kind: "sale").status == 201)
            let journal = try await card.control.journal("card")
            #expect(journal.map(\.origin) == [.client, .duplicate])
            #expect(journal.map(\.result) == [201, 200])
            #expect(try await card.ledger().charges.count == 1)
        }
    }

    @Test func `a duplicate turns a decline that is not bound into a charge`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.duplicated), .sale)
            #expect(try await card.pay(kind: "sale", instrument: "decline-unbound-1").status == 402)
            #expect(try await card.ledger().net == 1200)
        }
    }

    @Test func `a request can arrive long after its connection broke`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.lateDelivery)
            fault.delayMs = 30_000
            try card.order(fault, .sale)
            #expect(try await card.pay(kind: "sale") == .nothing)
            #expect(try await card.inquire().status == 404)
            card.clock.advance(30_000)
            try await card.eventually { try await card.inquire().status == 200 }
            let journal = try await card.control.journal("card", key: F.key, operation: .sale)
            #expect(journal.map(\.origin) == [.client, .late])
            #expect(journal.map(\.executed) == [false, true])
        }
    }

    @Test func `a late request meets a tombstone or its own Not-After`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.lateDelivery)
            fault.delayMs = 30_000
            try card.control.order(FaultOrder(fault, times: 2), at: "card")
            #expect(try await card.pay() == .nothing)
            let bounded = "transaction-key-2"
            #expect(try await card.pay(bounded, notAfter: "2027-01-15T08:00:10Z") == .nothing)
            #expect(try await card.void().transaction().status == "tombstoned")
            card.clock.advance(30_000)
            try await card.eventually {
                try await card.control.journal("card").filter { $0.origin == .late }.map(\.result) == [
                    409, 410,
                ]
            }
            #expect(try await card.control.ledger("card").totals.isEmpty)
        }
    }
}
