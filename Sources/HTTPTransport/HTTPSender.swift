/// Sends one request once.
///
/// An implementation never repeats a request that may have been written: each request on the wire is an
/// attempt which the caller has recorded beforehand.
public protocol HTTPSender: Sendable {
    /// Sends the request and returns its complete answer, whatever its status.
    ///
    /// - Throws: how far the request got, when there is no complete answer.
    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse
}

/// A wrapper around a sender: it may change the request, refuse it, or watch what becomes of it.
///
/// It calls `next` at most once.
public protocol Middleware: Sendable {
    /// Handles the request, handing it on to `next` unless it refuses it.
    ///
    /// - Throws: the failure of `next`, or a refusal with phase ``Phase/waiting`` and no byte written.
    func send(_ request: HTTPRequest, next: any HTTPSender) async throws(TransportFailure) -> HTTPResponse
}

/// A sender inside its wrappers.
///
/// The first middleware is the outermost: it sees the request first and the answer last.
public struct MiddlewareStack: HTTPSender {
    private let outermost: any HTTPSender

    /// Composes the stack once; sending through it allocates nothing more.
    public init(_ middleware: [any Middleware], sender: any HTTPSender) {
        outermost = middleware.reversed().reduce(sender) { inner, layer in Layer(layer: layer, inner: inner) }
    }

    /// Sends the request through every layer.
    public func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        try await outermost.send(request)
    }

    private struct Layer: HTTPSender {
        let layer: any Middleware
        let inner: any HTTPSender

        func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
            try await layer.send(request, next: inner)
        }
    }
}
