/// Keeps requests within the rate that a provider allows at each of its endpoints, beside the rate over all of them.
///
/// It stands before the ``BudgetLimit`` of the whole provider: what waits for a busy endpoint takes no place from
/// requests to others.
public final class EndpointLimit: Middleware {
    private let settings: RequestBudget.Settings
    private let limits = Guarded<[String: BudgetLimit]>([:])

    /// The same rate at each endpoint; share the middleware between all that call the provider.
    ///
    /// - Parameters:
    ///   - perSecond: requests per second over time, at one endpoint.
    ///   - burst: how many may start at once after a pause.
    ///   - longestWait: how long a request waits at most, if it does not say itself how long it may.
    public init(perSecond: Double, burst: Int, longestWait: Duration) {
        // How many are under way together is the provider's own limit.
        settings = RequestBudget.Settings(
            perSecond: perSecond, burst: burst, concurrent: .max, longestWait: longestWait)
    }

    /// Promises room in time, at each endpoint that was asked so far, to one more request of this lane that begins
    /// something; `false` if one has none.
    public func promise(lane: String) -> Bool {
        limits.withLock { Array($0.values) }.allSatisfy { $0.promise(lane: lane) }
    }

    /// Waits until the endpoint allows one more request, at most until ``HTTPRequest/startBefore``.
    ///
    /// - Throws: ``TransportFailure/Code/budgetExhausted`` if it does not in time, and whatever the next one throws.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let limit = limits.withLock { limits in
            let limit = limits[request.endpoint] ?? BudgetLimit(settings)
            limits[request.endpoint] = limit
            return limit
        }
        return try await limit.send(request, next: next)
    }
}
