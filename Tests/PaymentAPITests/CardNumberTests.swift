import Foundation
import PaymentCore
import Reconciler
import Testing

@testable import PaymentAPI

struct CardNumberTests {
    /// A test number of the card schemes; it passes the Luhn check.
    private static let number = "4242424242424242"

    @Test(arguments: [
        (#""order-2026-000731""#, #""4242424242424242""#, "reference"),
        (#""order-2026-000731""#, #""paid by 4242-4242-4242-4242""#, "reference"),
        (#""order-2026-000731""#, #""4242 4242 4242 \u00342 42""#, "reference"),
        (#""order-2026-000731""#, "4242424242424242", "reference"),
        (#""c-5512""#, #""4242424242424242""#, "metadata.cart"),
        (#""cart""#, #""4242424242424242""#, "metadata.…"),
        // Only a number is an amount: a text under the same name is looked at like any other.
        (#""cart":"c-5512""#, #""value":"4242424242424242""#, "metadata.value"),
        ("tok_9f3c2a7b1234", "4242424242424242", "legs[0].instrument"),
        (#""provider":"cards""#, #""provider":"cards","pan":"4242424242424242""#, "legs[0].pan"),
        (#""capture":"automatic""#, #""4242424242424242":1"#, "…"),
        (#""provider":"cards""#, #""provider":"4242424242424242""#, "legs[0].provider"),
        (#""capture":"automatic""#, #""x":[[{"y":"4242424242424242"}]]"#, "x[0][0].y"),
    ])
    func `a card number is refused wherever it is, and never repeated`(
        _ from: String, _ to: String, _ field: String
    ) async throws {
        try await RunningAPI.run { api in
            let answer = try await api.create(RunningAPI.twoLegs.replacingOccurrences(of: from, with: to))
            #expect(answer.status == 422, "\(answer.text)")
            #expect(try answer.string("type") == "/problems/card-number-refused")
            #expect(try answer.string("field") == field)
            #expect(!answer.text.contains("4242"))
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a card number in the key, a query or a path is refused and not repeated`() async throws {
        try await RunningAPI.run { api in
            let key = try await api.create(key: "order/\(Self.number)")
            #expect(key.status == 422)
            #expect(try key.string("field") == "Idempotency-Key")
            let query = try await api.get("/v1/payments?reference=\(Self.number)")
            #expect(query.status == 422)
            #expect(try query.string("field") == "reference")
            let name = try await api.get("/v1/payments?\(Self.number)=1")
            #expect(name.status == 422)
            let path = try await api.get("/v1/payments/\(Self.number)")
            #expect(path.status == 422)
            for answer in [key, query, name, path] {
                #expect(try answer.string("type") == "/problems/card-number-refused")
                #expect(!answer.text.contains("4242"))
            }
            #expect(api.operations.calls.isEmpty && api.operations.queries.isEmpty)
        }
    }

    @Test func `a member that is there twice is not repeated if its name is a card number`() async throws {
        try await RunningAPI.run { api in
            let answer = try await api.create("{\"\(Self.number)\":1,\"\(Self.number)\":2}")
            #expect(answer.status == 400)
            #expect(!answer.text.contains("4242"))
        }
    }

    @Test func `a field that accepts card numbers takes one, and every other one still refuses it`() async throws {
        var limits = APILimits()
        limits.cardNumbers = CardNumberFields(accepting: [.key, .reference, .metadata, .instrument])
        let number = Self.number
        try await RunningAPI.run(limits: limits) { api in
            let body = RunningAPI.twoLegs.replacingOccurrences(of: "order-2026-000731", with: number)
                .replacingOccurrences(of: "c-5512", with: number)
                .replacingOccurrences(of: "tok_9f3c2a7b1234", with: number)
            _ = try await api.create(body, key: number)
            _ = try await api.get("/v1/payments?reference=\(number)")
            #expect(api.operations.asked.count == 1 && api.operations.queries.first?.reference == number)
            let provider = body.replacingOccurrences(of: #""cards""#, with: "\"\(number)\"")
            let refused = try await api.create(provider)
            #expect(try refused.string("field") == "legs[0].provider")
            let path = try await api.get("/v1/payments/\(number)")
            #expect(try path.string("type") == "/problems/card-number-refused")
        }
    }

    @Test(arguments: CardNumberFields.Field.allCases)
    func `where only one field accepts them, the others refuse`(_ field: CardNumberFields.Field) async throws {
        var limits = APILimits()
        limits.cardNumbers = CardNumberFields(accepting: [field])
        let number = Self.number
        try await RunningAPI.run(limits: limits) { api in
            func isRefused(_ from: String, key: String = "key-1") async throws -> Bool {
                let body = RunningAPI.twoLegs.replacingOccurrences(of: from, with: number)
                return try await api.create(body, key: key).text.contains("/problems/card-number-refused")
            }
            let candidates: [(CardNumberFields.Field, String)] = [
                (.reference, "order-2026-000731"), (.metadata, "c-5512"), (.instrument, "tok_9f3c2a7b1234"),
            ]
            for (candidate, text) in candidates {
                let refused = try await isRefused(text)
                #expect(refused == (candidate != field), "\(candidate)")
            }
            let refused = try await isRefused("nothing of it", key: number)
            #expect(refused == (field != .key))
        }
    }

    @Test(arguments: [(number, 0), ("1000000000001", 0), ("1000000000000", 1)])
    func `an amount is an amount, and at most so large that sums fit`(value: String, taken: Int) async throws {
        try await RunningAPI.run { api in
            let amount = #"{"value":\#(value),"currency":"JPY"}"#
            let leg = #"{"provider":"cards","instrument":"tok_1","amount":\#(amount)}"#
            let answer = try await api.create(#"{"amount":\#(amount),"legs":[\#(leg)]}"#)
            #expect(api.operations.asked.count == taken)
            guard taken == 0 else { return }
            #expect(answer.status == 422 && answer.text.contains("at most 1000000000000 minor units"))
            #expect(answer.text.contains("amount.value") && !answer.text.contains(value))
        }
    }
}
