import HTTPTransport
import ProviderSimulator
import Testing

@Suite struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let body: String
        let status: Int
        let field: String?
        var testDescription: String { name }
    }

    static func leg(_ amount: String, provider: String = "card", extra: String = "") -> String {
        #"{"provider":"\#(provider)","instrument":"tok_1234","amount":\#(amount)\#(extra)}"#
    }

    static func body(_ amount: String, _ leg: String, extra: String = "") -> String {
        #"{"amount":\#(amount),"legs":[\#(leg)]\#(extra)}"#
    }

    static let good = #"{"value":1200,"currency":"JPY"}"#

    /// What the published schema refuses is 400; what only the daemon can know is 422.
    static let cases: [Case] = [
        Case(name: "not JSON", body: "amount=1200", status: 400, field: nil),
        Case(name: "cut off", body: #"{"amount":{"value":12"#, status: 400, field: nil),
        Case(name: "nested too deep", body: String(repeating: "[", count: 100_00), status: 400, field: nil),
        Case(
            name: "too large", body: #"{"reference":"\#(String(repeating: "x", count: 70_000))"}"#, status: 413,
            field: nil),
        Case(
            name: "negative", body: body(#"{"value":-1,"currency":"JPY"}"#, leg(good)), status: 400,
            field: "amount.value"),
        Case(
            name: "fractional", body: body(#"{"value":12.5,"currency":"JPY"}"#, leg(good)), status: 400,
            field: "amount.value"),
        Case(
            name: "overflowing", body: body(#"{"value":9223372036854775808,"currency":"JPY"}"#, leg(good)),
            status: 400, field: "amount.value"),
        Case(
            name: "zero", body: body(#"{"value":0,"currency":"JPY"}"#, leg(good)), status: 400, field: "amount.value"),
        Case(
            name: "unknown currency", body: body(#"{"value":1200,"currency":"XYZ"}"#, leg(good)), status: 422,
            field: "amount.currency"),
        Case(
            name: "unknown provider", body: body(good, leg(good, provider: "bank")), status: 422,
            field: "legs[0].provider"),
        Case(name: "unknown field", body: body(good, leg(good), extra: #","amonut":1"#), status: 400, field: "amonut"),
        Case(
            name: "unknown field of a leg", body: body(good, leg(good, extra: #","note":1"#)), status: 400,
            field: "legs[0].note"),
        Case(
            name: "sum differs", body: body(good, leg(#"{"value":1100,"currency":"JPY"}"#)), status: 422,
            field: "legs"),
        Case(
            name: "two currencies", body: body(good, leg(#"{"value":1200,"currency":"EUR"}"#)), status: 422,
            field: "legs[0].amount.currency"),
        Case(
            name: "a card number", body: body(good, leg(good), extra: #","reference":"4242 4242 4242 4242""#),
            status: 422, field: "reference"),
        Case(
            name: "manual capture in one step",
            body: body(good, leg(good, provider: "balance"), extra: #","capture":"manual""#), status: 422,
            field: "capture"),
    ]

    @Test func `bad input is refused with the field, and nothing is stored or sent`() async throws {
        try await World.run { world, client in
            for (index, bad) in BadInputTests.cases.enumerated() {
                let answer = try await client.create(bad.body, key: "bad-\(index)")
                #expect(answer.status == bad.status, "\(bad.name): \(answer.status) \(answer.text)")
                #expect(answer.fields["Content-Type"] == "application/problem+json", "\(bad.name)")
                #expect(!answer.text.contains("4242"), "\(bad.name)")
                if let field = bad.field {
                    #expect(answer.json["field"] as? String == field, "\(bad.name): \(answer.text)")
                }
            }
            #expect((try await client.send(.get, "/v1/payments").json["data"] as? [Any])?.isEmpty == true)
            for provider in world.simulator.providers {
                #expect(try await world.simulator.journal(provider).isEmpty)
            }
            // A key that was refused is not spent.
            #expect(try await client.create(Bodies.card(), key: "bad-0").status == 201)
        }
    }

    @Test func `no key, a malformed key, and another media type are refused`() async throws {
        try await World.run { _, client in
            let missing = try await client.send(.post, "/v1/payments", body: Bodies.card())
            #expect(missing.status == 400)
            #expect((missing.json["type"] as? String)?.hasSuffix("/problems/idempotency-key-missing") == true)
            let long = try await client.create(Bodies.card(), key: String(repeating: "k", count: 256))
            #expect(long.status == 400)
            #expect(try await client.send(.get, "/v1/payments/pay_1").status == 400)
            let unknown = "pay_" + String(repeating: "0", count: 40)
            #expect(try await client.send(.get, "/v1/payments/\(unknown)").status == 404)
            #expect(try await client.send(.get, "/v1/payments?limit=201").status == 400)
        }
    }
}
