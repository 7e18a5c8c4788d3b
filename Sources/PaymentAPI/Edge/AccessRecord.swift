internal import HTTPEdge
internal import Logging
internal import Metrics

/// What is logged and counted of one request: never a token, a key, a query or a body.
struct AccessRecord: Sendable {
    let name: RequestName
    let method: String
    let route: Route?
    let caller: String?
    /// Which of the caller's tokens was used, by its name; `nil` for the main one.
    let token: String?
    let status: Int
    let duration: Duration
    let bodyBytes: Int

    /// Writes the log line.
    func write(to logger: Logger) {
        let milliseconds = duration / .milliseconds(1)
        var metadata: Logger.Metadata = [
            "request_id": .string(name.own),
            "method": .string(method),
            "route": .string(route?.rawValue ?? "none"),
            "caller": .string(caller ?? "none"),
            "status": .stringConvertible(status),
            "duration_ms": .stringConvertible((milliseconds * 1_000).rounded() / 1_000),
            "body_bytes": .stringConvertible(bodyBytes),
        ]
        if let token { metadata["token"] = .string(token) }
        // Anybody may send a name; it is somebody's once a token came with it.
        if caller != nil, let callers = name.callers { metadata["caller_request_id"] = .string(callers) }
        logger.info("request answered", metadata: metadata)
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
