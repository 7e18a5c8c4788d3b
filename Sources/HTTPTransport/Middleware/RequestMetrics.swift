public import Metrics

/// Counts and times requests, by provider, label and outcome.
///
/// `http_client_requests_total` and `http_client_request_duration_seconds`. The outcome is the class of the
/// status (`2xx`) or the code of the failure, so that the number of series is bounded by the number of
/// labels.
public final class RequestMetrics: Middleware {
    private struct Series: Hashable {
        let label: String
        let outcome: String
    }

    private struct Instruments: Sendable {
        let requests: Counter
        let duration: Metrics.Timer
    }

    private let provider: String
    private let factory: any MetricsFactory
    private let known = Guarded<[Series: Instruments]>([:])

    /// - Parameters:
    ///   - provider: the configured name of the provider.
    ///   - factory: where the instruments come from; the process's own by default.
    public init(provider: String, factory: any MetricsFactory = MetricsSystem.factory) {
        self.provider = provider
        self.factory = factory
    }

    /// Hands the request on and records the outcome.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let began = ContinuousClock.now
        do {
            let response = try await next.send(request)
            record(request.label, "\(response.status / 100)xx", since: began)
            return response
        } catch {
            record(request.label, error.code.rawValue, since: began)
            throw error
        }
    }

    private func record(_ label: String, _ outcome: String, since began: ContinuousClock.Instant) {
        let instruments = instruments(Series(label: label, outcome: outcome))
        instruments.requests.increment()
        let (seconds, attoseconds) = (ContinuousClock.now - began).components
        instruments.duration.recordNanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    private func instruments(_ series: Series) -> Instruments {
        known.withLock { known in
            if let found = known[series] { return found }
            let dimensions = [("provider", provider), ("label", series.label), ("outcome", series.outcome)]
            let made = Instruments(
                requests: Counter(
                    label: "http_client_requests_total", dimensions: dimensions, factory: factory),
                duration: Metrics.Timer(
                    label: "http_client_request_duration_seconds", dimensions: dimensions, factory: factory))
            known[series] = made
            return made
        }
    }
}
