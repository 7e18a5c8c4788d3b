internal import Crypto

/// A SHA-256 digest.
public struct Digest: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Hashes fields so that no two different lists of fields give the same input: each is preceded by its length.
    public init(of fields: [[UInt8]]) {
        var hash = SHA256()
        for field in fields {
            let length = UInt64(field.count)
            let prefix = (0..<8).map { UInt8(truncatingIfNeeded: length >> UInt64(56 - 8 * $0)) }
            hash.update(data: prefix)
            hash.update(data: field)
        }
        bytes = Array(hash.finalize())
    }

    /// Hashes texts as UTF-8, each preceded by its length.
    public init(of fields: [String]) {
        self.init(of: fields.map { Array($0.utf8) })
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
        let alphabet: [Character] = Array("0123456789abcdef")
        var text = ""
        for byte in bytes {
            text.append(alphabet[Int(byte >> 4)])
            text.append(alphabet[Int(byte & 15)])
        }
        return text
    }
}
