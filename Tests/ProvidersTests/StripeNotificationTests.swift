import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// Stripe's signed notifications. The signatures here were made with another program (Python's `hmac`).
struct StripeNotificationTests {
    private static let secret = "whsec_4c7d2f0e9b1a8635"
    private static let other = "whsec_0fd1b2c3a4958677"
    private static let payment = "pay_0123456789abcdef0123456789abcdef01234567"
    /// Signed at the moment of ``StandingClock/noon``.
    private static let moment = "1772366400"
    private static let body = """
        {"id":"evt_1","object":"event","type":"payment_intent.succeeded","livemode":false,\
        "data":{"object":{"id":"pi_1","object":"payment_intent","metadata":{\
        "reconciled_payment":"pay_0123456789abcdef0123456789abcdef01234567",\
        "reconciled_key":"ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12"}}}}
        """
    private static let signature = "d9d7d3557624b022b7587048033662289a87a7f89ea71367a05e58df17386b4b"
    private static let byOther = "1f115af1fcd9893a466e5d7cb93dc23523fd3e5a555eddbcae366984ce66b4a4"

    private func read(
        _ headers: [String] = ["t=\(moment),v1=\(signature)"], body: String = body, secrets: [String] = [secret],
        at now: Timestamp = StandingClock.noon
    ) -> Result<ProviderNotification, NotificationRefusal> {
        let reader = StripeNotifications(secrets: NotificationSecrets(secrets))
        let notification = SignedNotification(body: Array(body.utf8)) { $0 == "stripe-signature" ? headers : [] }
        do {
            return .success(try reader.read(notification, at: now))
        } catch {
            return .failure(error)
        }
    }

    @Test func `a signed notification names the payment that it is about`() throws {
        let read = try read().get()
        #expect(read.id == "evt_1" && read.payment?.text == Self.payment)
        #expect(read.key?.text == String(repeating: "ab12", count: 16))
    }

    @Test func `either of two secrets signs while one is being replaced`() throws {
        for secrets in [[Self.secret, Self.other], [Self.other, Self.secret]] {
            #expect(try read(secrets: secrets).get().id == "evt_1")
            #expect(try read(["t=\(Self.moment),v1=\(Self.byOther)"], secrets: secrets).get().id == "evt_1")
        }
        #expect(read(secrets: [Self.other]) == .failure(.wrongSignature))
        #expect(read(secrets: []) == .failure(.wrongSignature))
        // Stripe itself signs with two secrets while one is being rolled.
        let both = ["t=\(Self.moment),v1=\(Self.byOther),v1=\(Self.signature)"]
        #expect(try read(both).get().id == "evt_1")
    }

    @Test(arguments: [
        "t=1772366400,v0=\(signature)", "t=1772366400", "v1=\(signature)", "", "t=,v1=\(signature)",
        "t=1772366400,t=1772366400,v1=\(signature)", "t=17723664e2,v1=\(signature)", "t=1772366400,v1=abc",
        "t=-1772366400,v1=\(signature)", "t=1772366400;v1=\(signature)",
        "t=1772366400,v1=" + String(repeating: "g", count: 64), "t=99999999999999999999,v1=\(signature)",
        "t=1772366400" + String(repeating: ",v1=\(signature)", count: 17),
    ])
    func `a header without a moment and a signature of the scheme is no signature`(header: String) {
        #expect(read([header]) == .failure(.unsigned))
    }

    @Test func `no header or two are no signature`() {
        let good = "t=\(Self.moment),v1=\(Self.signature)"
        #expect(read([]) == .failure(.unsigned) && read([good, good]) == .failure(.unsigned))
    }

    @Test func `whatever is changed after it was signed is refused`() {
        #expect(read(body: Self.body + " ") == .failure(.wrongSignature))
        #expect(read(body: Self.body.replacing("evt_1", with: "evt_2")) == .failure(.wrongSignature))
        #expect(read(["t=1772366401,v1=\(Self.signature)"]) == .failure(.wrongSignature))
        // The same moment, written otherwise, is not what was signed.
        #expect(read(["t=01772366400,v1=\(Self.signature)"]) == .failure(.wrongSignature))
    }

    @Test(arguments: [(-300, true), (300, true), (-301, false), (301, false), (86_400, false), (-86_400, false)])
    func `a signed moment counts for five minutes in both directions`(seconds: Int64, isIn: Bool) {
        let result = read(at: StandingClock.noon + .seconds(seconds))
        #expect(isIn ? (try? result.get()) != nil : result == .failure(.outOfTime))
    }

    @Test(arguments: [
        (#""#, "d197072396a457e68d6d7b65cc0ceb34ac87643e6c14eb25a60ee90ea2222543"),
        (#"{}"#, "cafd316c1c264f6c2bc1310d4c9ca33d8b6ce97643501a62a8a322fbd0f0443a"),
        (#"[]"#, "88dc03c4ac2157674c3ca1bed84c6ed385235735ff254283463339b6769bac25"),
        (
            #"{"id":"evt_1","object":"charge","data":{"object":{}}}"#,
            "a6547c11aca467a0127cafbfbb74563357281f5c1aa397a4c7032bd3d8850916"
        ),
        (#"{"id":"evt_1","object":"event"}"#, "255581962743a80e64d933682f5db07c6f227d1616be80135832e20ed8b9ad08"),
        (
            #"{"id":"evt_1","object":"event","data":{"object":[]}}"#,
            "d5e6d4e064f80575cb805a6f6f3f47f95b3a9ee33adf6bfdd1614353c7ae56c2"
        ),
        (
            #"{"id":"evt_1","id":"evt_2","object":"event","data":{"object":{}}}"#,
            "bc80af76ce039948fba2cd2cfc889d550a081792606265ea9c65b9427db50489"
        ),
        (
            #"{"id":"","object":"event","data":{"object":{}}}"#,
            "f7ca8d08881b25e9ede2b30a18fc862750c860eda77b4eabe27dee67cb25a2b7"
        ),
    ])
    func `a signed body that is no event is malformed`(body: String, signature: String) {
        #expect(read(["t=\(Self.moment),v1=\(signature)"], body: body) == .failure(.malformed))
    }

    @Test(arguments: [
        (
            #"{"id":"evt_1","object":"event","data":{"object":{}}}"#,
            "3d7785e1110143eea2556b0bb5bfcaf7ce2c34b7b8b2b520bccf2f229040efbc"
        ),
        (
            #"{"id":"evt_1","object":"event","data":{"object":{"metadata":{"reconciled_payment":"order 7"}}}}"#,
            "5621a517318d1a29195623319a9c232c0c073e59a5ac8f0daea80b3a50f472d4"
        ),
    ])
    func `an event about something else names no payment of ours`(body: String, signature: String) throws {
        let read = try read(["t=\(Self.moment),v1=\(signature)"], body: body).get()
        #expect(read.payment == nil && read.key == nil)
    }

    @Test func `the secrets never describe themselves`() {
        let secrets = NotificationSecrets([Self.secret])
        #expect(!"\(secrets)".contains("4c7d"))
        var dumped = ""
        dump(secrets, to: &dumped)
        #expect(!dumped.contains("4c7d"), "\(dumped)")
    }
}
