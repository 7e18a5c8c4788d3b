internal import Crypto
internal import Foundation
internal import PaymentCore
internal import Reconciler

/// Stripe's webhooks (docs.stripe.com/webhooks/signature): the header `Stripe-Signature` has the moment `t` and any
/// number of `v1`, each the HMAC-SHA256 of moment, dot and body under the endpoint's secret.
struct StripeNotifications: NotificationReader {
    /// So many signatures are compared at the most.
    private static let mostSignatures = 16

    let secrets: NotificationSecrets

    func read(
        _ notification: SignedNotification, at now: Timestamp
    ) throws(NotificationRefusal) -> ProviderNotification {
        let values = notification.header("stripe-signature")
        guard values.count == 1, let header = values.first, header.utf8.count <= 4_096,
            let (moment, signatures) = Self.parts(of: header)
        else { throw .unsigned }
        // The signature first: nobody without a secret learns what our clock says.
        guard isSigned(moment.text, notification.body, signatures) else { throw .wrongSignature }
        let distance = moment.time < now ? now - moment.time : moment.time - now
        guard distance <= NotificationSecrets.tolerance else { throw .outOfTime }
        do {
            return try Self.event(AnswerObject(body: notification.body))
        } catch {
            throw .malformed
        }
    }

    private static func event(_ object: AnswerObject) throws(MalformedAnswer) -> ProviderNotification {
        let id = try object.text("id")
        guard try object.text("object") == "event", (1...255).contains(id.utf8.count) else { throw MalformedAnswer() }
        let about = try object.object("data").object("object")
        let metadata = try about.optionalTexts("metadata")
        return ProviderNotification(
            id: id, payment: metadata[StripeMetadata.payment].flatMap { PaymentID(text: $0) },
            key: metadata[StripeMetadata.key].map { EffectKey(reported: $0) })
    }

    /// `t=1492774577,v1=…,v1=…,v0=…`. Other schemes are passed over: a `v0` is for tests, and must not count.
    private static func parts(
        of header: String
    ) -> (moment: (text: String, time: Timestamp), signatures: [[UInt8]])? {
        var moment: (text: String, time: Timestamp)?
        var signatures: [[UInt8]] = []
        for part in header.split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard pair.count == 2 else { return nil }
            switch pair[0] {
            case "t":
                let isNumber = pair[1].utf8.count <= 12 && pair[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
                guard moment == nil, isNumber, let seconds = Int64(pair[1]) else { return nil }
                moment = (pair[1], Timestamp(milliseconds: seconds * 1_000))
            case "v1":
                guard let signature = PaymentCore.Digest(hex: pair[1].lowercased()) else { return nil }
                signatures.append(signature.bytes)
            default: break
            }
        }
        guard let moment, (1...mostSignatures).contains(signatures.count) else { return nil }
        return (moment, signatures)
    }

    /// Compared in constant time, with every secret.
    private func isSigned(_ moment: String, _ body: [UInt8], _ signatures: [[UInt8]]) -> Bool {
        let signed = Data(moment.utf8) + Data(".".utf8) + Data(body)
        var isRight = false
        for secret in secrets.current {
            let key = SymmetricKey(data: Data(secret.utf8))
            for signature in signatures
            where HMAC<SHA256>.isValidAuthenticationCode(
                signature, authenticating: signed, using: key)
            {
                isRight = true
            }
        }
        return isRight
    }
}
