import Foundation
import PaymentCore
import Reconciler
import Testing

@testable import PaymentAPI

/// A change of the valid body, and what must come of it.
struct BadBody: Sendable, CustomStringConvertible {
    let from: String
    let to: String
    let status: Int
    let field: String?

    init(_ from: String, _ to: String, _ status: Int, _ field: String?) {
        self.from = from
        self.to = to
        self.status = status
        self.field = field
    }

    var body: String { RunningAPI.twoLegs.replacingOccurrences(of: from, with: to) }
    var description: String { "\(from) → \(to.prefix(60))" }
}

struct RequestValidationTests {
    /// Metadata with so many members.
    private static func metadata(_ count: Int) -> String {
        "{\((0..<count).map { #""m\#($0)":"x""# }.joined(separator: ","))}"
    }

    private static let malformed = [
        BadBody(#"{"cart":"c-5512"}"#, metadata(21), 400, "metadata"),
        BadBody(#""value":1200"#, #""value":1200.0"#, 400, "legs[0].amount.value"),
        BadBody(#""value":300,"#, #""value":3e2,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":"300","#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":-300,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":-0,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":0,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":9223372036854775808,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":null,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":300,"#, #""value":true,"#, 400, "legs[1].amount.value"),
        BadBody(#""value":1500,"#, "", 400, "amount.value"),
        BadBody(#"{"value":1500,"currency":"JPY"}"#, "1500", 400, "amount"),
        BadBody(#"1500,"currency":"JPY""#, #"1500,"currency":"jpy""#, 400, "amount.currency"),
        BadBody(#"1500,"currency":"JPY""#, #"1500,"currency":"\u212AWD""#, 400, "amount.currency"),
        BadBody(#"1500,"currency":"JPY""#, #"1500,"currency":7"#, 400, "amount.currency"),
        BadBody(#""provider":"cards""#, #""provider":"Cards!""#, 400, "legs[0].provider"),
        BadBody(#""provider":"cards","#, "", 400, "legs[0].provider"),
        BadBody("tok_9f3c2a7b1234", "", 400, "legs[0].instrument"),
        BadBody("tok_9f3c2a7b1234", "tok 9f3c", 400, "legs[0].instrument"),
        BadBody("tok_9f3c2a7b1234", String(repeating: "t", count: 129), 400, "legs[0].instrument"),
        BadBody(#""provider":"cards""#, #""provider":"cards","note":1"#, 400, "legs[0].note"),
        BadBody(#""capture":"automatic""#, #""capture":"later""#, 400, "capture"),
        BadBody(#""capture":"automatic""#, #""capture":null"#, 400, "capture"),
        BadBody(#""capture":"automatic""#, #""captrue":"automatic""#, 400, "captrue"),
        BadBody(#""order-2026-000731""#, #""""#, 400, "reference"),
        BadBody("order-2026-000731", String(repeating: "ü", count: 129), 400, "reference"),
        BadBody(#"{"cart":"c-5512"}"#, #"{"cart":7}"#, 400, "metadata.cart"),
        BadBody(#"{"cart":"c-5512"}"#, #"{"":"x"}"#, 400, "metadata.…"),
        BadBody(#"{"cart":"c-5512"}"#, "[]", 400, "metadata"),
        BadBody("c-5512", String(repeating: "x", count: 501), 400, "metadata.cart"),
        BadBody("2026-03-02T09:25:00Z", "2026-03-02T09:25:00+09:00", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "2026-03-02 09:25:00Z", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "2026-03-02T09:25:00-00:00", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "2026-03-02T09:25:00+0000", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "+2026-03-02T09:25:00+00:00", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "2026-02-30T09:25:00Z", 400, "deadline"),
        BadBody("2026-03-02T09:25:00Z", "tomorrow", 400, "deadline"),
        BadBody(#""2026-03-02T09:25:00Z""#, "1772443500", 400, "deadline"),
        BadBody(#""capture":"automatic""#, #""return_url":"http://shop.example/back""#, 400, "return_url"),
        BadBody(#""capture":"automatic""#, #""return_url":"https://a@shop.example/back""#, 400, "return_url"),
        BadBody(#""capture":"automatic""#, #""return_url":7"#, 400, "return_url"),
        BadBody(#""capture":"automatic""#, #""amount":1"#, 400, "amount"),
        BadBody(#""capture":"automatic","#, #""capture":"automatic","#.dropLast() + ",,", 400, nil),
    ]

    private static let impossible = [
        BadBody(#""value":1500"#, #""value":1400"#, 422, "legs"),
        BadBody(#"300,"currency":"JPY""#, #"300,"currency":"EUR""#, 422, "legs[1].amount.currency"),
        BadBody(#"1500,"currency":"JPY""#, #"1500,"currency":"ZZZ""#, 422, "amount.currency"),
        BadBody(#""provider":"cards""#, #""provider":"wallet""#, 422, "legs[0].provider"),
        BadBody(#""provider":"cards""#, #""provider":"points""#, 422, "legs[1].provider"),
        BadBody(#""capture":"automatic""#, #""capture":"manual""#, 422, "capture"),
        BadBody("2026-03-02T09:25:00Z", "2026-03-02T09:15:04Z", 422, "deadline"),
        BadBody(
            #"1200,"currency":"JPY"}},"#, #"1195,"currency":"JPY"}},"#, 422, "legs"),
    ]

    @Test(arguments: malformed + impossible)
    func `a bad body names its field, and asks for nothing`(_ bad: BadBody) async throws {
        try await RunningAPI.run { api in
            let answer = try await api.create(bad.body)
            #expect(answer.status == bad.status, "\(answer.text)")
            #expect(try answer.string("type") == "/problems/invalid-request")
            #expect(try answer.string("field") == bad.field)
            #expect(try answer.json["retryable"] as? Bool == false)
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `the body of these tests is good`() async throws {
        try await RunningAPI.run { api in
            _ = try await api.create()
            guard case .create(let request, _, let wait) = try #require(api.operations.asked.first) else {
                Issue.record("no create")
                return
            }
            #expect(request.caller.name == "shop" && request.key.text == "key-1")
            #expect(request.amount.value == 1_500 && request.legs.map(\.amount.value) == [1_200, 300])
            #expect(request.reference == "order-2026-000731" && request.metadata == ["cart": "c-5512"])
            #expect(request.deadline?.rfc3339 == "2026-03-02T09:25:00.000Z")
            #expect(request.captureMode == .automatic && wait == .seconds(5))
        }
    }

    @Test func `a moment in UTC may be written as many libraries write it`() async throws {
        try await RunningAPI.run { api in
            let body = RunningAPI.twoLegs.replacing("09:25:00Z", with: "09:25:00.250000+00:00")
            _ = try await api.create(body)
            guard case .create(let request, _, _) = try #require(api.operations.asked.first) else {
                Issue.record("no create")
                return
            }
            #expect(request.deadline?.rfc3339 == "2026-03-02T09:25:00.250Z")
        }
    }

    @Test func `metadata may have as many members as the description says`() async throws {
        try await RunningAPI.run { api in
            let twenty = Self.metadata(20)
            _ = try await api.create(RunningAPI.twoLegs.replacingOccurrences(of: #"{"cart":"c-5512"}"#, with: twenty))
            guard case .create(let request, _, _) = try #require(api.operations.asked.first) else {
                Issue.record("no create")
                return
            }
            #expect(request.metadata.count == 20)
        }
    }

    @Test func `an amount that an adapter cannot convert is 422 with the adapter's words`() async throws {
        try await RunningAPI.run { api in
            let body = RunningAPI.twoLegs
                .replacingOccurrences(of: "1200", with: "1195").replacingOccurrences(of: ":300", with: ":305")
            let answer = try await api.create(body)
            #expect(answer.status == 422)
            #expect(try answer.string("field") == "legs[1].amount.value")
            #expect(try answer.string("detail") == "Must be a multiple of 10.")
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a replay after the deadline gets its answer`() async throws {
        try await RunningAPI.run { api in
            let past = RunningAPI.twoLegs.replacingOccurrences(of: "09:25:00Z", with: "09:00:00Z")
            var sample = try SamplePayment()
            sample.run()
            let payment = sample.payment
            api.operations.set {
                $0.payments = [payment]
                $0.result = .success(
                    .replay(
                        StoredAnswer(
                            status: 201, contentType: "application/json", location: nil, body: [123, 125])))
            }
            let answer = try await api.create(past)
            #expect(answer.status == 201 && answer.text == "{}")
            let fresh = try await api.create(past, key: "key-2")
            #expect(fresh.status == 422)
            #expect(api.operations.asked.count == 1)
        }
    }

    @Test(arguments: [
        ("capture", #"{"legs":[]}"#, 400, "legs"),
        ("capture", #"{"legs":[{"index":8,"amount":{"value":1,"currency":"JPY"}}]}"#, 400, "legs[0].index"),
        ("capture", #"{"legs":[{"index":0.0,"amount":{"value":1,"currency":"JPY"}}]}"#, 400, "legs[0].index"),
        (
            "capture", #"{"legs":[{"index":0,"amount":{"value":0,"currency":"JPY"}}]}"#, 400,
            "legs[0].amount.value"
        ),
        ("capture", #"{"amount":{"value":1,"currency":"JPY"}}"#, 400, "amount"),
        ("cancel", #"{"reason":""}"#, 400, "reason"),
        ("cancel", #"{"reason":7}"#, 400, "reason"),
        ("cancel", #"{"why":"x"}"#, 400, "why"),
        ("refunds", #"{"legs":[],"amount":{"value":1,"currency":"JPY"}}"#, 400, "amount"),
        ("refunds", #"{"amount":{"value":1}}"#, 400, "amount.currency"),
    ])
    func `a bad body of an operation names its field`(
        _ route: String, _ body: String, _ status: Int, _ field: String
    ) async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            let answer = try await api.send("POST", "/v1/payments/\(id)/\(route)", body: body)
            #expect(answer.status == status)
            #expect(try answer.string("field") == field)
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a caller's payment above its largest is refused, another caller's is not`() async throws {
        var limits = APILimits()
        let jpy = try #require(Currency(code: "JPY"))
        limits.largestAmounts = [try CallerID("shop"): [jpy: 1_000]]
        @Sendable func body(_ value: Int, _ currency: String = "JPY") -> String {
            let amount = #"{"value":\#(value),"currency":"\#(currency)"}"#
            let leg = #"{"provider":"cards","instrument":"tok-1","amount":\#(amount)}"#
            return #"{"amount":\#(amount),"reference":"o-1","legs":[\#(leg)]}"#
        }
        try await RunningAPI.run(limits: limits) { api in
            let refused = try await api.create(body(1_001))
            #expect(refused.status == 422)
            #expect(try refused.string("field") == "amount.value", "\(String(describing: try? refused.json))")
            #expect(try refused.string("detail") == "Must be at most 1000 minor units of JPY for this caller.")
            #expect(api.operations.asked.isEmpty)
            _ = try await api.create(body(1_000))
            _ = try await api.create(body(1_001, "EUR"))
            _ = try await api.send("POST", "/v1/payments", body: body(1_001), token: RunningAPI.otherToken)
            #expect(api.operations.asked.count == 3, "\(api.operations.calls)")
        }
    }

    @Test func `the same leg twice is 422`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            let leg = #"{"index":0,"amount":{"value":1,"currency":"JPY"}}"#
            let answer = try await api.send(
                "POST", "/v1/payments/\(id)/refunds", body: "{\"legs\":[\(leg),\(leg)]}")
            #expect(answer.status == 422)
            #expect(try answer.string("field") == "legs[1].index")
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a body that is no JSON, too deep or of another type is refused`() async throws {
        try await RunningAPI.run { api in
            for body in ["", "{", "\u{FEFF}{}", "{}{}", "{'a':1}", #"{"a":"\ud800"}"#, "[1,]", "nul"] {
                #expect(try await api.create(body).status == 400, "\(body)")
            }
            let deep = String(repeating: "[", count: 17) + String(repeating: "]", count: 17)
            let answer = try await api.create(deep)
            #expect(answer.status == 400)
            #expect(try #require(try answer.string("detail")).contains("nested too deeply"))
            for type in ["text/plain", "application/json; charset=latin1", "application/jsonp"] {
                let answer = try await api.send("POST", "/v1/payments", body: "{}", contentType: type)
                #expect(answer.status == 415)
                #expect(try answer.string("type") == "/problems/unsupported-media-type")
            }
            #expect(try await api.send("POST", "/v1/payments", body: "{}", contentType: nil).status == 415)
            let good = try await api.send(
                "POST", "/v1/payments", body: "{}", contentType: "Application/JSON; charset=\"UTF-8\"")
            #expect(good.status == 400)
            #expect(try good.string("field") == "amount")
            #expect(api.operations.calls.isEmpty)
        }
    }
}
