public import Logging

/// Logs what became of each request: label, host, method, status or failure, phase, bytes written and
/// duration; and the provider's own name of the request, which its support asks for.
///
/// Nothing else: no other header, no body, and no path, because a path may hold a key or an account.
public struct RequestLog: Middleware {
    private let logger: Logger
    private let successLevel: Logger.Level

    /// The headers in which providers name a request. The first that is there counts.
    private static let names = ["Request-Id", "X-Request-Id", "PSPReference"]

    /// Logs answers at `successLevel`, those with a status of 400 and more at `info`, and failures as warnings.
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
            if let name = Self.name(in: response.fields) { metadata["provider_request_id"] = "\(name)" }
            let level = response.status >= 400 ? max(successLevel, .info) : successLevel
            logger.log(level: level, "provider request answered", metadata: metadata)
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

    /// The provider's name of a request: up to 64 letters, digits, `_` and `-`. Digits alone may be a card number.
    private static func name(in fields: HTTPFields) -> String? {
        guard let text = names.lazy.compactMap({ fields[$0] }).first, (1...64).contains(text.utf8.count) else {
            return nil
        }
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == 0x2D }
        return isPlain && !isNumber ? text : nil
    }
}
