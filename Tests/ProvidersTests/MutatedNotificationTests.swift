import Reconciler
import SeededChance
import Testing

@testable import PaymentCore
@testable import Providers

/// Genuine notifications that somebody changed at random: none counts as something else than what was signed, and none
/// ends the process. `make test-all` reads a million of each provider.
@Suite struct MutatedNotificationTests {
    private static let count = Mutator.rounds(20_000)

    private static let stripe = (
        header: "t=1772366400,v1=d9d7d3557624b022b7587048033662289a87a7f89ea71367a05e58df17386b4b",
        body: """
        {"id":"evt_1","object":"event","type":"payment_intent.succeeded","livemode":false,\
        "data":{"object":{"id":"pi_1","object":"payment_intent","metadata":{\
        "reconciled_payment":"pay_0123456789abcdef0123456789abcdef01234567",\
        "reconciled_key":"ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12"}}}}
        """
    )

    private static let adyen = [
        """
        {"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":\
        {"hmacSignature":"q7mSFK2kL1Kpz+a1jCc5msB66EXLOi98LYiEKpxwrX4="},"amount":{"value":1200,"currency":"JPY"},\
        "eventCode":"CAPTURE","eventDate":"2026-03-01T12:00:00+01:00","merchantAccountCode":"TestMerchant",\
        "merchantReference":"ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12","originalReference":"P000000000000001",\
        "pspReference":"M0123456789ABCDE","reason":"","success":"true"}}]}
        """,
        """
        {"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":\
        {"hmacSignature":"coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="},"amount":{"value":1130,"currency":"EUR"},\
        "pspReference":"7914073381342284","eventCode":"AUTHORISATION","eventDate":"2014-08-06T17:15:34.121+02:00",\
        "merchantAccountCode":"TestMerchant","operations":["CANCEL","CAPTURE","REFUND"],\
        "merchantReference":"TestPayment-1407325143704","paymentMethod":"visa","success":"true"}}]}
        """,
    ]

    /// What was refused, and how often.
    private struct Tally {
        var refused: [NotificationRefusal: Int] = [:]
        var accepted = 0
        var wrong: [String] = []
    }

    @Test func `of what Stripe signed nothing else counts`() throws {
        let reader = StripeNotifications(secrets: NotificationSecrets(["whsec_4c7d2f0e9b1a8635"]))
        func read(_ header: [UInt8], _ body: [UInt8]) throws(NotificationRefusal) -> ProviderNotification {
            let text = String(decoding: header, as: UTF8.self)
            return try reader.read(
                SignedNotification(body: body) { $0 == "stripe-signature" ? [text] : [] }, at: StandingClock.noon)
        }
        let (header, body) = (Array(Self.stripe.header.utf8), Array(Self.stripe.body.utf8))
        let genuine = try read(header, body)
        var mutator = Mutator(seed: 1, words: [header, body])
        var tally = Tally()
        for _ in 0..<Self.count {
            let isHeader = mutator.chance.happens(percent: 40)
            let changed = isHeader ? (mutator.changed(header), body) : (header, mutator.changed(body))
            do {
                let seen = try read(changed.0, changed.1)
                tally.accepted += 1
                if seen != genuine || changed.1 != body { tally.wrong.append("\(changed)") }
            } catch {
                tally.refused[error, default: 0] += 1
            }
        }
        #expect(tally.wrong.isEmpty, "\(tally.wrong.prefix(3))")
        // Nothing changes but what is beside the signature: the mutations reach all that can be refused.
        #expect(tally.accepted < Self.count / 20)
        for refusal in [NotificationRefusal.unsigned, .wrongSignature] {
            #expect(tally.refused[refusal, default: 0] > Self.count / 50, "\(tally.refused)")
        }
    }

    @Test func `of what Adyen signed nothing else counts`() throws {
        let key = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
        let reader = AdyenNotifications(secrets: NotificationSecrets([key]))
        func read(_ body: [UInt8]) throws(NotificationRefusal) -> ProviderNotification {
            try reader.read(SignedNotification(body: body) { _ in [] }, at: StandingClock.noon)
        }
        let bodies = Self.adyen.map { Array($0.utf8) }
        let genuine = Set(try bodies.map { try signed(by: read($0)) })
        #expect(genuine.count == 2)
        var mutator = Mutator(seed: 2, words: bodies)
        var tally = Tally()
        for _ in 0..<Self.count {
            let changed = mutator.changed(bodies[mutator.chance.below(2)])
            do {
                let seen = try read(changed)
                tally.accepted += 1
                if !genuine.contains(signed(by: seen)) { tally.wrong.append(String(decoding: changed, as: UTF8.self)) }
            } catch {
                tally.refused[error, default: 0] += 1
            }
        }
        #expect(tally.wrong.isEmpty, "\(tally.wrong.prefix(3))")
        for refusal in [NotificationRefusal.unsigned, .wrongSignature, .malformed] {
            #expect(tally.refused[refusal, default: 0] > Self.count / 200, "\(tally.refused)")
        }
    }

    /// What of a notification is signed. The moment and the words for people are not.
    private func signed(by notification: ProviderNotification) -> [String] {
        let news = notification.news
        return [
            notification.id, notification.payment?.text ?? "-", notification.key?.text ?? "-",
            news?.key.text ?? "-", news?.kind.rawValue ?? "-", news?.amount?.description ?? "-",
            news?.reference ?? "-", news?.word.state.rawValue ?? "-", "\(news?.isDateSigned ?? false)",
        ]
    }
}
