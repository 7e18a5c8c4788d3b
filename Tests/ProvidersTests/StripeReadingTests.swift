import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// What charges, intents and refunds of Stripe's mean.
struct StripeReadingTests {
    private let reading = StripeReading(keyFormat: .hex64, phases: .authorizeCapture)
    private let book = OrderBook(format: .hex64)

    private func observation(
        _ charges: [String], _ reading: StripeReading? = nil, disputes: [String] = []
    ) throws -> Observation {
        let read = try charges.map { try StripeCharge(AnswerObject(body: Array($0.utf8))) }
        var transaction = try #require(StripeTransaction(read))
        transaction.disputes = try disputes.map { try StripeDispute(AnswerObject(body: Array($0.utf8))) }
        return (reading ?? self.reading).observation(
            of: transaction, key: try book.key(.authorize), payment: try book.payment, began: StandingClock.noon,
            source: .inquiry)
    }

    private func charge(
        _ status: String, of intent: String, captured: Int = 0, refunds: [String] = [], reason: String? = nil,
        received: Int = 0, metadata: [String: String] = [:], failure: String? = nil, amount: Int = 1200
    ) -> String {
        StripeBodies.charge(
            status, amount: amount, captured: captured,
            intent: StripeBodies.intent(
                intent, amount: amount, received: received, metadata: metadata, reason: reason),
            refunds: refunds, failure: failure)
    }

    @Test(arguments: [
        ("succeeded", "requires_capture", nil, Observation.Status.authorized),
        ("succeeded", "succeeded", nil, .captured), ("pending", "processing", nil, .pending),
        ("failed", "requires_payment_method", nil, .declined), ("succeeded", "canceled", "abandoned", .voided),
        ("succeeded", "canceled", "automatic", .expired), ("failed", "canceled", "abandoned", .tombstoned),
        ("failed", "requires_action", nil, .pending), ("failed", "requires_confirmation", nil, .pending),
    ])
    func `a charge and its intent have a status together`(
        charge: String, intent: String, reason: String?, expected: Observation.Status
    ) throws {
        let known = try observation([self.charge(charge, of: intent, reason: reason)])
        #expect(known.status == expected && known.contradiction == nil)
    }

    @Test func `a declined charge says why`() throws {
        let known = try observation([
            charge("failed", of: "requires_payment_method", failure: "insufficient_funds")
        ])
        #expect(known.reason == "insufficient_funds")
    }

    @Test func `the charge that holds counts, and not a failed one that came after it`() throws {
        let failed = charge("failed", of: "requires_capture")
        #expect(try observation([failed, charge("succeeded", of: "requires_capture")]).status == .authorized)
    }

    @Test func `refunds are told apart by our key, others by their own name`() throws {
        let refunds = [
            StripeBodies.refund(), StripeBodies.refund("pending", id: "re_2", key: nil),
            StripeBodies.refund("failed", id: "re_3", key: "theirs", reason: "expired_or_canceled_card"),
            StripeBodies.refund("canceled", id: "re_4", key: "fourth"),
            StripeBodies.refund("requires_action", id: "re_5", key: "fifth"),
        ]
        let known = try observation([
            charge("succeeded", of: "succeeded", captured: 1200, refunds: refunds, received: 1200)
        ])
        #expect(known.refunds.map(\.key.text) == ["ours", "re_2", "theirs", "fourth", "fifth"])
        #expect(known.refunds.map(\.state) == [.succeeded, .pending, .declined, .declined, .pending])
        #expect(known.refunds[2].reason == "expired_or_canceled_card")
    }

    @Test func `only one refund is what a capture gave free, and only where it bears no key`() throws {
        let free = StripeBodies.refund(id: "re_1", amount: 500, key: nil)
        let console = StripeBodies.refund(id: "re_2", amount: 500, key: nil)
        let ours = StripeBodies.refund(id: "re_3", amount: 500)
        let known = try observation([
            charge("succeeded", of: "succeeded", captured: 700, refunds: [ours, free, console], received: 700)
        ])
        #expect(known.refunds.map(\.key.text) == ["ours", "re_2"])
    }

    /// docs.stripe.com/disputes/how-disputes-work
    @Test(arguments: [
        ("needs_response", Dispute.State.open), ("under_review", .open), ("warning_needs_response", .open),
        ("won", .won),
        ("warning_closed", .won), ("prevented", .won), ("lost", .lost),
    ])
    func `a dispute has taken something once it is lost`(status: String, state: Dispute.State) throws {
        let known = try observation(
            [charge("succeeded", of: "succeeded", captured: 1200, received: 1200)],
            disputes: [StripeBodies.dispute(status, amount: 700)])
        #expect(known.disputes?.map(\.state) == [state] && known.contradiction == nil)
        let taken = Observation.Movement(
            key: EffectKey(reported: "dp_1"), amount: try book.money(700), state: .succeeded, reason: "dispute_lost")
        #expect(known.refunds == (state == .lost ? [taken] : []))
    }

