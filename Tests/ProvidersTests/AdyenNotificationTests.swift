import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// Adyen's signed notifications. The first signature is the one that Adyen's own documentation and libraries publish;
/// the second was made with another program (Python's `hmac`).
struct AdyenNotificationTests {
    private static let key = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
    private static let other = "11223344D785FBAE710E7F943F307971BB61B21281C98C9129B3D4018A57B2EB"
    private static let published = "coqCmt/IZ4E3CzPvMY8zTjQVL5hYJUiBRg8UU+iCWo0="
    private static let captured = "q7mSFK2kL1Kpz+a1jCc5msB66EXLOi98LYiEKpxwrX4="
    private static let ours = String(repeating: "ab12", count: 10)

    private static func body(
        _ event: String = "CAPTURE", success: String = "true", psp: String = "M0123456789ABCDE", value: String = "1200",
        date: String = "2026-03-01T12:00:00+01:00", signature: String? = captured
    ) -> String {
        let data = signature.map { "{\"hmacSignature\":\"\($0)\"}" } ?? "{}"
        return """
            {"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":\(data),\
            "amount":{"value":\(value),"currency":"JPY"},"eventCode":"\(event)","eventDate":"\(date)",\
            "merchantAccountCode":"TestMerchant","merchantReference":"\(ours)","originalReference":"P000000000000001",\
            "pspReference":"\(psp)","reason":"","success":"\(success)"}}]}
            """
    }

    private static let authorised = """
        {"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":\
        {"hmacSignature":"\(published)"},"amount":{"value":1130,"currency":"EUR"},"pspReference":"7914073381342284",\
        "eventCode":"AUTHORISATION","eventDate":"2014-08-06T17:15:34.121+02:00","merchantAccountCode":"TestMerchant",\
        "operations":["CANCEL","CAPTURE","REFUND"],"merchantReference":"TestPayment-1407325143704",\
        "paymentMethod":"visa","success":"true"}}]}
        """

    private func read(
        _ body: String, keys: [String] = [key], at now: Timestamp = StandingClock.noon
    ) -> Result<ProviderNotification, NotificationRefusal> {
        let reader = AdyenNotifications(secrets: NotificationSecrets(keys))
        do {
            return .success(try reader.read(SignedNotification(body: Array(body.utf8)) { _ in [] }, at: now))
        } catch {
            return .failure(error)
        }
    }

    @Test func `the published signature is good`() throws {
        let read = try read(Self.authorised).get()
        #expect(read.key?.text == "TestPayment-1407325143704")
        let news = try #require(read.news)
        #expect(news.kind == .authorize && news.reference == "7914073381342284" && news.word.state == .succeeded)
        #expect(news.amount?.value == 1_130 && news.amount?.currency.code == "EUR")
        #expect(news.word.at == Timestamp(rfc3339: "2014-08-06T15:15:34.121Z"))
    }

    @Test func `a capture says what became of it, and of which`() throws {
        let news = try #require(try read(Self.body()).get().news)
        #expect(news.kind == .capture && news.key.text == Self.ours && news.reference == "M0123456789ABCDE")
        #expect(news.word == ProviderWord(.succeeded, at: StandingClock.noon + .hours(-1)))
        #expect(!news.isDateSigned, "what Adyen signs has no date")
    }

    @Test func `either of two keys signs while one is being replaced`() throws {
        #expect(try read(Self.body(), keys: [Self.other, Self.key]).get().news != nil)
        #expect(read(Self.body(), keys: [Self.other]) == .failure(.wrongSignature))
        #expect(read(Self.body(), keys: []) == .failure(.wrongSignature))
        #expect(read(Self.body(), keys: ["no key"]) == .failure(.wrongSignature))
    }

    @Test(arguments: [
        AdyenNotificationTests.body("REFUND"), body(success: "false"), body(psp: "M0123456789ABCDF"),
        body(value: "1201"), body(signature: published),
    ])
    func `what was changed after it was signed is refused`(body: String) {
        #expect(read(body) == .failure(.wrongSignature))
    }

    @Test func `without a signature it is refused, whatever it says`() {
        #expect(read(Self.body(signature: nil)) == .failure(.unsigned))
        #expect(read(Self.body(signature: "not base64!")) == .failure(.unsigned))
    }

    @Test func `one that lies ahead of our clock is refused, and one that is old is not`() {
        #expect(read(Self.body(date: "2026-03-01T12:06:00Z")) == .failure(.outOfTime))
        #expect((try? read(Self.body(date: "2026-03-01T12:04:00Z")).get()) != nil)
        #expect((try? read(Self.body(date: "2025-03-01T12:00:00Z")).get()) != nil)
    }

    @Test(arguments: [
        "", "[]", "{}", "{\"notificationItems\":[]}", "{\"notificationItems\":[{}]}",
        AdyenNotificationTests.body(value: "\"1200\""), body(date: "yesterday"),
        body(success: "maybe", signature: "IbKEilryJN2WEPy6udohdesAnSMuG0RheF4L6rSKDc4="),
        body(psp: "../refunds", signature: "0AVXNMRTXi4BMjmVDNYRpyOlwr7AzXVxasl/cBn8ahU="),
        body().replacing("}}]}", with: "}},{\"NotificationRequestItem\":{}}]}"),
    ])
    func `what is not as documented is malformed`(body: String) {
        #expect(read(body) == .failure(.malformed))
    }

    @Test func `each event is about its kind of effect`() throws {
        let expected: [(String, EffectKind?, Observation.Movement.State)] = [
            ("AUTHORISATION", .authorize, .succeeded), ("CAPTURE", .capture, .succeeded),
            ("CAPTURE_FAILED", .capture, .declined), ("CANCELLATION", .void, .succeeded),
            ("TECHNICAL_CANCEL", .void, .succeeded), ("REFUND", .refund, .succeeded),
            ("REFUND_FAILED", .refund, .declined), ("REFUNDED_REVERSED", .refund, .declined),
            ("CHARGEBACK", nil, .declined), ("REPORT_AVAILABLE", nil, .declined),
        ]
        for (event, kind, state) in expected {
            let news = try AdyenNotificationItem(body: Array(Self.body(event).utf8)).news()
            #expect(news?.kind == kind, "\(event)")
            if kind != nil { #expect(news?.word.state == state, "\(event)") }
            let refused = try AdyenNotificationItem(body: Array(Self.body(event, success: "false").utf8)).news()
            if kind != nil { #expect(refused?.word.state == .declined, "\(event)") }
        }
    }

    @Test func `an event about something else may have any members, and is signed all the same`() throws {
        let report = """
            {"live":"false","notificationItems":[{"NotificationRequestItem":{"additionalData":\
            {"hmacSignature":"3+iMOxeB7pPjl+GcfPXYgpZX4nlu9/ClsA0kWo/0n48="},"eventCode":"REPORT_AVAILABLE",\
            "eventDate":"soon","merchantAccountCode":"TestMerchant","pspReference":"settlement_report.csv",\
            "success":"true"}}]}
            """
        let read = try read(report).get()
        #expect(read.news == nil && read.key == nil)
        #expect(self.read(report.replacing("settlement_report", with: "another")) == .failure(.wrongSignature))
    }
}
