/// Why a text is no valid name or key.
public struct MalformedName: Error, Sendable, Hashable {
    /// What was to be made, in words.
    public let kind: String
    /// What is allowed, in words.
    public let allowed: String

    /// A failure.
    public init(kind: String, allowed: String) {
        self.kind = kind
        self.allowed = allowed
    }
}

/// A caller of the API, as the configuration names it.
public struct CallerID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The name: 1 to 64 of `a-z`, `0-9`, `-`, `_`, beginning with a letter or digit.
    public let name: String

    /// Checks the form of the name.
    public init(_ name: String) throws(MalformedName) {
        self.name = try checkedName(name, kind: "caller")
    }

    /// Decodes and checks the bare name.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the bare name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public var description: String { name }
}

/// A provider, as the configuration names it.
public struct ProviderName: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The name: 1 to 64 of `a-z`, `0-9`, `-`, `_`, beginning with a letter or digit.
    public let name: String

    /// Checks the form of the name.
    public init(_ name: String) throws(MalformedName) {
        self.name = try checkedName(name, kind: "provider")
    }

    /// Decodes and checks the bare name.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the bare name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public static func < (left: ProviderName, right: ProviderName) -> Bool { left.name < right.name }
    public var description: String { name }
}

/// The key under which a caller asks for one operation: the `Idempotency-Key` of the request. Scoped to the caller.
public struct IdempotencyKey: Sendable, Hashable, Codable, CustomStringConvertible {
    /// 1 to 255 visible ASCII characters.
    public let text: String

    /// Checks the form of the key.
    public init(_ text: String) throws(MalformedName) {
        guard !text.isEmpty, text.utf8.count <= 255, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw MalformedName(kind: "idempotency key", allowed: "1 to 255 visible ASCII characters")
        }
        self.text = text
    }

    /// Decodes and checks the bare key.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the bare key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var description: String { text }
}

/// A name that has the form of all names of the configuration.
func checkedName(_ name: String, kind: String) throws(MalformedName) -> String {
    let bytes = Array(name.utf8)
    let letters = bytes.allSatisfy { byte in
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || byte == 0x2D || byte == 0x5F
    }
    guard let first = bytes.first, bytes.count <= 64, letters, first != 0x2D, first != 0x5F else {
        throw MalformedName(
            kind: kind, allowed: "1 to 64 of a-z, 0-9, '-' and '_', beginning with a letter or digit")
    }
    return name
}
