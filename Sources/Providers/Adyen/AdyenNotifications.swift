internal import Crypto
internal import Foundation
internal import PaymentCore
internal import Reconciler

/// Adyen's webhooks (docs.adyen.com/development-resources/webhooks/verify-hmac-signatures): the signature is in the
/// body, the HMAC-SHA256 of eight members under a key in hexadecimal.
///
/// The moment is not signed, so an old notification cannot be refused for its age. It says what became of one effect
/// once, and an older word never takes the place of a newer one. Whoever has a genuine one and changes its moment makes
/// it the newest word, so that what failed stays failed whatever is told after it.
struct AdyenNotifications: NotificationReader {
    let secrets: NotificationSecrets

    func read(
        _ notification: SignedNotification, at now: Timestamp
    ) throws(NotificationRefusal) -> ProviderNotification {
        let item: AdyenNotificationItem
        do {
            item = try AdyenNotificationItem(body: notification.body)
        } catch {
            throw .malformed
        }
        guard let signature = item.signature, let code = Data(base64Encoded: signature) else { throw .unsigned }
        guard isSigned(item.signedText, code) else { throw .wrongSignature }
        let news: EffectNews?
        do {
            news = try item.news()
        } catch {
            throw .malformed
        }
        // The moment is not signed: one that lies ahead of ours would outlast whatever is said after it.
        if let news, news.word.at > now + NotificationSecrets.tolerance { throw .outOfTime }
        return ProviderNotification(
            id: "\(item.eventCode) \(item.pspReference) \(item.success)", key: item.key, news: news)
    }

    /// Compared in constant time, with every secret.
    private func isSigned(_ text: String, _ code: Data) -> Bool {
        var isRight = false
        for secret in secrets.current {
            guard let bytes = Self.bytes(ofHex: secret) else { continue }
            if HMAC<SHA256>.isValidAuthenticationCode(
                code, authenticating: Data(text.utf8), using: SymmetricKey(data: bytes))
            {
                isRight = true
            }
        }
        return isRight
    }

    /// The bytes of a key in hexadecimal; `nil` if it is none.
    static func bytes(ofHex text: String) -> Data? {
        let digits = Array(text.utf8)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index..<index + 2], as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(byte)
        }
        return bytes
    }
}

/// The one item of a notification, as it is signed: what is absent is signed as an empty text. An account sends events
/// about much else, whose members have other forms; only of those about an effect is more required.
struct AdyenNotificationItem: Sendable {
    let eventCode: String
    let success: String
    let pspReference: String
    let originalReference: String
    let merchantAccount: String
    let merchantReference: String
    let value: Int64?
    let currency: String
    let date: String
    let reason: String?
    let signature: String?

    init(body: [UInt8]) throws(MalformedAnswer) {
        let items = try AnswerObject(body: body).list("notificationItems") { item throws(MalformedAnswer) in
            try item.object("NotificationRequestItem")
        }
        // JSON notifications have one item (docs.adyen.com/development-resources/webhooks/webhook-types).
        guard items.count == 1 else { throw MalformedAnswer() }
        let item = items[0]
        eventCode = try item.text("eventCode")
        success = try item.optionalText("success") ?? ""
        pspReference = try item.optionalText("pspReference") ?? ""
        originalReference = try item.optionalText("originalReference") ?? ""
        merchantAccount = try item.optionalText("merchantAccountCode") ?? ""
        merchantReference = try item.optionalText("merchantReference") ?? ""
        let amount = try item.optionalObject("amount")
        value = try amount?.optionalWholeNumber("value")
        currency = try amount?.optionalText("currency") ?? ""
        date = try item.optionalText("eventDate") ?? ""
        reason = try item.optionalText("reason")
        signature = try item.optionalObject("additionalData")?.optionalText("hmacSignature")
    }

    /// What is signed.
    var signedText: String {
        [
            pspReference, originalReference, merchantAccount, merchantReference, value.map(String.init) ?? "",
            currency, eventCode, success,
        ].joined(separator: ":")
    }

    /// The key that it names; `nil` where it names none.
    var key: EffectKey? {
        (1...255).contains(merchantReference.utf8.count) ? EffectKey(reported: merchantReference) : nil
    }

    /// What it says of an effect; `nil` where it is about something else.
    ///
    /// - Throws: where it is about an effect, and is not as documented.
    func news() throws(MalformedAnswer) -> EffectNews? {
        guard let (kind, mayBeDone) = Self.kinds[eventCode] else { return nil }
        let reference = try AdyenReference.read(pspReference)
        guard let key, let at = Timestamp(rfc3339: date), ["true", "false"].contains(success),
            let value, value >= 0
        else { throw MalformedAnswer() }
        let isDone = mayBeDone && success == "true"
        let money = kind == .void ? nil : AdyenAmounts.money(value, currency)
        // An amount that nobody here can have asked for.
        guard kind == .void || money != nil else { return nil }
        let word = ProviderWord(
            isDone ? .succeeded : .declined,
            reason: isDone ? nil : ShortCode.of(reason) ?? eventCode.lowercased(), at: at)
        return EffectNews(key: key, kind: kind, reference: reference, amount: money, word: word, isDateSigned: false)
    }

    /// What kind of effect an event is about, and whether it can say that it is done
    /// (docs.adyen.com/development-resources/webhooks/webhook-types).
    private static let kinds: [String: (EffectKind, mayBeDone: Bool)] = [
        "AUTHORISATION": (.authorize, true), "CAPTURE": (.capture, true), "CAPTURE_FAILED": (.capture, false),
        "CANCELLATION": (.void, true), "TECHNICAL_CANCEL": (.void, true), "REFUND": (.refund, true),
        "REFUND_FAILED": (.refund, false), "REFUNDED_REVERSED": (.refund, false),
    ]
}
