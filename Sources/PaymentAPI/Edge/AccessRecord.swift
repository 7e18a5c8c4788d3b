internal import Logging
internal import Metrics

/// What is logged and counted of one request: never a token, a key, a query or a body.
struct AccessRecord: Sendable {
    let requestID: String
    let method: String
    let route: Route?
    let caller: String?
    let status: Int
    let duration: Duration
    let bodyBytes: Int

    /// Writes the log line.
    func write(to logger: Logger) {
        let milliseconds = duration / .milliseconds(1)
        logger.info(
            "request answered",
            metadata: [
                "request_id": .string(requestID),
                "method": .string(method),
                "route": .string(route?.rawValue ?? "none"),
                "caller": .string(caller ?? "none"),
                "status": .stringConvertible(status),
                "duration_ms": .stringConvertible((milliseconds * 1_000).rounded() / 1_000),
                "body_bytes": .stringConvertible(bodyBytes),
            ])
    }

    /// Counts the request.
    func count() {
        let dimensions = [("route", route?.rawValue ?? "none"), ("method", method)]
        Counter(
            label: "reconciled_http_requests", dimensions: dimensions + [("status", String(status))]
        ).increment()
        Timer(label: "reconciled_http_request_duration", dimensions: dimensions)
            .recordNanoseconds(Int64(duration / .nanoseconds(1)))
    }
}
