/// Refuses a request while another with the same ``HTTPRequest/flightKey`` is on its way.
///
/// The second does not get the first one's answer: each attempt is recorded on its own, and an answer that
/// belongs to another attempt would be evidence of nothing. This guards against a double submission inside
/// one process; between processes, only the provider's own handling of the key does.
public final class SingleFlight: Middleware {
    private let inFlight = Guarded<Set<String>>([])

    /// One set of keys; share the middleware between all that must not overlap.
    public init() {}

    /// Hands the request on, holding its key until the outcome is known.
    ///
    /// - Throws: ``TransportFailure/Code/duplicateInFlight`` if the key is taken.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        guard let key = request.flightKey else { return try await next.send(request) }
        guard inFlight.withLock({ $0.insert(key).inserted }) else {
            throw TransportFailure(code: .duplicateInFlight, phase: .waiting)
        }
        defer { inFlight.withLock { _ = $0.remove(key) } }
        return try await next.send(request)
    }
}
