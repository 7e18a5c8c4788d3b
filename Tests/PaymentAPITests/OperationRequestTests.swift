import Foundation
import PaymentCore
import Reconciler
import StrictJSON
import Testing

@testable import PaymentAPI

struct OperationRequestTests {
    @Test func `capture, cancel and refund pass on what was asked`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment(legs: 1).payment
            let id = payment.id
            api.operations.set { $0.payments = [payment] }
            let amount = #"{"value":200,"currency":"JPY"}"#
            let money = try Money(200, Sample.yen)
            let legs = #"{"legs":[{"index":0,"amount":\#(amount)}],"reason":"one item"}"#
            let path = "/v1/payments/\(id.text)"
            _ = try await api.send("POST", path + "/capture", headers: [("Prefer", "wait=9")])
            _ = try await api.send(
                "POST", path + "/capture", body: #"{"legs":[{"index":0,"amount":\#(amount)}]}"#)
            _ = try await api.send("POST", path + "/cancel", body: #"{"reason":"left"}"#)
            _ = try await api.send("POST", path + "/refunds")
            _ = try await api.send("POST", path + "/refunds", body: legs)
            _ = try await api.send("POST", path + "/refunds", body: "{\"amount\":\(amount)}")
            _ = try await api.send("POST", path + "/reconcile", key: nil)
            let asked = api.operations.asked
            try #require(asked.count == 7)
            guard case .capture(let command, nil) = asked[0], case .capture(_, let captured) = asked[1],
                case .cancel(_, let reason) = asked[2], case .refund(_, nil, nil) = asked[3],
                case .refund(_, let byLeg, let why) = asked[4], case .refund(_, let only, nil) = asked[5],
                case .reconcile(let caller, let reconciled, let wait) = asked[6]
            else {
                Issue.record("\(asked)")
                return
            }
            #expect(command.payment == id && command.caller.name == "shop" && command.key.text == "key-1")
            #expect(command.wait == .seconds(9))
            #expect(captured == [0: money] && reason == "left")
            #expect(byLeg == [0: money] && why == "one item" && only == [0: money])
            #expect(caller.name == "shop" && reconciled == id && wait == .seconds(5))
        }
    }

    @Test func `an amount for a payment with several legs is 422`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            api.operations.set { $0.payments = [payment] }
            let answer = try await api.send(
                "POST", "/v1/payments/\(payment.id.text)/refunds",
                body: #"{"amount":{"value":200,"currency":"JPY"}}"#)
            #expect(answer.status == 422)
            #expect(try answer.string("field") == "amount")
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `a leg that no payment can have is 400, and the last that one can have is asked for`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            api.operations.set { $0.payments = [payment] }
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let refund = { (leg: Int) in
                try await api.send(
                    "POST", "/v1/payments/\(payment.id.text)/refunds",
                    body: "{\"legs\":[{\"index\":\(leg),\"amount\":{\"value\":25,\"currency\":\"JPY\"}}]}")
            }
            let refused = try await refund(CreateRequest.maximumLegs)
            #expect(try refused.status == 400 && refused.string("field") == "legs[0].index", "\(refused.text)")
            #expect(api.operations.calls.isEmpty)
            let last = CreateRequest.maximumLegs - 1
            let answer = try await refund(last)
            guard case .refund(_, let amounts, nil)? = api.operations.asked.last else {
                Issue.record("not asked for: \(answer.text)")
                return
            }
            #expect(amounts == [last: try Money(25, Sample.yen)])
        }
    }

    @Test func `an amount that a leg's provider cannot convert is 422`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            api.operations.set { $0.payments = [payment] }
            for route in ["capture", "refunds"] {
                let answer = try await api.send(
                    "POST", "/v1/payments/\(payment.id.text)/\(route)",
                    body: #"{"legs":[{"index":1,"amount":{"value":25,"currency":"JPY"}}]}"#)
                #expect(answer.status == 422)
                #expect(try answer.string("field") == "legs")
                #expect(try answer.string("detail") == "Leg 1: Must be a multiple of 10.")
            }
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `settled operations answer with the payment, refunds with the refund`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run()
            try sample.refund("refund-1", reason: "one item was returned")
            let under = sample.payment
            sample.run()
            let payment = sample.payment
            let path = "/v1/payments/\(payment.id.text)"
            api.operations.set { $0.result = .success(.settled(payment)) }
            for route in ["capture", "cancel"] {
                let answer = try await api.send("POST", "\(path)/\(route)")
                #expect(answer.status == 200 && answer.headers["location"] == nil)
                #expect(answer.body == PaymentRendering.payment(payment).bytes)
            }
            let refund = try await api.send("POST", path + "/refunds", key: "refund-1")
            #expect(refund.status == 201 && refund.headers["location"] == path)
            #expect(try refund.string("state") == "succeeded")
            #expect(try #require(try refund.string("id")).hasPrefix("ref_"))
            let reason = #""reason":{"code":"requested_by_caller","detail":"one item was returned"}"#
            #expect(refund.text.contains(reason))
            #expect(api.operations.kept.count == 3)
            let reconcile = try await api.send("POST", path + "/reconcile", key: nil)
            #expect(reconcile.status == 200)
            #expect(api.operations.kept.count == 3)
            api.operations.set { $0.result = .success(.unsettled(under)) }
            let open = try await api.send("POST", path + "/refunds", key: "refund-1")
            #expect(open.status == 202 && open.headers["location"] == path)
            #expect(open.headers["retry-after"] != nil && open.headers["preference-applied"] == nil)
            #expect(try open.string("state") == "processing")
            let unknown = try await api.send("POST", path + "/refunds", key: "refund-2")
            #expect(unknown.status == 500)
        }
    }

    @Test func `a refusal of the core keeps its field`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id
            api.operations.set {
                $0.result = .failure(.refused(.invalid(field: "legs[].amount", detail: "too much"), id))
            }
            let answer = try await api.send("POST", "/v1/payments/\(id.text)/refunds")
            #expect(answer.status == 422)
            #expect(try answer.string("field") == "legs[].amount")
            #expect(try answer.string("detail") == "too much")
            #expect(try answer.string("payment_id") == id.text)
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `reconcile takes no body, and an operation no query`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            #expect(try await api.send("POST", "/v1/payments/\(id)/reconcile", body: "{}").status == 400)
            #expect(try await api.send("POST", "/v1/payments/\(id)/cancel?wait=3").status == 400)
            #expect(try await api.send("POST", "/v1/payments/pay_1/cancel").status == 400)
            #expect(api.operations.calls.isEmpty)
        }
    }
}
