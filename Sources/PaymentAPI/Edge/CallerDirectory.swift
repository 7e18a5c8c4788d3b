internal import Crypto
public import PaymentCore

/// Who may call: callers by the SHA-256 digest of their bearer token. A token itself is never kept.
///
/// A caller may have several tokens, so that one can be replaced while the other is still in use; a token
/// belongs to one caller.
public struct CallerDirectory: Sendable {
    /// A token in the configuration is not unique.
    public struct AmbiguousToken: Error, Sendable, Hashable {
        /// The callers that share a token.
        public let callers: [CallerID]
    }

    private let callers: [[UInt8]: CallerID]

    /// A directory of callers with the SHA-256 digests of their tokens.
    /// - Throws: ``AmbiguousToken`` where two callers have the same token.
    public init(_ entries: [(caller: CallerID, tokenDigest: PaymentCore.Digest)]) throws(AmbiguousToken) {
        var callers: [[UInt8]: CallerID] = [:]
        for (caller, digest) in entries {
            if let other = callers[digest.bytes], other != caller {
                throw AmbiguousToken(callers: [other, caller])
            }
            callers[digest.bytes] = caller
        }
        self.callers = callers
    }

    /// The digest under which a token is entered: SHA-256 of its bytes, as `sha256sum` prints it.
    public static func digest(ofToken token: String) -> PaymentCore.Digest? {
        let hex = SHA256.hash(data: Array(token.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return PaymentCore.Digest(hex: hex.joined())
    }

    /// Whose token it is.
    ///
    /// The look-up is by digest, which nobody can steer towards an entry byte by byte; the entry found is
    /// compared once more in constant time.
    func caller(bearing token: String) -> CallerID? {
        let digest = Array(SHA256.hash(data: Array(token.utf8)))
        guard let index = callers.index(forKey: digest) else { return nil }
        let entry = callers[index]
        return CallerDirectory.areEqual(entry.key, digest) ? entry.value : nil
    }

    /// Whose request it is, by the values of its `Authorization` headers.
    func caller(authorization values: [String]) -> CallerID? {
        guard values.count == 1, let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let scheme = parts.first, scheme.lowercased() == "bearer",
            let token = parts.last, (1...512).contains(token.utf8.count),
            token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        return caller(bearing: String(token))
    }

    private static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
