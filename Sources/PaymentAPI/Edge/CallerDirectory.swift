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
        let subjects: [String: CallerAccess]
        let rates: [CallerID: CallerRate]
    }

    private let content: Replaceable<Content>
    /// How many callers there were at first, however many tokens they have.
    let count: Int

    /// A directory of callers with the SHA-256 digests of their tokens.
    ///
    /// - Parameters:
    ///   - entries: Each token, with what it permits.
    ///   - subjects: Whose the tokens are that somebody else signs, by the subject that they name.
    ///   - rates: How many requests are answered, for the callers that have such a limit.
    /// - Throws: ``AmbiguousToken`` where two callers have the same token, or one caller has it with different rights.
    public init(
        _ entries: [(access: CallerAccess, tokenDigest: PaymentCore.Digest)],
        subjects: [String: CallerAccess] = [:], rates: [CallerID: CallerRate] = [:]
    ) throws(AmbiguousToken) {
        count = Set(entries.map(\.access.caller) + subjects.values.map(\.caller)).count
        do {
            let tokens = try TokenDirectory(entries.map { (owner: $0.access, tokenDigest: $0.tokenDigest) })
            content = Replaceable(Content(tokens: tokens, subjects: subjects, rates: rates))
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

    /// Whose token it is that somebody else has signed for this subject, and what it permits: what the caller may, as
    /// far as the token says so too.
    func access(ofSubject subject: String, scopes: Set<CallerScope>?) -> CallerAccess? {
        guard let access = content.current.subjects[subject] else { return nil }
        let permitted = scopes.map(access.scopes.intersection) ?? access.scopes
        return CallerAccess(access.caller, token: "jwt", scopes: permitted)
    }

    /// How many requests of a caller are answered; `nil` without a limit.
    func rate(of caller: CallerID) -> CallerRate? { content.current.rates[caller] }
}
