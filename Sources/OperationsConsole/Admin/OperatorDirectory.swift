internal import HTTPEdge
public import PaymentCore

/// Who may use the operations API: people by the SHA-256 digest of their bearer token. A token itself is
/// never kept.
public struct OperatorDirectory: Sendable {
    /// A token in the configuration belongs to two people.
    public struct AmbiguousToken: Error, Sendable, Hashable {
        /// The people who share a token.
        public let operators: [String]
    }

    private let tokens: Replaceable<TokenDirectory<Operator>>

    /// A directory of people with the SHA-256 digests of their tokens, as `sha256sum` prints them.
    /// - Throws: ``AmbiguousToken``, because two people stand behind each repair.
    public init(_ entries: [(person: Operator, tokenDigest: PaymentCore.Digest)]) throws(AmbiguousToken) {
        do {
            tokens = Replaceable(try TokenDirectory(entries.map { (owner: $0.person, tokenDigest: $0.tokenDigest) }))
        } catch {
            throw AmbiguousToken(operators: error.owners.map(\.name))
        }
    }

    /// Puts the people and tokens of another one in the place of these, for the next request and all after it.
    public func replace(with other: OperatorDirectory) { tokens.replace(with: other.tokens.current) }

    /// Whose request it is, by the values of its `Authorization` headers, or of those that hold a second token.
    func person(authorization values: [String]) -> Operator? { tokens.current.owner(authorization: values) }

    /// What a session keeps of the token that began it; `nil` if the token belongs to nobody.
    func credential(_ token: String) -> OperatorCredential? {
        let digest = TokenDirectory<Operator>.digest(token)
        return tokens.current.owner(ofDigest: digest) == nil ? nil : OperatorCredential(digest: digest)
    }

    /// Whose credential it is now; `nil` once the token was replaced or its owner taken away.
    func person(_ credential: OperatorCredential) -> Operator? { tokens.current.owner(ofDigest: credential.digest) }
}

/// The digest of an operator's token.
struct OperatorCredential: Sendable, Hashable {
    fileprivate let digest: [UInt8]
}
