import Crypto
import Foundation

/// The token of a provider's caller, kept as its digest so that it cannot be printed, and compared without
/// telling by the time it takes how much of it was right.
struct BearerToken: Sendable {
    private let digest: SHA256Digest

    init(_ token: String) {
        digest = SHA256.hash(data: Data(token.utf8))
    }

    func matches(_ presented: String) -> Bool {
        digest == SHA256.hash(data: Data(presented.utf8))
    }
}
