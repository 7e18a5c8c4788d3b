internal import PaymentAPI
package import PaymentCore
internal import StrictJSON

/// What a token has to say so that it is a caller's (RFC 7519, section 4.1; RFC 9068 where it is an access token).
package struct TokenRules: Sendable, Hashable {
    /// Who must have issued it.
    package var issuer: String
    /// For whom it must be, alone or among others.
    package var audience: String
    /// The most by which the issuer's clock differs from ours.
    package var clockSkew: Span
    /// The claim that names what the token permits: words in one text, or a list.
    package var scopeClaim: String
    /// What stands before each scope that is meant for us.
    package var scopePrefix: String

    /// Rules with the usual names.
    package init(
        issuer: String, audience: String, clockSkew: Span = .seconds(30), scopeClaim: String = "scope",
        scopePrefix: String = ""
    ) {
        self.issuer = issuer
        self.audience = audience
        self.clockSkew = clockSkew
        self.scopeClaim = scopeClaim
        self.scopePrefix = scopePrefix
    }

    /// What is to be made of the claims of a token whose signature is right.
    func judge(_ claims: [String: JSONValue], at now: Timestamp) -> SignedTokenJudgement {
        guard case .string(issuer)? = claims["iss"] else { return .refused(.issuer) }
        guard TokenRules.texts(claims["aud"])?.contains(audience) == true else { return .refused(.audience) }
        guard let end = TokenRules.moment(claims["exp"]), now < end + clockSkew else { return .refused(.expired) }
        for claim in ["nbf", "iat"] {
            guard let value = claims[claim] else { continue }
            guard let begin = TokenRules.moment(value), begin <= now + clockSkew else { return .refused(.early) }
        }
        guard case .string(let subject)? = claims["sub"], !subject.isEmpty else { return .refused(.subject) }
        guard let scopes = claims[scopeClaim] else { return .subject(subject, scopes: nil) }
        let words: [String]
        if case .string(let text) = scopes {
            words = text.split(separator: " ").map(String.init)
        } else {
            words = TokenRules.texts(scopes) ?? []
        }
        let ours = words.filter { $0.hasPrefix(scopePrefix) }.map { String($0.dropFirst(scopePrefix.count)) }
        return .subject(subject, scopes: Set(ours.compactMap(CallerScope.init(rawValue:))))
    }

    /// One text, or a list of texts.
    private static func texts(_ value: JSONValue?) -> [String]? {
        switch value {
        case .string(let text): return [text]
        case .array(let values):
            let texts = values.compactMap { if case .string(let text) = $0 { text } else { nil } }
            return texts.count == values.count ? texts : nil
        default: return nil
        }
    }

    /// A moment in seconds since 1970, up to the year 9999; a fraction is left out.
    private static func moment(_ value: JSONValue?) -> Timestamp? {
        guard case .number(let text)? = value, let seconds = Double(text), (0...253_402_300_799).contains(seconds)
        else { return nil }
        return Timestamp(milliseconds: Int64(seconds) * 1_000)
    }
}
