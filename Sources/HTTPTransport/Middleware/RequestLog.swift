public import Logging

/// Logs what became of each request: label, host, method, status or failure, phase, bytes written and
/// duration.
///
/// Nothing else: no header, no body, and no path, because a path may hold a key or an account.
public struct RequestLog: Middleware {
    private let logger: Logger
    private let successLevel: Logger.Level

    /// Logs answers at `successLevel` and failures as warnings.
    public init(logger: Logger, successLevel: Logger.Level = .debug) {
        self.logger = logger
        self.successLevel = successLevel
    }

    /// Hands the request on and logs the outcome.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let began = ContinuousClock.now
        var metadata: Logger.Metadata = [
            "label": "\(request.label)",
            "host": "\(RequestTarget(request.url)?.authority ?? "invalid")",
            "method": "\(request.method.rawValue)",
        ]
        do {
            let response = try await next.send(request)
            metadata["status"] = "\(response.status)"
            metadata["phase"] = "\(Phase.complete)"
            metadata["bytes_written"] = "\(response.bytesWritten)"
            metadata["duration_ms"] = "\((ContinuousClock.now - began).milliseconds)"
            logger.log(level: successLevel, "provider request answered", metadata: metadata)
            return response
        } catch {
            metadata["failure"] = "\(error.code.rawValue)"
            metadata["phase"] = "\(error.phase)"
            metadata["bytes_written"] = "\(error.bytesWritten)"
            metadata["duration_ms"] = "\((ContinuousClock.now - began).milliseconds)"
            logger.warning("provider request failed", metadata: metadata)
            throw error
        }
    }
}
