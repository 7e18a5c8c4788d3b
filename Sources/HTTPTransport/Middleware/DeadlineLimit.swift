/// The instant by which the running task's work is of no more use.
public enum RequestDeadline {
    /// The task's deadline; `nil` if it has none.
    @TaskLocal public static var current: ContinuousClock.Instant?
}

/// Keeps a request inside a deadline: no limit outlives it, and nothing is written after it.
public struct DeadlineLimit: Middleware {
    private let explicit: ContinuousClock.Instant?

    /// - Parameter deadline: a fixed deadline. The earlier of it and ``RequestDeadline/current`` counts.
    public init(deadline: ContinuousClock.Instant? = nil) {
        explicit = deadline
    }

    /// Hands the request on with shorter limits.
    ///
    /// - Throws: ``TransportFailure/Code/expiredBeforeSend`` if the deadline has passed.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        guard let deadline = [explicit, RequestDeadline.current].compactMap(\.self).min() else {
            return try await next.send(request)
        }
        let remaining = deadline - .now
        guard remaining > .zero else {
            throw TransportFailure(
                code: .expiredBeforeSend, phase: .waiting, detail: "the deadline has passed")
        }
        var limited = request
        limited.limits = request.limits.capped(to: remaining)
        limited.startBefore = request.startBefore.map { min($0, deadline) } ?? deadline
        return try await next.send(limited)
    }
}
