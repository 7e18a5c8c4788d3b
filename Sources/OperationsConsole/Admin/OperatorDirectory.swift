internal import Crypto
public import PaymentCore

/// Who may use the operations API: people by the SHA-256 digest of their bearer token. A token itself is
/// never kept.
public struct OperatorDirectory: Sendable {
    /// A token in the configuration belongs to two people.
    public struct AmbiguousToken: Error, Sendable, Hashable {
        /// The people who share a token.
        public let operators: [String]
    }

    private let operators: [[UInt8]: String]

    /// A directory of people with the SHA-256 digests of their tokens, as `sha256sum` prints them.
    /// - Throws: ``AmbiguousToken``, because two people stand behind each repair.
    public init(_ entries: [(name: String, tokenDigest: PaymentCore.Digest)]) throws(AmbiguousToken) {
        var operators: [[UInt8]: String] = [:]
        for (name, digest) in entries {
            if let other = operators[digest.bytes], other != name {
                throw AmbiguousToken(operators: [other, name])
            }
            operators[digest.bytes] = name
        }
        self.operators = operators
    }

    /// Whose request it is, by the values of its `Authorization` headers.
    ///
    /// The look-up is by digest, which nobody can steer towards an entry; what is found is compared in
    /// constant time.
    func person(authorization values: [String]) -> String? {
        guard values.count == 1, let value = values.first else { return nil }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let scheme = parts.first, scheme.lowercased() == "bearer",
            let token = parts.last, (1...512).contains(token.utf8.count)
        else { return nil }
        let digest = Array(SHA256.hash(data: Array(token.utf8)))
        guard let index = operators.index(forKey: digest) else { return nil }
        let (known, name) = operators[index]
        let difference = zip(known, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return known.count == digest.count && difference == 0 ? name : nil
    }
}
