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
        /// It holds a card number, as ``CardNumber`` knows one.
        case cardNumber
    }

    /// Accepts 1 to 128 visible ASCII characters. Those that hold a card number are refused, unless the rule says
    /// otherwise: the tokens of some providers look like one.
    public init(token: String, cardNumbers rule: CardNumber.Rule = .refuse) throws(Failure) {
        guard !token.isEmpty, token.utf8.count <= 128, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed
        }
        guard rule == .accept || !CardNumber.appears(in: token) else { throw .cardNumber }
        self.token = token
    }

    /// Decodes and validates the bare token. It is not searched for a card number: what is stored was let in once, by
    /// the rule of that day or by a setting, and its payment must be read by every later version.
    public init(from decoder: any Decoder) throws {
        try self.init(token: decoder.singleValueContainer().decode(String.self), cardNumbers: .accept)
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
