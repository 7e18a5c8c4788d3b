import Foundation
import ProviderSimulator
import Testing

@Suite struct ControlRouteTests {
    typealias F = SimulatorFixture

    private func decode<Value: Decodable>(_ type: Value.Type, _ reply: Reply) throws -> Value {
        guard case .answer(200, _, let body) = reply else { throw SocketFailure(step: "answer", code: 0) }
        return try JSONDecoder().decode(type, from: body)
    }

    @Test func `faults are ordered, shown and cleared over HTTP`() async throws {
        try await withSimulator { card async throws in
            let one = #"{"fault":"response_lost","operation":"sale","times":2,"stale_ms":10}"#
            let ordered = try await card.request("POST", "/_control/card/faults", one)
            guard case .answer(201, _, let receipt) = ordered else {
                Issue.record("not accepted: \(ordered)")
                return
            }
            #expect(String(decoding: receipt, as: UTF8.self) == #"{"ids":[1]}"#)
            let two = #"[{"fault":"html"},{"fault":"slow","delay_ms":20,"execute":"after"}]"#
            #expect(try await card.request("POST", "/_control/card/faults", two).status == 201)
            let state = try decode(FaultState.self, try await card.request("GET", "/_control/card/faults"))
            #expect(state.orders.map(\.order.fault.kind) == [.responseLost, .html, .slow])
            #expect(state == (try card.control.faults(at: "card")))
            let cleared = try await card.request("DELETE", "/_control/card/faults")
            #expect(try decode(FaultState.self, cleared).orders.isEmpty)
        }
    }

    @Test func `rates are replaced over HTTP`() async throws {
        try await withSimulator { card async throws in
            let rates = #"[{"fault":"throttled","rate":1,"operations":["authorize"],"retry_after":3}]"#
            #expect(try await card.request("PUT", "/_control/card/rates", rates).status == 200)
            #expect(try await card.pay().status == 429)
            #expect(try await card.inquire().status == 404)
            #expect(try await card.request("PUT", "/_control/card/rates", "[]").status == 200)
            #expect(try await card.pay().status == 201)
        }
    }

    @Test func `downtime, forgetting and the clock are set over HTTP`() async throws {
        try await withSimulator { card async throws in
            let down = #"{"for_ms":60000,"mode":"unavailable"}"#
            #expect(try await card.request("POST", "/_control/card/down", down).status == 200)
            #expect(try await card.pay().status == 503)
            #expect(try await card.request("POST", "/_control/card/down", #"{"for_ms":0}"#).status == 200)
            #expect(try await card.pay().status == 201)
            let forget = #"{"key":"\#(F.key)"}"#
            let report = try decode(
                LedgerReport.self, try await card.request("POST", "/_control/card/forget", forget))
            #expect(report.transactions.map(\.status) == [nil])
            #expect(try await card.inquire().status == 404)
            #expect(
                try await card.request("POST", "/_control/card/clock", #"{"offset_ms":60000}"#).status == 200)
            #expect(try await card.pay().transaction().createdAt == "2027-01-15T08:01:00.000Z")
        }
    }

    @Test func `the ledger is printed as JSON and as text`() async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            _ = try await card.capture(value: 1000)
            _ = try await card.refund(value: 300)
            let report = try decode(LedgerReport.self, try await card.request("GET", "/_control/card/ledger"))
            #expect(report == (try await card.control.ledger("card")))
            #expect(report.totals.map(\.net) == [700])
            let summary = try await card.request("GET", "/_control/card/ledger?summary=true")
            #expect(try decode(LedgerReport.self, summary).transactions.isEmpty)
            guard
                case .answer(200, _, let text) = try await card.request(
                    "GET", "/_control/card/ledger?format=text")
            else {
                Issue.record("no text")
                return
            }
            #expect(
                String(decoding: text, as: UTF8.self) == """
                    provider card
                      \(F.key) captured: hold 1200, charge 1000, refund 300, release 200; net 700 JPY
                      total JPY: charged 1000, refunded 300, net 700, held 0
                      charged twice: none
                      requests: authorize 1, capture 1, refund 1
                      faults: none

                    """)
        }
    }

    @Test func `the journal is read over HTTP`() async throws {
        struct Page: Decodable {
            let data: [JournalEntry]
            let count: Int
        }
        try await withSimulator { card async throws in
            _ = try await card.pay()
            _ = try await card.pay()
            _ = try await card.inquire()
            let path = "/_control/card/journal?key=\(F.key)&operation=authorize"
            let page = try decode(Page.self, try await card.request("GET", path))
            #expect(page.count == 2)
            #expect(page.data.map(\.status) == [201, 200])
            #expect(try await card.request("GET", "/_control/card/journal?operation=dance").status == 400)
        }
    }

    @Test func `unknown providers and routes are not found`() async throws {
        try await withSimulator { card async throws in
            #expect(try await card.request("GET", "/_control/nobody/ledger").status == 404)
            #expect(try await card.request("GET", "/_control/card/nothing").status == 404)
            #expect(try await card.request("GET", "/_control/health").status == 200)
        }
    }
}
