internal import Crypto

/// A SHA-256 digest.
public struct Digest: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes fields so that no two different lists of fields give the same input: each is preceded by its length.
    public init(of fields: [[UInt8]]) {
        self.init(of: fields) { $0 }
    }

    /// Hashes texts as UTF-8, each preceded by its length.
    public init(of fields: [String]) {
        self.init(of: fields) { $0.utf8 }
    }

    /// The digest of bytes as they are, as `sha256sum` prints it of a file.
    public init(ofFile content: [UInt8]) { bytes = Array(SHA256.hash(data: content)) }

    /// Hashes once over one buffer: each call of the hash costs more than the few bytes that a field has.
    private init<Field, Bytes: Collection<UInt8>>(of fields: [Field], bytes: (Field) -> Bytes) {
        var input: [UInt8] = []
        input.reserveCapacity(fields.reduce(0) { $0 + 8 + bytes($1).count })
        for field in fields {
            let content = bytes(field)
            let length = UInt64(content.count)
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                input.append(UInt8(truncatingIfNeeded: length >> shift))
            }
            input.append(contentsOf: content)
        }
        self.bytes = Array(SHA256.hash(data: input))
    }

    /// Reads 64 lowercase hexadecimal digits; `nil` for anything else.
    public init?(hex: String) {
        let digits = Array(hex.utf8)
        guard digits.count == 64 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32)
        var high: UInt8?
        for digit in digits {
            let nibble: UInt8
            switch digit {
            case 0x30...0x39: nibble = digit - 0x30
            case 0x61...0x66: nibble = digit - 0x61 + 10
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | nibble)
                high = nil
            } else {
                high = nibble
            }
        }
        self.bytes = bytes
    }

    /// Decodes from hexadecimal.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = Digest(hex: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a SHA-256 digest")
        }
        self = digest
    }

    /// Encodes as hexadecimal.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(hex)
    }

    /// 64 lowercase hexadecimal digits.
    public var hex: String { Digest.hex(bytes) }
    public var description: String { hex }

    static func hex(_ bytes: some Sequence<UInt8>) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            digits.append(digit(byte >> 4))
            digits.append(digit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }
}
