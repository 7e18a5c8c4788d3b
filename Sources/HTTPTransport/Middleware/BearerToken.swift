/// A secret that stands for the right to call a provider.
///
/// It never describes itself.
public struct BearerToken: Sendable, Hashable {
    /// The secret, for what authorizes a request alone.
    package let secret: String

    /// Wraps a secret.
    public init(_ secret: String) {
        self.secret = secret
    }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always the same text.
    public var description: String { "BearerToken(redacted)" }
    /// Always the same text.
    public var debugDescription: String { description }
    /// Empty, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// Where tokens come from.
public protocol TokenSource: Sendable {
    /// The current token, fetched anew if there is none or it went stale.
    ///
    /// - Throws: why none could be had.
    func token() async throws(TransportFailure) -> BearerToken

    /// The provider refused this token.
    ///
    /// The next call of ``token()`` fetches another, unless that has happened already.
    func markStale(_ token: BearerToken) async
}

/// Puts `Authorization: Bearer` on each request.
///
/// On 401 it marks the token stale, so that the next attempt has a new one, and passes the answer on. It
/// never sends again by itself: a second request on the wire is a second attempt, which only the caller may
/// decide and record.
public struct TokenHeader: Middleware {
    private let source: any TokenSource

    /// Takes tokens from `source`.
    public init(source: any TokenSource) {
        self.source = source
    }

    /// Hands the request on with the header.
    ///
    /// - Throws: if no token could be had, that failure's code with phase ``Phase/waiting`` and no byte
    ///   written: whatever happened to the request for a token, this one was not sent.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let token: BearerToken
        do {
            token = try await source.token()
        } catch {
            throw TransportFailure(
                code: error.code, phase: .waiting, bytesWritten: 0, detail: "no token: \(error.detail)")
        }
        var authorized = request
        authorized.fields["Authorization"] = "Bearer \(token.secret)"
        let response = try await next.send(authorized)
        if response.status == 401 { await source.markStale(token) }
        return response
    }
}
