internal import Crypto
public import Foundation

/// Tells the daemon's webhooks from those of anybody else, and reads them.
///
/// They are signed after the Standard Webhooks specification: `v1`, HMAC-SHA256 under a secret that you share with the
/// daemon. Give it the body as it came, byte for byte. A body that was parsed and written anew is another one.
///
/// ```swift
/// let verifier = try WebhookVerifier(secrets: [secret])
/// let webhook = try verifier.verify(headers: headers, body: body)
/// ```
///
/// A webhook may come more than once. Remember the ``PaymentWebhook/id`` of each, and take it once.
public struct WebhookVerifier: Sendable {
    /// Names of headers, in lowercase.
    private enum Header {
        static let id = "webhook-id"
        static let timestamp = "webhook-timestamp"
        static let signature = "webhook-signature"
    }

    /// What the specification allows, in bytes.
    private static let secretBytes = 24...64
    /// Of the identifier, in bytes.
    private static let longestID = 256
    /// Of the moment, in digits.
    private static let longestTimestamp = 12
    /// Of all signatures, in bytes.
    private static let longestSignature = 4_096
    /// So many signatures are compared at the most, because each comparison reads the whole body.
    private static let mostSignatures = 16

    private let keys: [SymmetricKey]
    private let tolerance: TimeInterval

    /// - Parameters:
    ///   - secrets: `whsec_` and the base64 of 24 to 64 bytes, each. What one of them signed counts. While a secret is
    ///     being replaced, name the old one and the new one. At least one.
    ///   - tolerance: how far `webhook-timestamp` may be from the clock of this machine, in seconds, in both
    ///     directions. 0 or more.
    ///
    /// Throws ``WebhookError/invalidSecret(_:)`` or ``WebhookError/invalidTolerance(_:)``. No error has a
    /// secret in it.
    public init(secrets: [String], tolerance: TimeInterval = 300) throws {
        guard !secrets.isEmpty else { throw WebhookError.invalidSecret("there is none") }
        guard tolerance.isFinite, tolerance >= 0 else { throw WebhookError.invalidTolerance(tolerance) }
        keys = try secrets.enumerated().map { index, secret in
            try Self.key(secret, called: "secret \(index + 1) of \(secrets.count)")
        }
        self.tolerance = tolerance
    }

    /// The webhook, if the daemon signed it and its moment is within the tolerance.
    ///
    /// - Parameters:
    ///   - headers: gives the value of a header, or `nil`. It is asked for names in lowercase, such as `webhook-id`.
    ///   - body: what came, byte for byte.
    ///   - now: the moment that `webhook-timestamp` is compared with.
    ///
    /// Throws a ``WebhookError``. Answer then with a status that is no 2xx, such as 400. The body is read only
    /// after its signature was found right.
    public func verify(
        headers: (String) -> String?, body: Data, now: Date = Date()
    ) throws -> PaymentWebhook {
        let (id, sentAt) = try authenticate(headers: headers, body: body, now: now)
        return try PaymentWebhook(id: id, sentAt: sentAt, body: body)
    }

    /// The same, with the headers by their names. Upper and lower case make no difference in names.
    ///
    /// A name that is there twice, as `Webhook-Id` and `webhook-id`, is refused with
    /// ``WebhookError/malformedHeader(_:)``: nobody knows which one counts.
    public func verify(
        headers: [String: String], body: Data, now: Date = Date()
    ) throws -> PaymentWebhook {
        // Joined as in RFC 9110, 5.2. No such value has the form that is wanted.
        let byName = Dictionary(headers.map { ($0.lowercased(), $1) }) { "\($0), \($1)" }
        return try verify(headers: { byName[$0] }, body: body, now: now)
    }

    /// All that is verified before the body is read.
    func authenticate(
        headers: (String) -> String?, body: Data, now: Date
    ) throws(WebhookError) -> (id: String, sentAt: Date) {
        let id = try Self.id(headers)
        let timestamp = try Self.timestamp(headers)
        let signatures = try Self.signatures(headers)
        let signed = Data("\(id).\(timestamp.text).".utf8) + body
        let isSigned = keys.contains { key in
            signatures.contains { HMAC<SHA256>.isValidAuthenticationCode($0, authenticating: signed, using: key) }
        }
        // The signature first: nobody without a secret learns what our clock says.
        guard isSigned else { throw .wrongSignature }
        let age = now.timeIntervalSince(timestamp.moment)
        guard age <= tolerance else { throw .tooOld }
        guard -age <= tolerance else { throw .fromTheFuture }
        return (id, timestamp.moment)
    }
}

// MARK: Reading what is given

extension WebhookVerifier {
    private static func key(_ secret: String, called name: String) throws(WebhookError) -> SymmetricKey {
        let prefix = "whsec_"
        guard secret.utf8.starts(with: prefix.utf8) else {
            throw .invalidSecret("\(name) does not begin with \(prefix)")
        }
        let base64 = String(decoding: secret.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
        guard let bytes = bytes(base64: base64) else {
            throw .invalidSecret("\(name) has no base64 after \(prefix)")
        }
        guard secretBytes.contains(bytes.count) else { throw .invalidSecret("\(name) has \(bytes.count) bytes") }
        return SymmetricKey(data: bytes)
    }

    /// Visible ASCII. A full stop would let what is signed be parted in two ways.
    private static func id(_ headers: (String) -> String?) throws(WebhookError) -> String {
        let id = try value(Header.id, headers)
        let isInForm = id.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ".") }
        guard (1...longestID).contains(id.utf8.count), isInForm else { throw .malformedHeader(Header.id) }
        return id
    }

    /// The text is what is signed, and the moment is what it means.
    private static func timestamp(
        _ headers: (String) -> String?
    ) throws(WebhookError) -> (text: String, moment: Date) {
        let text = try value(Header.timestamp, headers)
        let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard text.utf8.count <= longestTimestamp, isNumber, let seconds = Int64(text) else {
            throw .malformedHeader(Header.timestamp)
        }
        return (text, Date(timeIntervalSince1970: TimeInterval(seconds)))
    }

    /// `v1,K5oZ… v1,g0hM… v1a,…`. Other versions are passed over.
    private static func signatures(_ headers: (String) -> String?) throws(WebhookError) -> [Data] {
        let header = try value(Header.signature, headers)
        let entries = header.split(separator: " ")
        guard header.utf8.count <= longestSignature, !entries.isEmpty else { throw .malformedHeader(Header.signature) }
        var signatures: [Data] = []
        for entry in entries {
            let parts = entry.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !parts[0].isEmpty else { throw .malformedHeader(Header.signature) }
            guard parts[0] == "v1" else { continue }
            guard let signature = bytes(base64: String(parts[1])), signature.count == SHA256.byteCount else {
                throw .malformedHeader(Header.signature)
            }
            signatures.append(signature)
        }
        guard signatures.count <= mostSignatures else { throw .malformedHeader(Header.signature) }
        return signatures
    }

    private static func value(
        _ name: String, _ headers: (String) -> String?
    ) throws(WebhookError) -> String {
        guard let value = headers(name) else { throw .missingHeader(name) }
        return value
    }

    /// Only the one way to write these bytes is read.
    private static func bytes(base64 text: String) -> Data? {
        guard let bytes = Data(base64Encoded: text), bytes.base64EncodedString() == text else { return nil }
        return bytes
    }
}
