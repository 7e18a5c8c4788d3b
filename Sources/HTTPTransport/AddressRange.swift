#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// IP addresses that begin with the same bits: an address and the length of its prefix, as in `10.1.0.0/16`.
public struct AddressRange: Sendable, Hashable {
    private let first: IPAddress
    /// How many bits all addresses of the range have in common.
    private let prefix: Int

    /// Reads `10.1.0.0/16` or `fd00:1::/64`.
    ///
    /// A bare address is a range of one. `nil` if the text is anything else: an address in another spelling than
    /// four decimal numbers or RFC 4291's, a zone, a prefix longer than the address, or bits set after the prefix.
    /// `nil` also if all of it are IPv4 addresses in the form of IPv6: name them as IPv4.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first.flatMap({ IPAddress(String($0)) }) else { return nil }
        let bits = first.bytes.count * 8
        if parts.count == 1 {
            prefix = bits
        } else {
            guard let length = Self.number(parts[1]), length <= bits else { return nil }
            prefix = length
        }
        self.first = first
        guard isFirst, first.inner == nil || prefix < 96 else { return nil }
    }

    /// A decimal number of at most three digits in its one spelling.
    private static func number(_ text: Substring) -> Int? {
        let digits = text.utf8
        guard (1...3).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        guard digits.count == 1 || digits.first != 0x30 else { return nil }
        return Int(text)
    }

    /// Whether no bit is set after the prefix.
    private var isFirst: Bool {
        first.bytes.enumerated().allSatisfy { index, byte in
            let common = min(8, max(0, prefix - index * 8))
            return byte & UInt8(0xFF >> common) == 0
        }
    }

    /// Whether the address, as it is written, begins with the prefix.
    func contains(_ address: IPAddress) -> Bool {
        guard address.bytes.count == first.bytes.count else { return false }
        return zip(address.bytes, first.bytes).enumerated().allSatisfy { index, pair in
            let common = min(8, max(0, prefix - index * 8))
            return (pair.0 ^ pair.1) & ~UInt8(0xFF >> common) == 0
        }
    }
}

/// The bytes of an IP address in the order of the network: 4 or 16.
struct IPAddress: Sendable, Hashable {
    let bytes: [UInt8]

    private init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Reads an address as `inet_pton` does, which takes none of the short, octal or hexadecimal forms of IPv4.
    init?(_ text: String) {
        // No text with a zero byte reaches C, which would read it only up to there.
        guard text.utf8.allSatisfy({ $0 != 0 }) else { return nil }
        let isLong = text.utf8.contains(UInt8(ascii: ":"))
        var bytes = [UInt8](repeating: 0, count: isLong ? 16 : 4)
        let code = bytes.withUnsafeMutableBytes { inet_pton(isLong ? AF_INET6 : AF_INET, text, $0.baseAddress) }
        guard code == 1 else { return nil }
        self.bytes = bytes
    }

    /// The address in a `sockaddr` of `length` bytes, all of which can be read; `nil` if it is of another family.
    init?(_ address: UnsafeRawPointer, length: Int) {
        guard length >= MemoryLayout<sockaddr>.size else { return nil }
        switch Int32(address.loadUnaligned(as: sockaddr.self).sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self.init(withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in.self).sin_addr, Array.init))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            self.init(withUnsafeBytes(of: address.loadUnaligned(as: sockaddr_in6.self).sin6_addr, Array.init))
        default:
            return nil
        }
    }

    /// The IPv4 address which this IPv6 address leads to: by the kernel (`::ffff:0:0/96`) or by a translator at
    /// the edge of the network (`64:ff9b::/96`, RFC 6052).
    var inner: IPAddress? {
        guard bytes.count == 16, Self.carriers.contains(where: bytes.starts(with:)) else { return nil }
        return IPAddress(Array(bytes.suffix(4)))
    }

    private static let carriers: [[UInt8]] = [
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
        [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
}
