/// Judges tokens that somebody else signs for callers.
public protocol SignedTokenJudge: Sendable {
    /// What a token of at most ``CallerIdentity/longestSigned`` characters says.
    func judge(_ token: String) async -> SignedTokenJudgement
}

/// What is to be made of a signed token.
public enum SignedTokenJudgement: Sendable, Hashable {
    /// It is signed as it must be. Whose it is, and what it permits at most; `nil` if it does not say.
    case subject(String, scopes: Set<CallerScope>?)
    /// It is not believed.
    case refused(SignedTokenRefusal)
    /// The keys of who signs are not known at present, so nobody can tell.
    case keysUnknown
}

/// Why a signed token is not believed, for log and metric. It says nothing of what the token holds.
public enum SignedTokenRefusal: String, Sendable, Hashable, CaseIterable {
    /// It is no token of three parts in strict JSON, or needs what is not understood.
    case malformed
    /// It is signed in another way than its key is for.
    case algorithm
    /// Nobody knows its key.
    case key
    /// The signature is not that of its key.
    case signature
    /// Somebody else issued it.
    case issuer
    /// It is for somebody else.
    case audience
    /// It is not valid any more, or says no end.
    case expired
    /// It is not valid yet.
    case early
    /// It names nobody who is a caller here.
    case subject
}
