import Foundation
import ProviderSimulator
import Testing

/// PayPay's wire: holds, captures, cancels and refunds.
@Suite struct PayPayLifecycleTests {
    typealias F = PayPayFixture

    // MARK: Holds

    @Test func `a hold is captured once, in full or in part`() async throws {
        try await withPayPay { payPay async throws in
            let held = try await payPay.hold()
            #expect(held.status == 201 && held.state == "AUTHORIZED")
            #expect(held.data?["expiresAt"]?.number == (payPay.clock.now + 7 * 86_400_000) / 1_000)
            #expect(try await payPay.capture(value: 1201).code == "HIGHER_CAPTURE_NOT_PERMITTED")
            let taken = try await payPay.capture(value: 700)
            #expect(taken.status == 200 && taken.state == "COMPLETED")
            #expect(taken.data?["captures"]?.data.map { $0["merchantCaptureId"]?.text } == ["capture-1"])
            #expect(taken.data?["captures"]?.data.map { $0["amount"]?["amount"]?.number } == [700])
            for name in ["capture-1", "capture-2"] {
                #expect(try await payPay.capture(name, value: 700).code == "ALREADY_CAPTURED")
            }
            #expect(try await payPay.cancel().code == "ORDER_NOT_REVERSIBLE")
            #expect(try await payPay.ledger().net == 700)
        }
    }

    @Test func `a capture that waits for the payer is undecided`() async throws {
        try await withPayPay { payPay async throws in
            _ = try await payPay.hold()
            try payPay.card.order(Fault(.pending), .capture)
            let asked = try await payPay.capture()
            #expect(asked.status == 202 && asked.code == "USER_CONFIRMATION_REQUIRED" && asked.state == "AUTHORIZED")
            #expect(asked.data?["captures"]?.data.map { $0["status"]?.text } == ["USER_REQUESTED"])
            #expect(try await payPay.capture("capture-2").code == "ORDER_NOT_CAPTURABLE")
            payPay.clock.advance(3_000)
            #expect(try await payPay.shown().state == "COMPLETED")
        }
    }

    @Test func `a hold that is gone is not captured`() async throws {
        try await withPayPay { payPay async throws in
            _ = try await payPay.hold()
            payPay.clock.advance(8 * 86_400_000)
            #expect(try await payPay.shown().state == "EXPIRED")
            #expect(try await payPay.capture().code == "ORDER_EXPIRED")
            _ = try await payPay.hold("payment-id_0002")
            #expect(try await payPay.cancel("payment-id_0002").status == 202)
            #expect(try await payPay.capture("capture-1", "payment-id_0002").code == "ORDER_NOT_CAPTURABLE")
            #expect(try await payPay.capture("capture-1", "payment-id_0003").code == "RESOURCE_NOT_FOUND")
            _ = try await payPay.hold("payment-id_0004", payer: "capture-decline-1")
            #expect(try await payPay.capture("capture-1", "payment-id_0004").code == "CANCELED_USER")
            let kept = try await payPay.shown("payment-id_0004")
            #expect(kept.state == "AUTHORIZED" && kept.data?["captures"] == nil)
        }
    }

    // MARK: Cancels

    /// The clock of the tests begins at 2027-01-15T08:00:00Z, 17:00 in Japan.
    @Test(arguments: [(Int64(0), true), (26_099_000, true), (26_100_000, false)])
    func `a payment is cancelled until a quarter past midnight in Japan`(laterMs: Int64, isDone: Bool) async throws {
        try await withPayPay { payPay async throws in
            _ = try await payPay.pay()
            payPay.clock.advance(laterMs)
            let cancelled = try await payPay.cancel()
            #expect(cancelled.status == (isDone ? 202 : 400) && cancelled.data == nil)
            #expect(cancelled.code == (isDone ? "REQUEST_ACCEPTED" : "ORDER_NOT_REVERSIBLE"))
            let shown = try await payPay.shown()
            #expect(shown.state == (isDone ? "CANCELED" : "COMPLETED"))
            #expect(shown.data?["canceledAt"]?.number == (isDone ? payPay.clock.now / 1_000 : nil))
            #expect(try await payPay.ledger().net == (isDone ? 0 : 1200))
            #expect(try await payPay.cancel().code == "ORDER_NOT_REVERSIBLE")
        }
    }

    @Test func `a hold is cancelled as long as it lasts, and nothing is not cancelled`() async throws {
        try await withPayPay { payPay async throws in
            #expect(try await payPay.cancel().code == "RESOURCE_NOT_FOUND")
            _ = try await payPay.hold()
            payPay.clock.advance(3 * 86_400_000)
            #expect(try await payPay.cancel().status == 202)
            #expect(try await payPay.ledger().held == 0)
            try payPay.card.order(Fault(.pending), .sale)
            #expect(try await payPay.pay("payments", "payment-id_0002").state == "CREATED")
            #expect(try await payPay.cancel("payment-id_0002").code == "ORDER_NOT_REVERSIBLE")
        }
    }

    // MARK: Refunds

    @Test func `a payment is given back in parts, each of them once`() async throws {
        try await withPayPay { payPay async throws in
            let payment = try await payPay.paid()
            let first = try await payPay.refund(payment, "refund-1", value: 300)
            #expect(first.status == 200 && first.state == "REFUNDED" && first.data?["paymentId"]?.text == payment)
            let again = try await payPay.refund(payment, "refund-1", value: 400)
            #expect(again.data == first.data)
            #expect(try await payPay.refund(payment, "refund-2", value: 901).code == "INVALID_PARAMS")
            #expect(try await payPay.shown().state == "COMPLETED")
            #expect(try await payPay.refund(payment, "refund-3", value: 900).status == 200)
            let shown = try await payPay.shown()
            #expect(shown.state == "REFUNDED")
            #expect(
                shown.data?["refunds"]?.data.map { $0["merchantRefundId"]?.text } == ["refund-1", "refund-3"])
            #expect(try await payPay.ledger().net == 0)
            #expect(try await payPay.cancel().code == "ORDER_NOT_REVERSIBLE")
            let read = try await payPay.send("GET", "refunds/refund-1?paymentId=\(payment)")
            #expect(read.data == first.data)
            #expect(try await payPay.send("GET", "refunds/other?paymentId=\(payment)").code == "NO_SUCH_REFUND_ORDER")
        }
    }

    @Test func `a refund needs a payment that was made here`() async throws {
        try await withPayPay { payPay async throws in
            let payment = try await payPay.paid()
            var spare = payPay
            spare.card.provider = "spare"
            for id in [payment, "00000000000000000099", "1", "", F.id] {
                #expect(try await spare.refund(id).code == "RESOURCE_NOT_FOUND", "\(id)")
            }
            _ = try await payPay.cancel()
            #expect(try await payPay.refund(payment).code == "UNACCEPTABLE_OP")
            try await payPay.control.forget(F.id, at: "card")
            #expect(try await payPay.refund(payment).code == "RESOURCE_NOT_FOUND")
        }
    }

    @Test func `a refund that failed is shown as failed`() async throws {
        try await withPayPay { payPay async throws in
            let payment = try await payPay.paid(payer: "refund-decline-1")
            #expect(try await payPay.refund(payment).code == "CANCELED_USER")
            #expect(try await payPay.shown().data?["refunds"]?.data.map { $0["status"]?.text } == ["FAILED"])
            #expect(try await payPay.shown().state == "COMPLETED")
        }
    }
}
