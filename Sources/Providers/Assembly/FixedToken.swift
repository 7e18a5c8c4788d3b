public import HTTPTransport

/// A token that the configuration gives.
///
/// There is no other: one that the provider refuses stays the one that is sent, until the configuration is
/// changed. For tokens that expire, or are read anew from a file, use `RefreshingTokenSource`.
public struct FixedToken: TokenSource, CustomStringConvertible {
    private let secret: BearerToken

    /// Takes the token.
    ///
    /// Its description is redacted.
    public init(_ token: BearerToken) {
        secret = token
    }

    /// Always the same.
    public func token() async throws(TransportFailure) -> BearerToken { secret }

    /// Changes nothing.
    public func markStale(_ token: BearerToken) async {}

    /// Always the same text.
    public var description: String { "FixedToken(redacted)" }
}
