/// What an `Authorization` header says (RFC 6750).
package enum BearerCredential {
    /// The token of a request, by the values of its `Authorization` headers: one header, the scheme `Bearer`, and a
    /// token of visible characters of ASCII.
    /// - Parameter longest: How many characters it may have.
    package static func token(authorization values: [String], longest: Int) -> String? {
        guard values.count == 1, let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let scheme = parts.first, scheme.lowercased() == "bearer",
            let token = parts.last, (1...longest).contains(token.utf8.count),
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return String(token)
    }
}
