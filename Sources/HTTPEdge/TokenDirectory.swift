internal import Crypto
package import PaymentCore

/// Who stands behind a bearer token: owners by the SHA-256 digests of their tokens. A token itself is never kept.
///
/// An owner may have several tokens, so that one can be replaced while the other is still in use. A token belongs to
/// one owner.
package struct TokenDirectory<Owner: Hashable & Sendable>: Sendable {
    /// A token belongs to two owners.
    package struct SharedToken: Error, Sendable, Hashable {
        /// The owners that share it.
        package let owners: [Owner]
    }

    private let owners: [[UInt8]: Owner]

    /// A directory of owners with the digests of their tokens, as `sha256sum` prints them.
    /// - Throws: ``SharedToken`` where two owners have the same token.
    package init(_ entries: [(owner: Owner, tokenDigest: PaymentCore.Digest)]) throws(SharedToken) {
        var owners: [[UInt8]: Owner] = [:]
        for (owner, digest) in entries {
            if let other = owners[digest.bytes], other != owner { throw SharedToken(owners: [other, owner]) }
            owners[digest.bytes] = owner
        }
        self.owners = owners
    }

    /// Whose token it is.
    ///
    /// The look-up is by digest, which nobody can steer towards an entry byte by byte. The entry found is compared
    /// once more in constant time.
    package func owner(bearing token: String) -> Owner? { owner(ofDigest: TokenDirectory.digest(token)) }

    /// The SHA-256 digest of a token, under which its owner is found again.
    package static func digest(_ token: String) -> [UInt8] { Array(SHA256.hash(data: Array(token.utf8))) }

    /// Whose token has this digest.
    package func owner(ofDigest digest: [UInt8]) -> Owner? {
        guard let index = owners.index(forKey: digest) else { return nil }
        let (known, owner) = owners[index]
        let difference = zip(known, digest).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return known.count == digest.count && difference == 0 ? owner : nil
    }

    /// Whose request it is, by the values of its `Authorization` headers.
    package func owner(authorization values: [String]) -> Owner? {
        BearerCredential.token(authorization: values, longest: 512).flatMap { owner(bearing: $0) }
    }
}
