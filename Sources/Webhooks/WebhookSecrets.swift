internal import Crypto
internal import Foundation
internal import Synchronization

/// One secret with which webhooks are signed, as the Standard Webhooks specification writes it: `whsec_` and the Base64
/// form of 24 to 64 bytes.
public struct WebhookSecret: Sendable, Hashable, CustomStringConvertible {
    /// What a secret has to look like, for messages.
    public static let allowed = "whsec_ and 24 to 64 bytes in Base64"

    private let bytes: [UInt8]

    /// A secret; `nil` if the text is none.
    public init?(_ text: String) {
        let prefix = "whsec_"
        guard text.hasPrefix(prefix), let bytes = Data(base64Encoded: String(text.dropFirst(prefix.count))),
            (24...64).contains(bytes.count)
        else { return nil }
        self.bytes = [UInt8](bytes)
    }

    /// Always the same text.
    public var description: String { "WebhookSecret(redacted)" }

    /// The signature of one message: version 1, HMAC with SHA-256.
    func signature(id: String, timestamp: Int64, body: [UInt8]) -> String {
        let signed = Array("\(id).\(timestamp).".utf8) + body
        let code = HMAC<SHA256>.authenticationCode(for: signed, using: SymmetricKey(data: bytes))
        return "v1,\(Data(code).base64EncodedString())"
    }
}

/// The secrets of one caller's webhooks: one, or two while it is replaced. Others may be put in their place while the
/// process runs.
public final class WebhookSecrets: Sendable, CustomStringConvertible {
    private let secrets: Mutex<[WebhookSecret]>

    /// The secrets of now. Every one of them signs.
    public init(_ secrets: [WebhookSecret]) { self.secrets = Mutex(secrets) }

    var current: [WebhookSecret] { secrets.withLock { $0 } }

    /// Puts others in their place, for the next delivery; `false` if they are the same.
    public func replace(with others: [WebhookSecret]) -> Bool {
        secrets.withLock { secrets in
            guard secrets != others else { return false }
            secrets = others
            return true
        }
    }

    /// Always the same text.
    public var description: String { "WebhookSecrets(redacted)" }
}
