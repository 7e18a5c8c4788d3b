/// Rejects requests to a provider that keeps failing, as a ``Breaker`` decides.
public final class CircuitBreaking: Middleware {
    private let breaker: Guarded<Breaker>
    private let isFailure: @Sendable (HTTPResponse) -> Bool

    /// - Parameters:
    ///   - settings: when to open.
    ///   - isFailure: whether an answer shows that the provider does not work; by default any 5xx.
    public init(
        _ settings: Breaker.Settings = Breaker.Settings(),
        isFailure: @escaping @Sendable (HTTPResponse) -> Bool = { $0.status >= 500 }
    ) {
        breaker = Guarded(Breaker(settings))
        self.isFailure = isFailure
    }

    /// The breaker's state, for operators.
    public var state: Breaker.State { breaker.withLock { $0.state } }

    /// Hands the request on and records what it shows.
    ///
    /// - Throws: ``TransportFailure/Code/breakerOpen`` if it may not go.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let permit: Breaker.Permit
        switch breaker.withLock({ $0.admit(now: .now) }) {
        case .admitted(let admitted): permit = admitted
        case .rejected: throw TransportFailure(code: .breakerOpen, phase: .waiting)
        }
        do {
            let response = try await next.send(request)
            record(isFailure(response) ? .failure : .success, permit)
            return response
        } catch {
            record(Self.outcome(of: error.code), permit)
            throw error
        }
    }

    private func record(_ outcome: Breaker.Outcome, _ permit: Breaker.Permit) {
        breaker.withLock { $0.record(outcome, permit, now: .now) }
    }

    /// What was our own doing says nothing about the provider.
    private static func outcome(of code: TransportFailure.Code) -> Breaker.Outcome {
        switch code {
        case .cancelled, .duplicateInFlight, .budgetExhausted, .breakerOpen, .invalidRequest,
            .expiredBeforeSend:
            .nothing
        case .nameNotResolved, .addressNotAllowed, .connectionRefused, .connectTimeout, .tlsFailure, .tlsTimeout,
            .firstByteTimeout,
            .totalTimeout, .connectionReset, .responseTooLarge, .malformedResponse, .deadConnectionReused,
            .other:
            .failure
        }
    }
}
