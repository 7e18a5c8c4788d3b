import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// What payments, captures and refunds of PayPay's mean.
struct PayPayReadingTests {
    private let sale = PayPayReading(keyFormat: .hex40, phases: .sale)
    private let hold = PayPayReading(keyFormat: .hex40, phases: .authorizeCapture)
    private let book = OrderBook()

    private func read(_ body: String) throws -> PayPayPayment {
        try PayPayPayment(AnswerObject(body: Array(body.utf8)))
    }

    private func known(_ body: String, _ reading: PayPayReading? = nil) throws -> Observation {
        (reading ?? sale).observation(
            of: try read(body), payment: try book.payment, began: StandingClock.noon, source: .inquiry)
    }

    private func payment(
        _ status: String, currency: String = "JPY", captures: [String]? = nil, refunds: [String]? = nil,
        expiresAt: Int64? = nil, metadata: String = "{}"
    ) throws -> String {
        try PayPayBodies.payment(
            status, of: book.key(.sale).text, currency: currency, captures: captures, refunds: refunds,
            expiresAt: expiresAt, metadata: metadata)
    }

    @Test(arguments: [
        ("CREATED", Observation.Status.pending), ("REAUTHORIZING", .pending), ("COMPLETED", .captured),
        ("REFUNDED", .voided), ("FAILED", .declined), ("CANCELED", .voided), ("EXPIRED", .expired),
    ])
    func `each status means one thing`(word: String, status: Observation.Status) throws {
        let known = try known(payment(word))
        #expect(known.status == status && known.contradiction == nil)
        #expect(try known.amount == book.money(1200) && known.key == book.key(.sale))
        #expect(known.captures.isEmpty && known.refunds.isEmpty)
        #expect(known.reason == (status == .declined ? "failed" : nil))
    }

    @Test func `every status is read`() {
        #expect(PayPayPayment.Status.allCases.count == 8)
    }

    @Test func `a hold says until when it lasts`() throws {
        let held = try known(payment("AUTHORIZED", expiresAt: 1_772_970_000), hold)
        #expect(held.status == .authorized && held.contradiction == nil)
        #expect(held.authorizedUntil == Timestamp(milliseconds: 1_772_970_000_000))
        // What has ended holds nothing.
        #expect(try known(payment("CANCELED", expiresAt: 1_772_970_000), hold).authorizedUntil == nil)
    }

    @Test func `a capture bears our key, and is undecided while the payer is asked`() throws {
        let asked = try known(payment("AUTHORIZED", captures: [PayPayBodies.capture("ours", "USER_REQUESTED")]), hold)
        #expect(asked.captures.map(\.state) == [.pending] && asked.status == .authorized)
        let taken = try known(payment("COMPLETED", captures: [PayPayBodies.capture("ours", amount: 700)]), hold)
        #expect(taken.captures.map(\.key.text) == ["ours"] && taken.captures.map(\.state) == [.succeeded])
        #expect(try taken.captures.map(\.amount) == [book.money(700)] && taken.contradiction == nil)
    }

    @Test func `a payment of the other kind is a contradiction`() throws {
        #expect(try known(payment("AUTHORIZED")).contradiction == "another_kind")
        #expect(
            try known(payment("COMPLETED", captures: [PayPayBodies.capture("ours")])).contradiction == "another_kind")
        #expect(try known(payment("COMPLETED"), hold).contradiction == "capture_missing")
    }

    @Test func `what was given back is told apart by the refund's key`() throws {
        let refunds = [
            PayPayBodies.refund("one"), PayPayBodies.refund("two", "CREATED"), PayPayBodies.refund("three", "FAILED"),
            PayPayBodies.refund("four", "REFUND_FAILED"),
        ]
        for word in ["COMPLETED", "REFUNDED"] {
            let known = try known(payment(word, refunds: refunds))
            #expect(known.status == .captured)
            #expect(known.refunds.map(\.key.text) == ["one", "two", "three", "four"])
            #expect(known.refunds.map(\.state) == [.succeeded, .pending, .declined, .pending])
        }
    }

    @Test func `what a cancel gave back is voided, and has no refunds`() throws {
        #expect(try known(payment("REFUNDED", refunds: [])).status == .voided)
        let odd = try known(payment("CANCELED", refunds: [PayPayBodies.refund("one")]))
        #expect(odd.status == .voided && odd.refunds.isEmpty)
    }

    @Test func `a payment of somebody else is a contradiction`() throws {
        let ours = try book.payment.text
        #expect(try known(payment("COMPLETED", metadata: "{\"reconciled_payment\":\"\(ours)\"}")).contradiction == nil)
        let other = try known(payment("COMPLETED", metadata: #"{"reconciled_payment":"pay_other","more":7}"#))
        #expect(other.contradiction == "another_payment")
    }

    @Test func `an amount of another currency is none of ours`() throws {
        #expect(try known(payment("COMPLETED", currency: "USD")).contradiction == "amount_unreadable")
        let refund = try known(payment("COMPLETED", refunds: [PayPayBodies.refund("one", currency: "USD")]))
        #expect(refund.contradiction == "amount_unreadable" && refund.refunds.isEmpty)
    }

    @Test(arguments: [
        "{}", #"{"merchantPaymentId":"a","paymentId":"b","status":"COMPLETED"}"#,
        PayPayBodies.payment("DONE", of: "a"), PayPayBodies.payment("COMPLETED", of: ""),
        PayPayBodies.payment("COMPLETED", of: "a", amount: -1),
        PayPayBodies.payment("COMPLETED", of: "a", amount: 100_000_000_000),
        PayPayBodies.payment("COMPLETED", of: "a", expiresAt: .max),
        PayPayBodies.payment("COMPLETED", of: "a", refunds: [PayPayBodies.refund("")]),
        PayPayBodies.payment("COMPLETED", of: "a", refunds: [PayPayBodies.refund("b"), PayPayBodies.refund("b")]),
        PayPayBodies.payment("COMPLETED", of: "a", captures: [PayPayBodies.capture("b"), PayPayBodies.capture("b")]),
        PayPayBodies.payment("COMPLETED", of: "a", captures: [PayPayBodies.capture("b", "FAILED")]),
        PayPayBodies.payment("COMPLETED", of: "a", refunds: [PayPayBodies.refund("b", "GONE")]),
    ])
    func `what is odd is not read at all`(body: String) {
        #expect(throws: MalformedAnswer.self) { try read(body) }
    }

    @Test(arguments: [
        ("USD", Int64(100), UnconvertibleAmount.Reason.currency), ("EUR", 1, .currency),
        ("JPY", 100_000_000_000, .tooLarge),
    ])
    func `an amount that PayPay cannot charge is refused before anything is sent`(
        code: String, value: Int64, reason: UnconvertibleAmount.Reason
    ) throws {
        let money = try Money(value, try #require(Currency(code: code)))
        #expect(throws: UnconvertibleAmount(reason: reason)) { try PayPayAmounts.units(of: money) }
    }

    @Test func `yen are counted as they are`() throws {
        #expect(try PayPayAmounts.units(of: book.money(99_999_999_999)) == 99_999_999_999)
    }
}
