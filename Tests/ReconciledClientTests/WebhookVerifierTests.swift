import Foundation
import Testing

@testable import ReconciledClient

/// Webhooks that the daemon signed, and what anybody else could send: secrets, signatures and the clock.
@Suite struct WebhookVerifierTests {
    @Test func `a webhook that the daemon signed is read as the client reads a payment`() throws {
        let webhook = try SignedDelivery().verified()
        #expect(webhook.id == "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W" && webhook.type == "payment.updated")
        #expect(webhook.sentAt == SignedDelivery.sentAt)
        let payment = Data(SignedDelivery.payment.utf8)
        #expect(try webhook.payment == JSONDecoder().decode(Payment.self, from: payment))
        #expect(webhook.payment.id == Sample.payment && webhook.payment.state == .succeeded)
    }

    @Test func `the example of the specification has a right signature, and is no payment`() throws {
        let verifier = try WebhookVerifier(secrets: ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"])
        let headers = [
            "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
            "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        ]
        let now = Date(timeIntervalSince1970: 1_614_265_330)
        let (body, other) = (Data(#"{"test": 2432232314}"#.utf8), Data(#"{"test": 2432232315}"#.utf8))
        let (id, sentAt) = try verifier.authenticate(headers: { headers[$0] }, body: body, now: now)
        #expect(id == "msg_p5jXN8AQM9LWM0D4loKWxJek" && sentAt == now)
        #expect(throws: WebhookError.wrongSignature) {
            try verifier.authenticate(headers: { headers[$0] }, body: other, now: now)
        }
        #expect(throws: WebhookError.unreadable("type is missing")) {
            try verifier.verify(headers: headers, body: body, now: now)
        }
    }

    @Test func `what was delivered again has the same id and another moment`() throws {
        let again = try SignedDelivery(timestamp: "1768471260").verified(after: 60)
        #expect(try again.id == SignedDelivery().verified().id && again.sentAt == SignedDelivery.sentAt + 60)
    }

    // MARK: Secrets

    @Test func `either of two secrets signs while one is being replaced`() {
        let (old, new, stranger) = (SigningSecret.old, SigningSecret.new, SigningSecret.stranger)
        for secrets in [[old, new], [new, old], [stranger, old, new]] {
            #expect(SignedDelivery(by: old).refusal(with: secrets) == nil)
            #expect(SignedDelivery(by: new).refusal(with: secrets) == nil)
        }
        #expect(SignedDelivery(by: stranger).refusal(with: [old, new]) == .wrongSignature)
    }

    @Test func `of two signatures one that is right is enough`() {
        var both = SignedDelivery(by: .old)
        both.signature += " " + SignedDelivery(by: .new).signature
        #expect(both.refusal(with: [.old]) == nil && both.refusal(with: [.new]) == nil)
        #expect(both.refusal(with: [.stranger]) == .wrongSignature)
    }

    @Test(arguments: [24, 25, 26, 32, 63, 64])
    func `a secret may have so many bytes`(_ count: Int) {
        let text = "whsec_" + Data(repeating: 0xA5, count: count).base64EncodedString()
        #expect(throws: Never.self) { try WebhookVerifier(secrets: [text]) }
    }

    /// What comes after `whsec_` in a secret that is one.
    private static let base64 = String(SigningSecret.old.text.dropFirst(6))

    @Test(arguments: [
        "", "whsec_", base64, "whsec_\(base64)\n", " whsec_\(base64)", "WHSEC_\(base64)", "whsk_\(base64)",
        "whsec_whsec_\(base64)", "whsec_" + base64.dropLast(), "whsec_\(base64),whsec_\(base64)",
        "whsec_" + String(repeating: "a-_a", count: 10), "whsec_" + String(repeating: "paßw", count: 10),
        // The last character says more than the bytes have.
        "whsec_" + String(repeating: "a", count: 42) + "b=",
        "whsec_" + Data(repeating: 0xA5, count: 23).base64EncodedString(),
        "whsec_" + Data(repeating: 0xA5, count: 65).base64EncodedString(),
    ])
    func `what is no secret is refused, and the error does not tell it`(_ text: String) throws {
        let error = try #require(throws: WebhookError.self) {
            try WebhookVerifier(secrets: [SigningSecret.new.text, text])
        }
        let shown = "\(error)"
        #expect(shown.hasPrefix("the secrets cannot be used: secret 2 of 2 "))
        #expect(shown.contains("each whsec_ and the base64 of 24 to 64 bytes"))
        // Any eight characters in a row of a secret would be too many.
        let told = Array(text).indices.dropLast(7).map { String(Array(text)[$0..<($0 + 8)]) }
        #expect(!told.contains { shown.contains($0) })
    }

    @Test func `a verifier without a secret is none`() {
        #expect(throws: WebhookError.invalidSecret("there is none")) { try WebhookVerifier(secrets: []) }
    }

    // MARK: Signatures

    @Test(arguments: ["v1a,AAAA", "v2,short", "v9,", "v0,a,b,c v1a,x"])
    func `versions that are not known are passed over, and do not count`(_ others: String) {
        var sent = SignedDelivery()
        let right = sent.signature
        for header in ["\(others) \(right)", "\(right) \(others)", "\(others)  \(right) \(others)"] {
            sent.signature = header
            #expect(sent.refusal() == nil, "\(header)")
        }
        for header in [others, "v2" + right.dropFirst(2), "V1" + right.dropFirst(2)] {
            sent.signature = header
            #expect(sent.refusal() == .wrongSignature, "\(header)")
        }
    }

    @Test func `a change of any character of the id or the moment is refused`() {
        let sent = SignedDelivery()
        for part in [\SignedDelivery.id, \.timestamp] {
            let text = Array(sent[keyPath: part].utf8)
            for place in text.indices {
                // A digit becomes another digit.
                var bytes = text
                bytes[place] ^= 1
                var changed = sent
                changed[keyPath: part] = String(decoding: bytes, as: UTF8.self)
                #expect(changed.refusal() == .wrongSignature, "\(changed[keyPath: part])")
            }
        }
    }

    @Test func `a change of any byte of the body is refused`() {
        let sent = SignedDelivery()
        for place in sent.body.indices {
            var changed = sent
            changed.body[place] ^= 1
            #expect(changed.refusal() == .wrongSignature, "byte \(place)")
        }
        for body in [sent.body.dropLast(), sent.body + Data("\n".utf8), Data(" ".utf8) + sent.body, Data()] {
            var changed = sent
            changed.body = body
            #expect(changed.refusal() == .wrongSignature, "\(body.count) bytes")
        }
    }

    @Test func `a change of any character of the signature is refused`() {
        let sent = SignedDelivery()
        let characters = Array(sent.signature)
        // The last character before the padding has two bits that mean nothing, so that all of base64 is tried.
        let base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=, "
        var accepted: [String] = []
        for place in characters.indices {
            for other in base64 where other != characters[place] {
                var text = characters
                text[place] = other
                var changed = sent
                changed.signature = String(text)
                let refusal = changed.refusal()
                if refusal != .wrongSignature, refusal != .malformedHeader("webhook-signature") {
                    accepted.append(changed.signature)
                }
            }
        }
        #expect(accepted.isEmpty)
    }

    @Test func `bytes cannot be moved between the id, the moment and the body`() {
        var sent = SignedDelivery(body: "1768471200." + SignedDelivery.message())
        sent.id += ".1768471200"
        sent.body = Data(SignedDelivery.message().utf8)
        #expect(sent.refusal() == .malformedHeader("webhook-id"))
    }

    // MARK: The clock

    @Test(
        arguments: [
            (0, nil), (300, nil), (-300, nil), (300.5, .tooOld), (301, .tooOld), (86_400, .tooOld),
            (-300.5, .fromTheFuture), (-301, .fromTheFuture), (-86_400, .fromTheFuture),
        ] as [(TimeInterval, WebhookError?)])
    func `a moment counts for five minutes in both directions`(_ seconds: TimeInterval, _ error: WebhookError?) {
        #expect(SignedDelivery().refusal(after: seconds) == error)
        // Nobody without a secret learns what our clock says.
        #expect(SignedDelivery(by: .stranger).refusal(after: seconds) == .wrongSignature)
    }

    @Test(arguments: [0, 5, 3_600] as [TimeInterval])
    func `another tolerance may be given`(_ tolerance: TimeInterval) throws {
        let verifier = try WebhookVerifier(secrets: [SigningSecret.old.text], tolerance: tolerance)
        let sent = SignedDelivery()
        func verify(after seconds: TimeInterval) throws -> PaymentWebhook {
            try verifier.verify(headers: sent.headers, body: sent.body, now: SignedDelivery.sentAt + seconds)
        }
        for seconds in [-tolerance, tolerance] { #expect(throws: Never.self) { try verify(after: seconds) } }
        #expect(throws: WebhookError.tooOld) { try verify(after: tolerance + 1) }
        #expect(throws: WebhookError.fromTheFuture) { try verify(after: -tolerance - 1) }
    }

    @Test(arguments: [-1, .infinity, .nan] as [TimeInterval])
    func `a tolerance that would refuse or take everything is none`(_ tolerance: TimeInterval) throws {
        let error = try #require(throws: WebhookError.self) {
            try WebhookVerifier(secrets: [SigningSecret.old.text], tolerance: tolerance)
        }
        #expect("\(error)" == "a tolerance of \(tolerance) seconds is none; allowed are 0 or more")
    }

    @Test func `now is the moment of this machine unless another is given`() throws {
        let verifier = try WebhookVerifier(secrets: [SigningSecret.old.text])
        let fresh = SignedDelivery(timestamp: "\(Int(Date().timeIntervalSince1970))")
        #expect(throws: Never.self) { try verifier.verify(headers: fresh.headers, body: fresh.body) }
        let early = SignedDelivery(timestamp: "0")
        #expect(throws: WebhookError.tooOld) { try verifier.verify(headers: early.headers, body: early.body) }
    }
}
