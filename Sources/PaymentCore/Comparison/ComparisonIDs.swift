/// What a discrepancy is about.
public enum DiscrepancySubject: Sendable, Hashable, Codable {
    /// A transaction, by its key at the provider.
    case transaction(EffectKey)
    /// The money in one currency.
    case balance(Currency)
}

/// A discrepancy. Derived from what it is about, so that the same finding of two runs is one discrepancy, and one that
/// comes back is the one that went.
public struct DiscrepancyID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// `dis_` and 40 lowercase hexadecimal digits.
    public let text: String

    /// Derives the identifier.
    public init(provider: ProviderName, subject: DiscrepancySubject) {
        let parts =
            switch subject {
            case .transaction(let key): ["transaction", key.text]
            case .balance(let currency): ["balance", currency.code]
            }
        text = "dis_" + Digest.hex(Digest(of: ["reconciled.discrepancy.1", provider.name] + parts).bytes.prefix(20))
    }

    /// Reads an identifier; `nil` if its form is wrong.
    public init?(text: String) {
        guard derivedForm(of: text, prefix: "dis_") else { return nil }
        self.text = text
    }

    /// Decodes and checks the bare text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = DiscrepancyID(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a discrepancy id")
        }
        self = id
    }

    /// Encodes the bare text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: DiscrepancyID, right: DiscrepancyID) -> Bool { left.text < right.text }
    public var description: String { text }
}

/// A run of the comparison. Derived from what is compared, so that nothing is run twice.
public struct ComparisonRunID: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// `cmp_` and 40 lowercase hexadecimal digits.
    public let text: String

    /// Derives the identifier of one attempt at a provider's window.
    public init(
        provider: ProviderName, window: ComparedWindow, kind: ComparisonRun.Kind, attempt: Int, isDry: Bool
    ) {
        let digest = Digest(of: [
            "reconciled.comparison.1", provider.name, String(window.from.milliseconds),
            String(window.to.milliseconds), kind.rawValue, String(attempt), isDry ? "dry" : "real",
        ])
        text = "cmp_" + Digest.hex(digest.bytes.prefix(20))
    }

    /// Reads an identifier; `nil` if its form is wrong.
    public init?(text: String) {
        guard derivedForm(of: text, prefix: "cmp_") else { return nil }
        self.text = text
    }

    /// Decodes and checks the bare text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = ComparisonRunID(text: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not the id of a run")
        }
        self = id
    }

    /// Encodes the bare text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: ComparisonRunID, right: ComparisonRunID) -> Bool { left.text < right.text }
    public var description: String { text }
}

/// Whether a text is a prefix and 40 lowercase hexadecimal digits, as every identifier that is derived.
func derivedForm(of text: String, prefix: String) -> Bool {
    let digits = text.utf8.dropFirst(prefix.utf8.count)
    return text.hasPrefix(prefix) && digits.count == 40
        && digits.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
}
