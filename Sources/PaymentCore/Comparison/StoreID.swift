/// The identity of a store: of the books of one daemon, or of several that share a database.
///
/// It is made once, when the store is made, and replicated with everything else, so that both sites have the same. It
/// goes to the providers with each transaction, so that a comparison tells its own from those of another store that
/// uses the same account.
public struct StoreID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// `sto_` and 32 lowercase hexadecimal digits.
    public let text: String

    /// Reads an identity; `nil` if its form is wrong.
    public init?(text: String) {
        guard StoreID.isIdentity(text, "sto_") else { return nil }
        self.text = text
    }

    /// Whether a text is a prefix of four characters and 32 lowercase hexadecimal digits.
    static func isIdentity(_ text: String, _ prefix: String) -> Bool {
        let digits = text.utf8.dropFirst(4)
        let isForm = digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        return text.hasPrefix(prefix) && digits.count == 32 && isForm
    }

    /// Decodes and checks the bare text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = StoreID(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the identity of a store")
        }
        self = id
    }

    /// Encodes the bare text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: StoreID, right: StoreID) -> Bool { left.text < right.text }
    public var description: String { text }
}
