import Foundation
import HTTPEdge
import PaymentCore
import SeededChance
import StrictJSON
import Testing

@testable import PaymentAPI

struct RenderingTests {
    private func states(_ sample: SamplePayment) -> [LegState] {
        sample.payment.legs.map { LegState($0, of: sample.payment) }
    }

    @Test func `a payment has the members of its schema, in its order`() throws {
        var sample = try SamplePayment()
        sample.run()
        let text = String(decoding: PaymentRendering.payment(sample.payment).bytes, as: UTF8.self)
        #expect(
            text == """
                {"id":"\(sample.payment.id.text)","state":"succeeded","reason":null,\
                "amount":{"value":1500,"currency":"JPY"},"captured":{"value":1500,"currency":"JPY"},\
                "refunded":{"value":0,"currency":"JPY"},"capture":"automatic","reference":"order/1 \\"ü\\"",\
                "metadata":{"b":"2","cart":"c-5512"},"deadline":"2026-03-02T09:30:04.051Z",\
                "created_at":"2026-03-02T09:15:04.051Z","updated_at":"2026-03-02T09:15:04.051Z","legs":[\
                {"index":0,"provider":"cards","instrument":"…1234","amount":{"value":1200,"currency":"JPY"},\
                "phase":"two_phase","state":"captured","captured":{"value":1200,"currency":"JPY"},\
                "refunded":{"value":0,"currency":"JPY"},"reason":null},\
                {"index":1,"provider":"points","instrument":"…7706","amount":{"value":300,"currency":"JPY"},\
                "phase":"one_phase","state":"captured","captured":{"value":300,"currency":"JPY"},\
                "refunded":{"value":0,"currency":"JPY"},"reason":null}],"refunds":[]}
                """)
    }

    @Test func `after lost rows a payment says what it waits for, until it has ended`() throws {
        func recovery(_ sample: SamplePayment) throws -> [String: String] {
            let bytes = Data(PaymentRendering.payment(sample.payment).bytes)
            let document = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
            return document?["recovery"] as? [String: String] ?? [:]
        }
        let now = SamplePayment.now
        let window = RecoveryWindow(
            readsCountFrom: now + .milliseconds(-1), latestNotAfter: now, listingCompared: true, repetition: .awaited)
        var sample = try SamplePayment(legs: 1)
        sample.run(cards: .loses)
        #expect(try recovery(sample) == [:])
        sample.handle(.claimedAfterLoss(window))
        #expect(try recovery(sample) == ["step": "being_confirmed", "until": "2026-03-02T09:15:04.050Z"])
        let leg = sample.payment.legs[0]
        sample.handle(.inquired(leg: 0, Observation(.notFound, began: now, source: .inquiry, key: leg.primary.key)))
        #expect(try recovery(sample) == ["step": "awaits_request", "until": "2026-03-02T09:30:04.051Z"])

        var ended = try SamplePayment(legs: 1)
        ended.run(cards: .loses)
        ended.handle(.claimedAfterLoss(window))
        let held = Observation(
            .authorized, began: now, source: .inquiry, key: leg.primary.key, amount: leg.amount)
        ended.handle(.inquired(leg: 0, held))
        ended.run()
        #expect(ended.payment.state == .succeeded)
        #expect(try recovery(ended) == [:])
    }

    @Test func `legs of a new payment are pending or being authorized`() throws {
        let sample = try SamplePayment()
        #expect(states(sample) == [.authorizing, .pending])
    }

    @Test func `a lost answer is in doubt`() throws {
        var sample = try SamplePayment(legs: 1)
        sample.run(cards: .loses)
        #expect(states(sample) == [.inDoubt])
        #expect(sample.payment.state == .processing)
    }

    @Test func `a held payment is authorized, and voided when it is canceled`() throws {
        var sample = try SamplePayment(capture: .manual, legs: 1)
        sample.run()
        #expect(sample.payment.state == .authorized && states(sample) == [.authorized])
        try sample.cancel("cancel-1")
        #expect(sample.payment.state == .canceling && states(sample) == [.voiding])
        sample.run()
        #expect(sample.payment.state == .canceled && states(sample) == [.voided])
    }

    @Test func `a declined leg says why, the one undone for it does not`() throws {
        var sample = try SamplePayment()
        sample.run(points: .declines)
        #expect(sample.payment.state == .failed && states(sample) == [.voided, .declined])
        let text = String(decoding: PaymentRendering.payment(sample.payment).bytes, as: UTF8.self)
        #expect(text.contains(#""state":"declined","captured":{"value":0,"currency":"JPY"}"#))
        #expect(text.contains(#""reason":{"code":"declined","detail":"insufficient_funds"}}],"refunds""#))
        #expect(text.components(separatedBy: #""reason":null"#).count == 2)
    }

    @Test func `a refused leg is refused, and a leg that was never sent is none`() throws {
        var sample = try SamplePayment()
        sample.run(cards: .refuses)
        #expect(sample.payment.state == .failed)
        #expect(states(sample) == [.refused, .none])
    }

    @Test func `a refund shows in the leg and in the list`() throws {
        var sample = try SamplePayment(legs: 1)
        sample.run()
        try sample.refund("refund-1", amounts: [0: Money(200, Sample.yen)], reason: "one item")
        #expect(states(sample) == [.refunding])
        sample.run()
        #expect(states(sample) == [.captured])
        try sample.refund("refund-2")
        sample.run()
        #expect(states(sample) == [.refunded])
        let json = PaymentRendering.payment(sample.payment)
        let text = String(decoding: json.bytes, as: UTF8.self)
        let given = #""refunded":{"value":1200,"currency":"JPY"},"reason":null}],"refunds":[{"id":"ref_"#
        #expect(text.contains(given))
        let part = #""legs":[{"index":0,"amount":{"value":200,"currency":"JPY"},"state":"succeeded"}]"#
        #expect(text.contains(part))
        #expect(text.contains(#""reason":{"code":"requested_by_caller","detail":"one item"}"#))
    }

    @Test func `of a long reason as much is shown as its schema allows`() throws {
        var sample = try SamplePayment(legs: 1)
        sample.run()
        try sample.refund("refund-1", reason: String(repeating: "ü", count: 501))
        let text = String(decoding: PaymentRendering.payment(sample.payment).bytes, as: UTF8.self)
        #expect(text.contains(#""detail":"\#(String(repeating: "ü", count: 500))""#), "\(text)")
    }

    @Test func `a quarantined leg shows as such`() throws {
        var sample = try SamplePayment(legs: 1)
        let order = sample.payment.legs[0].primary
        let other = Observation(
            .authorized, began: SamplePayment.now, source: .answer, key: order.key,
            amount: try Money(1, Sample.yen))
        sample.handle(
            .attempted(
                leg: 0, effect: .primary, number: 1,
                AttemptReport(.accepted, code: "http_200", observation: other)))
        #expect(sample.payment.state == .quarantined && states(sample) == [.quarantined])
        let text = String(decoding: PaymentRendering.payment(sample.payment).bytes, as: UTF8.self)
        #expect(text.contains(#""reason":{"code":"quarantined","detail":"contradiction"}"#))
    }

    @Test func `base64url is read back, and nothing else is`() {
        var chance = SeededChance(seed: 7)
        for count in 0..<200 {
            let bytes = (0..<count).map { _ in UInt8(chance.below(256)) }
            let text = Base64URL.encode(bytes)
            #expect(Base64URL.decode(text) == bytes)
            #expect(text.utf8.count == (count * 8 + 5) / 6)
        }
        for text in ["A", "AB", "A=", "A+", "é", "AAB"] { #expect(Base64URL.decode(text) == nil, "\(text)") }
    }
}
