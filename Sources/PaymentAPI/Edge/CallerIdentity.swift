internal import HTTPEdge
internal import PaymentCore

/// Tells who calls, by a token of the configuration or by one that somebody else signs.
struct CallerIdentity: Sendable {
    let callers: CallerDirectory
    /// Judges tokens that somebody else signs; `nil` where none are taken.
    let signed: (any SignedTokenJudge)?

    /// The longest token of the configuration, and the longest signed one, in characters. No header field has more.
    static let longest = 512
    static let longestSigned = 8_192

    /// Who came with a request.
    enum Bearer: Sendable, Hashable {
        /// A caller.
        case access(CallerAccess)
        /// Nobody who may call; why, where a signed token was refused.
        case refused(SignedTokenRefusal?)
        /// Nobody can tell at present.
        case keysUnknown

        /// Who it is, and what the token permits.
        var access: CallerAccess? { if case .access(let access) = self { access } else { nil } }
        /// Why a signed token was refused.
        var refusal: SignedTokenRefusal? { if case .refused(let refusal) = self { refusal } else { nil } }
    }

    /// Who comes with these values of `Authorization` headers.
    func bearer(authorization values: [String]) async -> Bearer {
        let longest = signed == nil ? CallerIdentity.longest : CallerIdentity.longestSigned
        guard let token = BearerCredential.token(authorization: values, longest: longest) else { return .refused(nil) }
        if let access = callers.access(bearing: token) { return .access(access) }
        guard let signed, token.utf8.count(where: { $0 == UInt8(ascii: ".") }) == 2 else { return .refused(nil) }
        switch await signed.judge(token) {
        case .subject(let subject, let scopes):
            return callers.access(ofSubject: subject, scopes: scopes).map { .access($0) } ?? .refused(.subject)
        case .refused(let refusal): return .refused(refusal)
        case .keysUnknown: return .keysUnknown
        }
    }
}
