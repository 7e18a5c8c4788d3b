import Crypto
import Foundation

/// What a caller of PayPay's wire signs with. It never describes itself.
struct PayPayKeys: Sendable, CustomStringConvertible {
    let apiKey: String
    private let secret: SymmetricKey
    let merchant: String

    /// Reads `API_KEY:API_SECRET:MERCHANT_ID`.
    init?(_ token: String) {
        let parts = token.components(separatedBy: ":")
        guard parts.count == 3, !parts.contains("") else { return nil }
        apiKey = parts[0]
        secret = SymmetricKey(data: Data(parts[1].utf8))
        merchant = parts[2]
    }

    var description: String { "PayPayKeys(redacted)" }

    /// Whether a code authenticates a text.
    func authenticates(_ text: String, _ code: String) -> Bool {
        guard let code = Data(base64Encoded: code) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(text.utf8), using: secret)
    }
}

/// The `Authorization` of PayPay's wire, taken apart:
/// `hmac OPA-Auth:KEY:CODE:NONCE:EPOCH:HASH` (www.paypay.ne.jp/opa/doc/v1.0/api_authorization.html).
struct PayPayAuthorization: Sendable {
    /// How long before and after its moment a signature is good.
    static let toleranceMs: Int64 = 120_000

    private let key: String
    private let code: String
    private let nonce: String
    private let epoch: String
    private let hash: String

    init?(_ header: String?) {
        guard let header, header.hasPrefix("hmac OPA-Auth:") else { return nil }
        let parts = header.dropFirst("hmac OPA-Auth:".count).components(separatedBy: ":")
        guard parts.count == 5, !parts.contains("") else { return nil }
        (key, code, nonce, epoch, hash) = (parts[0], parts[1], parts[2], parts[3], parts[4])
    }

    /// Whether it is good for a message.
    /// - Parameters:
    ///   - keys: nil: any key and any code.
    ///   - now: milliseconds since 1970, by the provider's clock.
    func isGood(for message: ReceivedMessage, _ keys: PayPayKeys?, now: Int64) -> Bool {
        guard nonce.utf8.count == 8, let seconds = Int64(epoch), abs(seconds) < 1 << 40,
            abs(now - seconds * 1_000) <= Self.toleranceMs, let body = message.body
        else { return false }
        var type = "empty"
        var expected = "empty"
        if !body.isEmpty {
            guard let given = message.contentType else { return false }
            type = given
            expected = Data(Insecure.MD5.hash(data: Data(given.utf8) + body)).base64EncodedString()
        }
        guard hash == expected else { return false }
        guard let keys else { return true }
        let signed = "\(message.sentPath)\n\(message.method)\n\(nonce)\n\(epoch)\n\(type)\n\(hash)"
        return key == keys.apiKey && keys.authenticates(signed, code)
    }
}
