/// The key K under which a provider is asked for one effect.
///
/// A pure function of (caller, payment id, operation key, leg, effect, generation), encoded as the contract's key
/// format wants it; never of attempt, replica, site or clock. The same request gives the same keys everywhere.
public struct EffectKey: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The encoded key as it goes over the wire.
    public let text: String

    /// What a key is derived from.
    public struct Source: Sendable, Hashable {
        /// Whose payment it is.
        public let caller: CallerID
        /// The payment.
        public let payment: PaymentID
        /// The caller's key of the operation that wants the effect (create, capture, cancel or refund).
        public let operation: IdempotencyKey
        /// The leg's index.
        public let leg: Int
        /// The effect.
        public let effect: EffectKind
        /// 0, raised only by an approved repair.
        public let generation: Int

        /// Puts the parts together.
        public init(
            caller: CallerID, payment: PaymentID, operation: IdempotencyKey, leg: Int, effect: EffectKind,
            generation: Int = 0
        ) {
            self.caller = caller
            self.payment = payment
            self.operation = operation
            self.leg = leg
            self.effect = effect
            self.generation = generation
        }
    }

    /// Derives the key.
    public init(_ source: Source, format: KeyFormat) {
        let digest = Digest(of: [
            "reconciled.effect.1", source.caller.name, source.payment.text, source.operation.text,
            String(source.leg), source.effect.rawValue, String(source.generation),
        ])
        text = format.encode(digest)
    }

    /// Takes a key as a provider reported it.
    public init(reported text: String) { self.text = text }

    /// Decodes the bare text.
    public init(from decoder: any Decoder) throws {
        text = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes the bare text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public static func < (left: EffectKey, right: EffectKey) -> Bool { left.text < right.text }
    public var description: String { text }
}

/// How a provider wants keys to look. Every format keeps at least 120 bits of the digest.
public enum KeyFormat: String, Sendable, Hashable, Codable, CaseIterable {
    /// 64 lowercase hexadecimal digits.
    case hex64
    /// 40 lowercase hexadecimal digits.
    case hex40
    /// A UUID of version 8 (RFC 9562, for derived values).
    case uuid
    /// 26 of `A-Z` and `2-7`: for providers that allow 27 characters or fewer.
    case base32of26

    /// Encodes a digest.
    public func encode(_ digest: Digest) -> String {
        switch self {
        case .hex64: digest.hex
        case .hex40: Digest.hex(digest.bytes.prefix(20))
        case .uuid: KeyFormat.uuid(digest)
        case .base32of26: KeyFormat.base32(digest, count: 26)
        }
    }

    /// A key as this format spells it, where it differs only by capitals: some providers list keys in another case than
    /// they were given. What is no key of this format is left as it is.
    public func spelled(_ text: String) -> String {
        let folded = self == .base32of26 ? text.uppercased() : text.lowercased()
        return folded != text && isForm(folded) ? folded : text
    }

    private func isForm(_ text: String) -> Bool {
        let bytes = text.utf8
        switch self {
        case .hex64: return bytes.count == 64 && bytes.allSatisfy(KeyFormat.isHex)
        case .hex40: return bytes.count == 40 && bytes.allSatisfy(KeyFormat.isHex)
        case .uuid:
            return bytes.count == 36
                && bytes.enumerated().allSatisfy { index, byte in
                    [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : KeyFormat.isHex(byte)
                }
        case .base32of26:
            return bytes.count == 26 && bytes.allSatisfy { (0x41...0x5A).contains($0) || (0x32...0x37).contains($0) }
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }

    private static func uuid(_ digest: Digest) -> String {
        var bytes = Array(digest.bytes.prefix(16))
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        let groups = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
        return groups.map { Digest.hex($0) }.joined(separator: "-")
    }

    private static func base32(_ digest: Digest, count: Int) -> String {
        let alphabet: [Character] = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")
        var text = ""
        var buffer: UInt32 = 0
        var bits = 0
        for byte in digest.bytes {
            guard text.utf8.count < count else { break }
            buffer = buffer << 8 | UInt32(byte)
            bits += 8
            while bits >= 5, text.utf8.count < count {
                text.append(alphabet[Int(buffer >> UInt32(bits - 5) & 31)])
                bits -= 5
            }
            buffer &= 0xFF  // At most 7 bits are left over; what is above them was written.
        }
        return text
    }
}
