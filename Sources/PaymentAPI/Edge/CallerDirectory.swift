internal import Crypto
internal import HTTPEdge
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

    private let tokens: Replaceable<TokenDirectory<CallerID>>
    /// How many callers there were at first, however many tokens they have.
    let count: Int

    /// A directory of callers with the SHA-256 digests of their tokens.
    /// - Throws: ``AmbiguousToken`` where two callers have the same token.
    public init(_ entries: [(caller: CallerID, tokenDigest: PaymentCore.Digest)]) throws(AmbiguousToken) {
        count = Set(entries.map(\.caller)).count
        do {
            tokens = Replaceable(try TokenDirectory(entries.map { (owner: $0.caller, tokenDigest: $0.tokenDigest) }))
        } catch {
            throw AmbiguousToken(callers: error.owners)
        }
    }

    /// Puts the callers and tokens of another one in the place of these, for the next request and all after it.
    public func replace(with other: CallerDirectory) { tokens.replace(with: other.tokens.current) }

    /// The digest under which a token is entered: SHA-256 of its bytes, as `sha256sum` prints it.
    public static func digest(ofToken token: String) -> PaymentCore.Digest? {
        let hex = SHA256.hash(data: Array(token.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return PaymentCore.Digest(hex: hex.joined())
    }

    /// Whose token it is.
    func caller(bearing token: String) -> CallerID? { tokens.current.owner(bearing: token) }

    /// Whose request it is, by the values of its `Authorization` headers.
    func caller(authorization values: [String]) -> CallerID? { tokens.current.owner(authorization: values) }
}
