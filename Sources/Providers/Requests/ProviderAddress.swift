/// Where a provider is reached: an absolute `http` or `https` address, to which the paths of its contract are
/// added.
public struct ProviderAddress: Sendable, Hashable, CustomStringConvertible {
    /// Scheme, authority and path, without a slash at the end.
    let text: String

    /// Why a text is no address of a provider.
    public struct Malformed: Error, Sendable, Hashable {
        /// What is wrong, in words.
        public let reason: String
    }

    /// Accepts an absolute address of visible ASCII without user information, query or fragment.
    ///
    /// Slashes at its end do not count. Whether `http` may be used is for the sender to say.
    public init(_ text: String) throws(Malformed) {
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else {
            throw Malformed(reason: "only visible ASCII is allowed, without a backslash")
        }
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { throw Malformed(reason: "it must begin with https:// or http://") }
        let rest = text.dropFirst(scheme.utf8.count)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.isEmpty, !authority.hasPrefix(":") else {
            throw Malformed(reason: "the host is missing")
        }
        guard !authority.contains("@") else {
            throw Malformed(reason: "user information does not belong in it; use the token")
        }
        guard !rest.contains("?"), !rest.contains("#") else {
            throw Malformed(reason: "a query or fragment does not belong in it")
        }
        var trimmed = scheme + rest
        while trimmed.hasSuffix("/"), trimmed.utf8.count > scheme.utf8.count { trimmed.removeLast() }
        self.text = trimmed
    }

    /// The address as text.
    public var description: String { text }

    /// The address of one resource.
    ///
    /// Segments, names and values may hold anything.
    func url(path: [String], query: [(name: String, value: String)]) -> String {
        var url = text
        for segment in path { url += "/" + Self.encoded(segment) }
        for (position, item) in query.enumerated() {
            url += (position == 0 ? "?" : "&") + Self.encoded(item.name) + "=" + Self.encoded(item.value)
        }
        return url
    }

    /// Percent-encodes everything but letters, digits, `-` and `_`.
    ///
    /// The other unreserved characters are encoded too, so that no segment can be read as `.` or `..` on its
    /// way.
    private static func encoded(_ text: String) -> String {
        let hexadecimal: [Character] = Array("0123456789ABCDEF")
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded.append("%")
                encoded.append(hexadecimal[Int(byte >> 4)])
                encoded.append(hexadecimal[Int(byte & 15)])
            }
        }
        return encoded
    }
}
