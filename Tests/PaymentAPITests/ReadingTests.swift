import Foundation
import HTTPEdge
import PaymentCore
import Reconciler
import StrictJSON
import Testing

@testable import PaymentAPI

struct ReadingTests {
    @Test func `a payment is read, another caller's is not found`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run(points: .declines)
            let payment = sample.payment
            api.operations.set { $0.payments = [payment] }
            let answer = try await api.get("/v1/payments/\(payment.id.text)")
            #expect(answer.status == 200)
            #expect(answer.body == PaymentRendering.payment(payment).bytes)
            #expect(try answer.string("state") == "failed")
            let other = try await api.get("/v1/payments/\(payment.id.text)", token: RunningAPI.otherToken)
            #expect(other.status == 404)
            #expect(try other.string("type") == "/problems/not-found")
            #expect(try await api.get("/v1/payments/pay_7").status == 400)
        }
    }

    @Test func `filters reach the query, with the caller set by the edge`() async throws {
        try await RunningAPI.run { api in
            let answer = try await api.get(
                "/v1/payments?reference=a%2Fb+c%C3%BC&state=failed&provider=cards"
                    + "&waiting_for=people&created_after=2026-03-02T09:25:00.5Z&limit=7")
            #expect(answer.status == 200)
            #expect(answer.text == #"{"data":[],"next_cursor":null}"#)
            let query = try #require(api.operations.queries.first)
            #expect(query.caller?.name == "shop" && query.reference == "a/b cü" && query.state == .failed)
            #expect(query.provider?.name == "cards" && query.limit == 7 && query.waitsFor == .people)
            #expect(query.createdAfter?.rfc3339 == "2026-03-02T09:25:00.500Z")
        }
    }

    @Test(arguments: [
        ("limit=0", "limit"), ("limit=201", "limit"), ("limit=1.0", "limit"), ("limit=", "limit"),
        ("limit=1&limit=2", "limit"), ("state=done", "state"), ("provider=A", "provider"),
        ("waiting_for=godot", "waiting_for"), ("waiting_for=", "waiting_for"),
        ("reference=", "reference"), ("created_after=yesterday", "created_after"), ("caller=kiosk", "caller"),
        ("key=k", "key"),
        ("reference=%zz", "query"), ("reference=%ff", "query"), ("reference=%00", "query"),
        ("cursor=", "cursor"), ("cursor=AAAA", "cursor"), ("cursor=*", "cursor"),
    ])
    func `a bad parameter names itself`(_ query: String, _ field: String) async throws {
        try await RunningAPI.run { api in
            let answer = try await api.get("/v1/payments?\(query)")
            #expect(answer.status == 400)
            #expect(try answer.string("field") == field)
            #expect(api.operations.queries.isEmpty)
        }
    }

    @Test func `pages follow each other by cursor, which belongs to filters and caller`() async throws {
        try await RunningAPI.run { api in
            let payments = try (0..<5).map { try SamplePayment(key: "key-\($0)").payment }
            api.operations.set { $0.payments = payments }
            var seen: [String] = []
            var cursor: String?
            var first: String?
            repeat {
                let answer = try await api.get(
                    "/v1/payments?limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
                #expect(answer.status == 200)
                let data = try #require(try answer.json["data"] as? [[String: Any]])
                seen += data.compactMap { $0["id"] as? String }
                cursor = try answer.string("next_cursor")
                first = first ?? cursor
            } while cursor != nil && seen.count < 10
            #expect(seen == payments.map(\.id.text))
            let good = try #require(first)
            #expect(try await api.get("/v1/payments?limit=1&cursor=\(good)").status == 200)
            #expect(try await api.get("/v1/payments?state=failed&cursor=\(good)").status == 400)
            #expect(try await api.get("/v1/payments?waiting_for=time&cursor=\(good)").status == 400)
            let other = try await api.get("/v1/payments?cursor=\(good)", token: RunningAPI.otherToken)
            #expect(other.status == 400)
            for index in good.indices {
                var changed = Array(good)
                let offset = good.distance(from: good.startIndex, to: index)
                changed[offset] = changed[offset] == "A" ? "B" : "A"
                let answer = try await api.get("/v1/payments?cursor=\(String(changed))")
                #expect(answer.status == 400, "\(offset)")
            }
            #expect(try await api.get("/v1/payments?cursor=\(good.dropLast())").status == 400)
        }
    }

    @Test func `the audit trail is paged, oldest first, and the last page has no cursor`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run()
            let payment = sample.payment
            let entries = sample.entries
            api.operations.set {
                $0.payments = [payment]
                $0.entries = entries
            }
            let path = "/v1/payments/\(payment.id.text)/events"
            var seen: [Int] = []
            var cursor: String?
            repeat {
                let answer = try await api.get(path + "?limit=2" + (cursor.map { "&cursor=\($0)" } ?? ""))
                let data = try #require(try answer.json["data"] as? [[String: Any]])
                #expect(!data.isEmpty)
                seen += data.compactMap { $0["sequence"] as? Int }
                cursor = try answer.string("next_cursor")
            } while cursor != nil && seen.count < 100
            #expect(seen == entries.map { Int($0.sequence) })
            let all = try await api.get(path)
            let first = try #require((try all.json["data"] as? [[String: Any]])?.first)
            #expect(first["type"] as? String == "created" && first["leg"] is NSNull)
            #expect(first["hash"] as? String == entries.first?.hash.hex)
            #expect(!all.text.contains("tok_9f3c2a7b1234"))
            #expect(try await api.get(path + "?cursor=AAAA").status == 400)
            #expect(try await api.get(path, token: RunningAPI.otherToken).status == 404)
        }
    }

    @Test func `a caller reads how far the webhook of its payment got, and of no other`() async throws {
        try await RunningAPI.run { api in
            let (told, untold) = (try SamplePayment().payment, try SamplePayment(key: "other").payment)
            let webhook = Webhook(
                payment: told.id, caller: told.caller, reported: nil, raised: 3, raisedAt: SamplePayment.now,
                delivered: 2, deliveredAt: SamplePayment.now, dueAt: SamplePayment.now + .seconds(30), attempts: 1,
                failure: "http_500")
            api.operations.set {
                $0.payments = [told, untold]
                $0.webhooks = [webhook]
            }
            let path = "/v1/payments/\(told.id.text)/webhook"
            let answer = try await api.get(path)
            let (now, due) = (SamplePayment.now.rfc3339, (SamplePayment.now + .seconds(30)).rfc3339)
            #expect(answer.status == 200)
            #expect(
                answer.text == #"{"payment_id":"\#(told.id.text)","state":"waiting","raised":3,"raised_at":"\#(now)","#
                    + #""delivered":2,"delivered_at":"\#(now)","due_at":"\#(due)","#
                    + #""attempts":1,"failure":"http_500"}"#)
            #expect(try await api.get(path, token: RunningAPI.otherToken).status == 404)
            #expect(try await api.get(path + "?limit=1").status == 400)
            let never = try await api.get("/v1/payments/\(untold.id.text)/webhook")
            #expect(never.status == 404)
            #expect(
                try never.string("detail") == "Nothing of this payment was ever reported: it has not come to rest, or "
                    + "its caller had no webhook then.")
            api.operations.set {
                $0.webhookFailure = StoreFailure(.unavailable, operation: "read", cause: "refused")
            }
            #expect(try await api.get(path).status == 503)
        }
    }

    @Test func `a store that is not there is 503 with retry-after`() async throws {
        try await RunningAPI.run { api in
            api.operations.set {
                $0.readFailure = .store(StoreFailure(.unavailable, operation: "read", cause: "refused"))
            }
            let id = try SamplePayment().payment.id.text
            for target in ["/v1/payments", "/v1/payments/\(id)", "/v1/payments/\(id)/events"] {
                let answer = try await api.get(target)
                #expect(answer.status == 503 && answer.headers["retry-after"] == "1")
            }
        }
    }

    @Test func `operators read all callers' payments through the same rendering`() async throws {
        let shop = try SamplePayment().payment
        let reader = PaymentReader(store: ReadOnlyStore(payments: [shop]))
        let one = await reader.payment(shop.id.text)
        #expect(one.status == 200 && one.body == PaymentRendering.payment(shop).bytes)
        let list = await reader.list(query: "limit=1")
        #expect(String(decoding: list.body, as: UTF8.self).contains(shop.id.text))
        for query in ["limit=0", "key=", "key=a+b", "key=%C3%BC", "key=" + String(repeating: "k", count: 256)] {
            #expect(await reader.list(query: query).status == 400, "\(query)")
        }
        #expect(await reader.payment("x").status == 400)
        let missing = try SamplePayment(key: "other").payment.id.text
        #expect(await reader.payment(missing).status == 404)
        #expect(await reader.events(of: missing, query: nil).status == 404)
        #expect(await reader.events(of: shop.id.text, query: nil).status == 200)
    }
}
