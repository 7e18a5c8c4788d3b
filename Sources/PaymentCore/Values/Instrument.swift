/// What is charged at a provider: an opaque token for a card, a wallet or an account. Never a card number.
///
/// Its description is redacted, so that it may appear in logs and errors without harm.
public struct Instrument: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// The token as the provider knows it. Only adapters need it.
    public let token: String

    /// Why a text is no instrument.
    public enum Failure: Error, Sendable, Hashable {
        /// Empty, longer than 128 characters, or not visible ASCII.
        case malformed
        /// It looks like a card number: 13 to 19 digits that pass the Luhn check.
        case cardNumber
    }

    /// Accepts 1 to 128 visible ASCII characters that are not a card number.
    public init(token: String) throws(Failure) {
        guard !token.isEmpty, token.utf8.count <= 128, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed
        }
        guard !CardNumber.appears(in: token) else { throw .cardNumber }
        self.token = token
    }

    /// Decodes and validates the bare token.
    public init(from decoder: any Decoder) throws {
        try self.init(token: decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the bare token.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(token)
    }

    /// The last four characters of a long token; only the mark for a short one.
    public var redacted: String { token.utf8.count >= 8 ? "…\(token.suffix(4))" : "…" }

    public var description: String { redacted }
    public var customMirror: Mirror { Mirror(self, children: ["token": redacted]) }
}
