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

    private struct Content: Sendable {
        let tokens: TokenDirectory<CallerAccess>
        let rates: [CallerID: CallerRate]
    }

    private let content: Replaceable<Content>
    /// How many callers there were at first, however many tokens they have.
    let count: Int

    /// A directory of callers with the SHA-256 digests of their tokens.
    ///
    /// - Parameters:
    ///   - entries: Each token, with what it permits.
    ///   - rates: How many requests are answered, for the callers that have such a limit.
    /// - Throws: ``AmbiguousToken`` where two callers have the same token, or one caller has it with different rights.
    public init(
        _ entries: [(access: CallerAccess, tokenDigest: PaymentCore.Digest)], rates: [CallerID: CallerRate] = [:]
    ) throws(AmbiguousToken) {
        count = Set(entries.map(\.access.caller)).count
        do {
            let tokens = try TokenDirectory(entries.map { (owner: $0.access, tokenDigest: $0.tokenDigest) })
            content = Replaceable(Content(tokens: tokens, rates: rates))
        } catch {
            throw AmbiguousToken(callers: error.owners.map(\.caller))
        }
    }

    /// Puts the callers, tokens and rates of another one in the place of these, for the next request and all after it.
    public func replace(with other: CallerDirectory) { content.replace(with: other.content.current) }

    /// The digest under which a token is entered: SHA-256 of its bytes, as `sha256sum` prints it.
    public static func digest(ofToken token: String) -> PaymentCore.Digest? {
        let hex = SHA256.hash(data: Array(token.utf8)).map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
        return PaymentCore.Digest(hex: hex.joined())
    }

    /// Whose token it is, and what it permits.
    func access(bearing token: String) -> CallerAccess? { content.current.tokens.owner(bearing: token) }

    /// Whose request it is, by the values of its `Authorization` headers, and what its token permits.
    func access(authorization values: [String]) -> CallerAccess? {
        content.current.tokens.owner(authorization: values)
    }

    /// How many requests of a caller are answered; `nil` without a limit.
    func rate(of caller: CallerID) -> CallerRate? { content.current.rates[caller] }
}
