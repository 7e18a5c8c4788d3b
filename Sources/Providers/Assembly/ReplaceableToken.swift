public import HTTPTransport
internal import Synchronization

/// The token that the configuration gives, until the configuration is read anew and gives another.
///
/// One that the provider refuses stays the one that is sent. For tokens that expire and are fetched, use
/// `RefreshingTokenSource`.
public final class ReplaceableToken: TokenSource, CustomStringConvertible {
    private let secret: Mutex<BearerToken>

    /// Takes the token.
    public init(_ token: BearerToken) { secret = Mutex(token) }

    /// The token of now.
    public func token() async throws(TransportFailure) -> BearerToken { secret.withLock { $0 } }

    /// Changes nothing: another one comes from the configuration only.
    public func markStale(_ token: BearerToken) async {}

    /// Puts another token in its place, for the next request.
    public func replace(with token: BearerToken) { secret.withLock { $0 = token } }

    /// Always the same text.
    public var description: String { "ReplaceableToken(redacted)" }
}
