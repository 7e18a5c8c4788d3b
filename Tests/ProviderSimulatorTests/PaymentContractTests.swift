import Foundation
import ProviderSimulator
import Testing

@Suite struct PaymentContractTests {
    typealias F = SimulatorFixture

    @Test func `an authorize holds the amount and a replay shows the same`() async throws {
        try await withSimulator { card async throws in
            let first = try await card.pay()
            #expect(first.status == 201)
            let shown = try first.transaction()
            #expect(shown.key == F.key)
            #expect(shown.kind == "authorize")
            #expect(shown.status == "authorized")
            #expect(shown.amount == Amount(value: 1200, currency: "JPY"))
            #expect(shown.metadata == ["payment": "pay_1"])
            #expect(shown.captures.isEmpty && shown.refunds.isEmpty && shown.reason == nil)
            #expect(shown.createdAt == "2027-01-15T08:00:00.000Z")
            #expect(shown.authorizedUntil == "2027-01-22T08:00:00.000Z")
            let replay = try await card.pay()
            #expect(replay.status == 200)
            #expect(try replay.transaction() == shown)
            #expect(try await card.inquire().transaction() == shown)
            let ledger = try await card.ledger()
            #expect(
                ledger.holds.count == 1 && ledger.charges.isEmpty && ledger.held == 1200 && ledger.net == 0)
        }
    }

    @Test func `a sale takes the amount at once`() async throws {
        try await withSimulator { card async throws in
            let shown = try await card.pay(kind: "sale").transaction()
            #expect(shown.status == "captured" && shown.kind == "sale")
            #expect(shown.captures.isEmpty && shown.authorizedUntil == nil)
            #expect(try await card.ledger().net == 1200)
        }
    }

    @Test func `sums of the largest amounts are as near as they can be, and nothing ends`() async throws {
        try await withSimulator { card async throws in
            for key in ["transaction-key-1", "transaction-key-2", "transaction-key-3"] {
                #expect(try await card.pay(key, kind: "sale", value: .max).status == 201)
            }
            #expect(try await card.pay("transaction-key-4", value: .max).status == 201)
            #expect(try await card.pay("transaction-key-5", value: .max).status == 201)
            let total = try #require(try await card.control.ledger("card").totals.first)
            #expect(total.charged == .max && total.net == .max && total.held == .max && total.refunded == 0)
            let planted = try await card.control.plant(PlantOrder(.amountChanged, key: F.key), at: "card")
            #expect(planted.count == 1)
            #expect(try await card.pay("transaction-key-6", kind: "sale", value: 1200).status == 201)
        }
    }

    @Test func `another body under the same key is refused and changes nothing`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            for reply in [
                try await card.pay(value: 1201), try await card.pay(kind: "sale"),
                try await card.pay(instrument: "tok_2"), try await card.pay(metadata: "{}"),
            ] {
                #expect(reply.status == 422)
                #expect(try reply.problem().type == "/problems/key-reused")
            }
            #expect(try await card.ledger().holds.count == 1)
        }
    }

    @Test func `providers do not know each other's keys`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            var points = card
            points.provider = "points"
            #expect(try await points.inquire().status == 404)
            #expect(try await points.pay(value: 7).status == 201)
            #expect(try await card.ledger().holds.map(\.amount.value) == [1200])
        }
    }

    @Test func `a decline stays with its key`() async throws {
        try await withSimulator { card async throws in
            let first = try await card.pay(instrument: "decline_1")
            #expect(first.status == 402)
            let shown = try first.transaction()
            #expect(shown.status == "declined" && shown.reason == "insufficient_funds")
            #expect(try await card.pay(instrument: "decline_1").withoutDate == first.withoutDate)
            #expect(try await card.void().transaction() == shown)
            #expect(try await card.ledger().holds.isEmpty)
        }
    }

    @Test func `an unbound decline can become a hold under the same key`() async throws {
        try await withSimulator { card async throws in
            #expect(try await card.pay(instrument: "decline-unbound-1").status == 402)
            let second = try await card.pay(instrument: "decline-unbound-1")
            #expect(second.status == 201)
            #expect(try second.transaction().reason == nil)
            #expect(try await card.ledger().held == 1200)
        }
    }

    @Test func `where declines are not bound a void of one leaves a tombstone`() async throws {
        var contract = ContractOptions()
        contract.declinesBound = false
        try await withSimulator(contract) { card async throws in
            #expect(try await card.pay(instrument: "decline_1").status == 402)
            #expect(try await card.void().transaction().status == "tombstoned")
            #expect(try await card.pay(instrument: "decline_1").status == 409)
        }
    }

    @Test func `a request past its Not-After is never executed`() async throws {
        try await withSimulator { card async throws in
            let reply = try await card.pay(notAfter: "2027-01-15T07:59:59.999Z")
            #expect(reply.status == 410)
            #expect(try reply.problem().type == "/problems/not-after-passed")
            #expect(try await card.inquire().status == 404)
            #expect(try await card.pay(notAfter: "2027-01-15T08:00:00Z").status == 201)
            card.clock.advance(1)
            // A replay executes nothing: it has the recorded answer, whatever its Not-After says.
            #expect(try await card.pay(notAfter: "2027-01-15T08:00:00Z").status == 200)
            #expect(try await card.pay(notAfter: "tomorrow").status == 400)
            #expect(try await card.pay().status == 200)
        }
    }

    @Test func `a provider may refuse late replays or not enforce Not-After at all`() async throws {
        var contract = ContractOptions()
        contract.notAfterRefusesReplays = true
        try await withSimulator(contract) { card async throws in
            _ = try await card.pay()
            #expect(try await card.pay(notAfter: "2027-01-15T07:00:00Z").status == 410)
            #expect(try await card.pay("another-key-00001", notAfter: "2027-01-15T07:00:00Z").status == 410)
        }
        contract.notAfterEnforced = false
        try await withSimulator(contract) { card async throws in
            #expect(try await card.pay(notAfter: "2027-01-15T07:00:00Z").status == 201)
        }
    }

    @Test(arguments: [
        (#"{"kind":"authorize"}"#, "amount"),
        (#"{"kind":"gift","amount":{"value":1,"currency":"JPY"},"instrument":"t"}"#, "kind"),
        (#"{"kind":"sale","amount":{"value":0,"currency":"JPY"},"instrument":"t"}"#, "amount.value"),
        (#"{"kind":"sale","amount":{"value":1,"currency":"yen"},"instrument":"t"}"#, "amount.currency"),
        (#"{"kind":"sale","amount":{"value":1,"currency":"JPY"},"instrument":""}"#, "instrument"),
        (#"{"kind":"sale","amount":{"value":1,"currency":"JPY"},"instrument":"unknown_1"}"#, "instrument"),
    ])
    func `a wrong body names the member that is at fault`(body: String, field: String) async throws {
        try await withSimulator { card async throws in
            let reply = try await card.request("PUT", "/card/transactions/\(F.key)", body)
            #expect(reply.status == 400)
            #expect(try reply.problem().field == field)
            #expect(try await card.inquire().status == 404)
        }
    }

    @Test func `requests that are not of the contract are refused`() async throws {
        try await withSimulator { card async throws in
            #expect(try await card.pay("short").status == 400)
            #expect(try await card.request("PUT", "/card/transactions/\(F.key)", "{").status == 400)
            #expect(try await card.request("PUT", "/card/transactions/\(F.key)", #"{"a":1}"#).status == 400)
            let large = String(repeating: " ", count: 70_000)
            #expect(try await card.request("PUT", "/card/transactions/\(F.key)", large).status == 413)
            let text = try await card.request(
                "PUT", "/card/transactions/\(F.key)", "{}", headers: ["Content-Type": "text/plain"])
            #expect(text.status == 415)
            #expect(try await card.request("GET", "/nobody/transactions/\(F.key)").status == 404)
            #expect(try await card.request("GET", "/card/elsewhere").status == 404)
            var stranger = card
            stranger.token = "wrong"
            let refused = try await stranger.pay()
            #expect(refused.status == 401)
            guard case .answer(_, let headers, _) = refused else {
                Issue.record("no answer")
                return
            }
            #expect(headers["www-authenticate"] == "Bearer")
            #expect(try await card.control.ledger("card").transactions.isEmpty)
        }
    }
}
