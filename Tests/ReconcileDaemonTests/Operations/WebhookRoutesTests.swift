import APIDescription
import MemoryStore
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore

@Suite struct WebhookRoutesTests {
    private let all = "/v1/webhooks"
    private let never = "pay_" + String(repeating: "0", count: 40)

    private func payments(_ page: JSONText) -> [String] {
        page["data"]?.items.compactMap { $0["payment_id"]?.string } ?? []
    }

    @Test func `webhooks are filtered, and paged newest first`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await RunningOperations.run(book) { api in
            let cases: [(query: String, payments: [PaymentID])] = [
                ("", reported.all), ("?caller=shop", Array(reported.all.dropFirst())), ("?caller=unheard", []),
                ("?state=waiting", [reported.other, reported.waiting]), ("?state=delivered", [reported.delivered]),
                ("?state=given_up", [reported.givenUp]), ("?state=given_up&caller=kiosk", []),
                ("?state=waiting&caller=shop", [reported.waiting]),
            ]
            for (query, wanted) in cases {
                #expect(payments(try await api.get(all + query).json()) == wanted.map(\.text), "\(query)")
            }
            let first = try await api.get("\(all)?caller=shop&limit=2").json()
            #expect(payments(first) == [reported.waiting.text, reported.givenUp.text])
            let cursor = try #require(first["next_cursor"]?.string)
            let rest = try await api.get("\(all)?caller=shop&limit=2&cursor=\(cursor)").json()
            #expect(payments(rest) == [reported.delivered.text] && rest["next_cursor"] == .null)
            for (wrong, field) in [
                ("state=done", "state"), ("state=", "state"), ("caller=Shop", "caller"), ("caller=", "caller"),
                ("limit=0", "limit"), ("limit=201", "limit"), ("cursor=x", "cursor"), ("cursor=\(cursor)", "cursor"),
                ("caller=shop&state=waiting&cursor=\(cursor)", "cursor"), ("unheard=1", "unheard"),
                ("caller=shop&caller=shop", "caller"),
            ] {
                let reply = try await api.get("\(all)?\(wrong)")
                #expect(try reply.status == 400 && reply["field"] == field, "\(wrong): \(reply.text)")
            }
        }
    }

    @Test func `a webhook says how far it got`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await RunningOperations.run(book) { api in
            func webhook(_ payment: PaymentID) async throws -> JSONText {
                try await api.get("\(all)/\(payment)").json()
            }
            let now = book.clock.now().rfc3339
            let delivered = try await webhook(reported.delivered)
            #expect(delivered["payment_id"]?.string == reported.delivered.text)
            #expect(delivered["caller"]?.string == "shop" && delivered["state"]?.string == "delivered")
            #expect(delivered["raised"]?.integer == 1 && delivered["delivered"]?.integer == 1)
            #expect(delivered["delivered_at"]?.string == now && delivered["due_at"] == .null)
            #expect(delivered["attempts"]?.integer == 0 && delivered["failure"] == .null)
            let givenUp = try await webhook(reported.givenUp)
            #expect(givenUp["state"]?.string == "given_up" && givenUp["due_at"] == .null)
            #expect(givenUp["delivered"]?.integer == 0 && givenUp["delivered_at"] == .null)
            #expect(givenUp["attempts"]?.integer == 1 && givenUp["failure"]?.string == "http_410")
            let waiting = try await webhook(reported.other)
            #expect(waiting["caller"]?.string == "kiosk" && waiting["state"]?.string == "waiting")
            #expect(waiting["due_at"]?.string != nil && waiting["due_at"] == waiting["raised_at"])
        }
    }

    @Test func `a payment of which nothing was reported has no webhook`() async throws {
        let book = try OperationsBook()
        // Its caller is told of none.
        let payment = try await Scenario(store: book.store, clock: book.clock).settle(.init("order-1")).payment.id
        try await RunningOperations.run(book) { api in
            for id in [payment.text, never] {
                for (method, route) in [("GET", ""), ("POST", "/redeliver")] {
                    let reply = try await api.send(method, "\(all)/\(id)\(route)")
                    #expect(try reply.status == 404 && reply["type"] == "/problems/not-found", "\(reply.text)")
                    #expect(try reply["detail"]?.contains("reported") == true)
                }
            }
            for id in ["x", "pay_1"] {
                let reply = try await api.get("\(all)/\(id)")
                #expect(try reply.status == 400 && reply["field"] == "id", "\(reply.text)")
            }
        }
    }

    @Test func `whatever became of a webhook, it is due again at once`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        book.clock.advance(by: .hours(1))
        let now = book.clock.now()
        try await RunningOperations.run(book) { api in
            for payment in reported.all {
                let reply = try await api.send("POST", "\(all)/\(payment)/redeliver", as: "ken")
                let webhook = try reply.json()
                #expect(reply.status == 202 && webhook["payment_id"]?.string == payment.text, "\(reply.text)")
                #expect(webhook["state"]?.string == "waiting" && webhook["due_at"]?.string == now.rfc3339)
                #expect(webhook["raised"]?.integer == 2 && webhook["raised_at"]?.string == now.rfc3339)
                #expect(webhook["attempts"]?.integer == 0 && webhook["failure"] == .null)
                #expect(try await api.get("\(all)/\(payment)").text == reply.text)
            }
        }
        let request = WebhookClaimRequest(caller: try CallerID("shop"), limit: 10, leaseFor: .minutes(1))
        let due = try await book.store.claimWebhooks(request).map(\.webhook.payment)
        #expect(Set(due) == [reported.delivered, reported.givenUp, reported.waiting])
    }

    @Test func `all that were given up of one caller are due again, and nothing else`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await RunningOperations.run(book) { api in
            // The second time none is left.
            for (caller, count) in [("kiosk", 0), ("unheard", 0), ("shop", 1), ("shop", 0)] {
                let reply = try await api.post("\(all)/redeliver", #"{"caller":"\#(caller)"}"#)
                #expect(try reply.status == 202 && reply.json()["redelivered"]?.integer == Int64(count), "\(caller)")
            }
            let cases: [(body: String, field: String?)] = [
                ("{}", "caller"), (#"{"caller":5}"#, "caller"), (#"{"caller":null}"#, "caller"),
                (#"{"caller":""}"#, "caller"), (#"{"caller":"The Shop"}"#, "caller"),
                (#"{"caller":"shop","state":"delivered"}"#, "state"), ("[]", nil), (#"{"caller":"shop""#, nil),
            ]
            for (body, field) in cases {
                let reply = try await api.post("\(all)/redeliver", body)
                #expect(try reply.status == 400 && reply["field"] == field, "\(body): \(reply.text)")
            }
        }
        let states = try await book.store.webhooks(WebhookQuery()).items.map { ($0.payment, $0.state, $0.raised) }
        for (payment, state, raised) in states {
            #expect(state == (payment == reported.delivered ? .delivered : .waiting))
            #expect(raised == (payment == reported.givenUp ? 2 : 1))
        }
    }

    @Test func `a viewer reads webhooks, and has none delivered again`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        let before = try await book.store.webhooks(WebhookQuery()).items
        try await RunningOperations.run(book) { api in
            for target in [all, "\(all)/\(reported.givenUp)"] {
                #expect(try await api.send("GET", target, as: "vera").status == 200)
            }
            let one = try await api.send("POST", "\(all)/\(reported.givenUp)/redeliver", as: "vera")
            let many = try await api.post("\(all)/redeliver", #"{"caller":"shop"}"#, as: "vera")
            for reply in [one, many] {
                #expect(try reply.status == 403 && reply["detail"]?.contains("operator") == true, "\(reply.text)")
            }
        }
        #expect(try await book.store.webhooks(WebhookQuery()).items == before)
    }

    @Test func `a site that is not active shows webhooks, and says where they are delivered again`() async throws {
        let book = try OperationsBook()
        let reported = try await ReportedPayments(book)
        try await RunningOperations.run(book) { api in
            #expect(try await api.send("POST", "/v1/site/demote").status == 200)
            #expect(payments(try await api.get(all).json()).count == 4)
            let one = try await api.send("POST", "\(all)/\(reported.givenUp)/redeliver")
            let many = try await api.post("\(all)/redeliver", #"{"caller":"shop"}"#)
            for reply in [one, many] {
                #expect(try reply.status == 409 && reply["type"] == "/problems/state-conflict", "\(reply.text)")
                #expect(try reply["detail"]?.contains("/v1/site names it") == true)
            }
        }
    }
}
