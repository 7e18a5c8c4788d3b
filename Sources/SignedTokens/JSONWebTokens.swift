internal import HTTPEdge
package import PaymentAPI
internal import PaymentCore
package import Reconciler
internal import StrictJSON

/// JSON Web Tokens (RFC 7519) that an issuer signs for callers, verified as RFC 8725 advises: the key decides how it is
/// signed and not the token, and what is not understood is refused.
package struct JSONWebTokens: SignedTokenJudge {
    private let rules: TokenRules
    private let keys: KeySetKeeper
    private let clock: any WallClock

    /// A judge by these rules.
    package init(_ rules: TokenRules, keys: KeySetKeeper, clock: any WallClock) {
        self.rules = rules
        self.keys = keys
        self.clock = clock
    }

    /// What a token says.
    package func judge(_ token: String) async -> SignedTokenJudgement {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3,
            let header = JSONWebTokens.members(parts[0]), let claims = JSONWebTokens.members(parts[1]),
            let signature = Base64URL.decode(String(parts[2])), JSONWebTokens.isUnderstood(header),
            case .string(let algorithm)? = header["alg"]
        else { return .refused(.malformed) }
        let name: String?
        switch header["kid"] {
        case nil: name = nil
        case .string(let text): name = text
        default: return .refused(.malformed)
        }
        let key: KeySet.Key
        switch await keys.key(name) {
        case .key(let known): key = known
        case .none: return .refused(.key)
        case .unknown: return .keysUnknown
        }
        guard key.algorithm == algorithm else { return .refused(.algorithm) }
        guard key.verifies(signature, of: Array("\(parts[0]).\(parts[1])".utf8)) else { return .refused(.signature) }
        return rules.judge(claims, at: clock.now())
    }

    private static func members(_ part: Substring) -> [String: JSONValue]? {
        guard let bytes = Base64URL.decode(String(part)) else { return nil }
        do {
            guard case .object(let members) = try JSONReader.read(bytes, maximumDepth: 8) else { return nil }
            return Dictionary(members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        } catch {
            return nil
        }
    }

    /// Whether nothing is asked that is not done here, and it is a token and no other document with a signature.
    private static func isUnderstood(_ header: [String: JSONValue]) -> Bool {
        guard header["crit"] == nil, header["b64"] == nil else { return false }
        switch header["typ"] {
        case nil: return true
        case .string(let type): return ["jwt", "at+jwt", "application/at+jwt"].contains(type.lowercased())
        default: return false
        }
    }
}
