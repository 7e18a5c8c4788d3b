/// An amount in the currency's minor unit.
///
/// Decoding refuses values below 1 and codes that are not three letters.
public struct Amount: Codable, Sendable, Hashable {
    /// In the currency's minor unit.
    public let value: Int64
    /// ISO 4217 code.
    public let currency: String

    /// For values that were validated before; what comes from outside is decoded.
    public init(value: Int64, currency: String) {
        self.value = value
        self.currency = currency
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case value, currency
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decode(Int64.self, forKey: .value)
        currency = try container.decode(String.self, forKey: .currency)
        guard value >= 1 else { throw decoder.refuse(CodingKeys.value, "at least 1") }
        guard Self.isCode(currency) else { throw decoder.refuse(CodingKeys.currency, "three capital letters") }
    }

    /// Whether a text has the form of a currency's code.
    static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy((UInt8(ascii: "A")...UInt8(ascii: "Z")).contains)
    }

    /// The same currency, another value.
    func with(value: Int64) -> Amount {
        Amount(value: value, currency: currency)
    }
}