    /// docs.stripe.com/api/disputes/object
    @Test(arguments: ["warning_needs_response", "warning_under_review", "warning_closed"])
    func `an inquiry of a bank is no dispute as long as Stripe refunds beside it`(status: String) throws {
        for (isRefundable, isShown) in [(true, false), (false, true), (nil, true)] {
            let known = try observation(
                [charge("succeeded", of: "succeeded", captured: 1200, received: 1200)],
                disputes: [StripeBodies.dispute(status, isRefundable: isRefundable)])
            #expect((known.disputes != nil) == isShown && known.contradiction == nil, "\(status) \(isShown)")
        }
    }

    @Test func `a dispute that Stripe refunds beside is a dispute all the same`() throws {
        let known = try observation(
            [charge("succeeded", of: "succeeded", captured: 1200, received: 1200)],
            disputes: [StripeBodies.dispute("needs_response", isRefundable: true)])
        #expect(known.disputes?.map(\.state) == [.open])
    }

    /// What a won dispute gave back moved money too: the charge is listed there, and not twice.
    @Test func `a transaction changed last when its dispute moved money`() throws {
        func changedAt(_ movedAt: [Int]) throws -> Timestamp? {
            let body = charge("succeeded", of: "succeeded", captured: 1200, received: 1200)
            let read = try StripeCharge(AnswerObject(body: Array(body.utf8)))
            var transaction = try #require(StripeTransaction([read]))
            let dispute = StripeBodies.dispute("won", movedAt: movedAt)
            transaction.disputes = [try StripeDispute(AnswerObject(body: Array(dispute.utf8)))]
            return transaction.changedAt
        }
        #expect(try changedAt([]) == Timestamp(milliseconds: 1_772_366_400_000))
        #expect(try changedAt([1_772_366_500]) == Timestamp(milliseconds: 1_772_366_500_000))
        #expect(try changedAt([1_772_366_900, 1_772_366_500]) == Timestamp(milliseconds: 1_772_366_900_000))
    }

    @Test func `a dispute whose amount cannot be read is a contradiction`() throws {
        let known = try observation(
            [charge("succeeded", of: "succeeded", captured: 1200, received: 1200)],
            disputes: [StripeBodies.dispute("lost", currency: "xyz")])
        #expect(known.contradiction == "amount_unreadable")
    }

    @Test func `a capture at Stripe's console bears no key of ours`() throws {
        let ours = String(repeating: "c", count: 64)
        let by = try observation([
            charge(
                "succeeded", of: "succeeded", captured: 1200, received: 1200, metadata: ["reconciled_capture": ours])
        ])
        #expect(by.captures.map(\.key.text) == [ours])
        let others = try observation([charge("succeeded", of: "succeeded", captured: 1200, received: 1200)])
        #expect(others.captures.map(\.key.text) == ["ch_1"])
    }

    @Test func `a sale has no captures`() throws {
        let sale = StripeReading(keyFormat: .hex64, phases: .sale)
        let known = try observation([charge("succeeded", of: "succeeded", captured: 1200, received: 1200)], sale)
        #expect(known.status == .captured && known.captures.isEmpty)
        #expect(try known.amount == book.money(1200))
    }

    @Test func `a transaction of another payment is a contradiction`() throws {
        let known = try observation([
            charge("succeeded", of: "requires_capture", metadata: ["reconciled_payment": "pay_other"])
        ])
        #expect(known.contradiction == "another_payment")
    }

    @Test(arguments: [
        ("EUR", 1234, 1234), ("JPY", 500, 500), ("KWD", 5120, 5120), ("ISK", 5, 500), ("UGX", 70, 7000),
        ("MGA", 500, 5), ("HUF", 1234, 1234), ("TWD", 80045, 80045),
    ])
    func `Stripe counts an amount in its own way`(code: String, value: Int64, units: Int64) throws {
        let money = try Money(value, try #require(Currency(code: code)))
        #expect(try StripeAmounts.units(of: money) == units)
        #expect(StripeAmounts.money(units, code.lowercased()) == money)
    }

    @Test(arguments: [
        ("KWD", Int64(5124), UnconvertibleAmount.Reason.notExact), ("BHD", 1, .notExact), ("MGA", 550, .notExact),
        ("CLF", 10, .currency), ("ISK", .max / 50, .tooLarge),
    ])
    func `an amount that Stripe cannot charge is refused before anything is sent`(
        code: String, value: Int64, reason: UnconvertibleAmount.Reason
    ) throws {
        let money = try Money(value, try #require(Currency(code: code)))
        #expect(throws: UnconvertibleAmount(reason: reason)) { try StripeAmounts.units(of: money) }
    }

    @Test(arguments: [("isk", Int64(5050)), ("xyz", 5), ("eur", -1), ("mga", .max)])
    func `a count that stands for no amount is none`(code: String, units: Int64) {
        #expect(StripeAmounts.money(units, code) == nil)
    }
}
