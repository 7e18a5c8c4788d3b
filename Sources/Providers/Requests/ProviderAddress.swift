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

    /// Accepts an absolute address of visible ASCII with a host, and without user information, query or fragment. The
    /// scheme may be written in capitals (RFC 3986, section 3.1); a port is 1 to 65535.
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
        guard !authority.contains("@") else {
            throw Malformed(reason: "user information does not belong in it; use the token")
        }
        try Self.check(authority)
        guard !rest.contains("?"), !rest.contains("#") else {
            throw Malformed(reason: "a query or fragment does not belong in it")
        }
        var trimmed = scheme + rest
        while trimmed.hasSuffix("/"), trimmed.utf8.count > scheme.utf8.count { trimmed.removeLast() }
        self.text = trimmed
    }

    /// A host and, after a colon, a port.
    private static func check(_ authority: Substring) throws(Malformed) {
        let end = authority.hasPrefix("[") ? authority.firstIndex(of: "]") : nil
        let colon = authority[(end ?? authority.startIndex)...].firstIndex(of: ":") ?? authority.endIndex
        let host = authority[..<colon]
        guard !host.isEmpty else { throw Malformed(reason: "the host is missing") }
        guard host.hasPrefix("[") ? isBracketed(host) : isName(host) else {
            throw Malformed(reason: "the host '\(host)' is neither a name nor an address")
        }
        guard colon < authority.endIndex else { return }
        let digits = authority[authority.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port)
        else { throw Malformed(reason: "the port '\(digits)' is not from 1 to 65535") }
    }

    /// Letters, digits, hyphens and underscores, with single dots between them.
    private static func isName(_ host: Substring) -> Bool {
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        // A dot at the end says that the name is complete.
        let named = labels.count > 1 && labels.last?.isEmpty == true ? labels.dropLast() : labels[...]
        return host.utf8.count <= 253
            && named.allSatisfy { label in
                (1...63).contains(label.utf8.count) && label.unicodeScalars.allSatisfy(isPlain)
            }
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": true
        default: false
        }
    }

    /// An IPv6 address in its brackets. Whether it is one in full, the resolver says.
    private static func isBracketed(_ host: Substring) -> Bool {
        guard host.hasSuffix("]") else { return false }
        let inner = host.dropFirst().dropLast()
        return inner.contains(":")
            && inner.unicodeScalars.allSatisfy { $0.properties.isASCIIHexDigit || $0 == ":" || $0 == "." }
    }

    /// The host and, where one is given, the port, in lower case.
    public var authority: String {
        let rest = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false).dropFirst(2)
        return rest.first.map { String($0.prefix { $0 != "/" }).lowercased() } ?? ""
    }

    /// The address as text.
    public var description: String { text }

    /// The address of one resource.
    ///
    /// Segments, names and values may hold anything.
    func url(path: [String], query: [(name: String, value: String)]) -> String {
        var url = text
        for segment in path { url += "/" + PercentEncoding.encoded(segment) }
        return query.isEmpty ? url : url + "?" + PercentEncoding.pairs(query)
    }
}
