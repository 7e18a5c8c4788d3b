import Crypto
import Foundation

@testable import ReconciledClient

/// What signs webhooks. The signatures are made by the words of the Standard Webhooks specification, from the
/// bytes of a secret and not from its text.
struct SigningSecret {
    static let old = SigningSecret(1)
    static let new = SigningSecret(2)
    static let stranger = SigningSecret(3)

    let bytes: [UInt8]

    /// 32 bytes that differ by their seed.
    init(_ seed: UInt8) { bytes = (0..<32).map { $0 &* 7 &+ seed } }

    var text: String { "whsec_" + Data(bytes).base64EncodedString() }

    func signature(_ id: String, _ timestamp: String, _ body: Data) -> String {
        var mac = HMAC<SHA256>(key: SymmetricKey(data: bytes))
        for part in [Data(id.utf8), Data(".".utf8), Data(timestamp.utf8), Data(".".utf8), body] {
            mac.update(data: part)
        }
        return "v1," + Data(mac.finalize()).base64EncodedString()
    }
}

/// A signed webhook as it came, of which each part can be changed.
struct SignedDelivery {
    /// The moment of those that name no other.
    static let sentAt = Date(timeIntervalSince1970: 1_768_471_200)

    /// A payment as the daemon shows it.
    static var payment: String {
        guard case .answer(_, let body, _) = ScriptedDaemon.Step.payment("succeeded") else { return "" }
        return body
    }

    static func message(_ type: String = "payment.updated") -> String {
        #"{"type": "\#(type)", "timestamp": "2026-01-15T10:00:00.000Z", "data": \#(payment)}"#
    }

    var id: String
    var timestamp: String
    var body: Data
    var signature: String

    init(
        id: String = "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", timestamp: String = "1768471200", body: String = message(),
        by secret: SigningSecret = .old
    ) {
        self.id = id
        self.timestamp = timestamp
        self.body = Data(body.utf8)
        signature = secret.signature(id, timestamp, self.body)
    }

    var headers: [String: String] {
        ["webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature]
    }

    func verified(
        with secrets: [SigningSecret] = [.old], after seconds: TimeInterval = 0
    ) throws -> PaymentWebhook {
        try WebhookVerifier(secrets: secrets.map(\.text)).verify(
            headers: headers, body: body, now: SignedDelivery.sentAt + seconds)
    }

    /// Why it does not count; `nil` if it does.
    func refusal(
        with secrets: [SigningSecret] = [.old], after seconds: TimeInterval = 0
    ) -> WebhookError? {
        do {
            _ = try verified(with: secrets, after: seconds)
            return nil
        } catch {
            return error as? WebhookError ?? .unreadable("\(error)")
        }
    }
}
