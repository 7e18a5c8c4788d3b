/// A payment. Derived from the caller and its idempotency key, so that the same request names the same payment on
/// another machine with an empty database (trap 8 of the protocol: random identifiers charge twice after rows were
/// lost).
public struct PaymentID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// `pay_` and 40 lowercase hexadecimal digits (160 bits).
    public let text: String

    /// Derives the identifier of the payment that `caller` creates under `key`.
    public init(caller: CallerID, key: IdempotencyKey) {
        let digest = Digest(of: ["reconciled.payment.1", caller.name, key.text])
        text = "pay_" + Digest.hex(digest.bytes.prefix(20))
    }

    /// Reads an identifier; `nil` if its form is wrong.
    public init?(text: String) {
        guard derivedForm(of: text, prefix: "pay_") else { return nil }
        self.text = text
    }

    /// Decodes and checks the bare text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = PaymentID(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a payment id")
        }
        self = id
    }

    /// Encodes the bare text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: PaymentID, right: PaymentID) -> Bool { left.text < right.text }
    public var description: String { text }
}
