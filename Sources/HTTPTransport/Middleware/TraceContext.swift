/// Where a piece of work stands in a distributed trace, as W3C Trace Context has it (version 00).
public struct TraceContext: Sendable, Equatable {
    /// The context of the running task; `nil` outside a trace.
    @TaskLocal public static var current: TraceContext?

    /// 32 lower-case hexadecimal digits, not all zero: the whole trace.
    public let traceID: String
    /// 16 lower-case hexadecimal digits, not all zero: this step of it.
    public let spanID: String
    /// Whether the trace is recorded.
    public let sampled: Bool

    /// Reads a `traceparent` header.
    ///
    /// `nil` if it is not one.
    public init?(traceparent: String) {
        let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts[0].utf8.count == 2, Self.isHex(parts[0]), parts[0] != "ff",
            parts[0] != "00" || parts.count == 4,
            parts[1].utf8.count == 32, Self.isHex(parts[1]), !parts[1].allSatisfy({ $0 == "0" }),
            parts[2].utf8.count == 16, Self.isHex(parts[2]), !parts[2].allSatisfy({ $0 == "0" }),
            parts[3].utf8.count == 2, Self.isHex(parts[3]), let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        traceID = String(parts[1])
        spanID = String(parts[2])
        sampled = flags & 1 == 1
    }

    private init(traceID: String, spanID: String, sampled: Bool) {
        self.traceID = traceID
        self.spanID = spanID
        self.sampled = sampled
    }

    /// A new trace with random numbers.
    public static func random(sampled: Bool = true) -> TraceContext {
        TraceContext(traceID: hex(half(), half()), spanID: hex(half()), sampled: sampled)
    }

    /// A new step in the same trace.
    public func child() -> TraceContext {
        TraceContext(traceID: traceID, spanID: Self.hex(Self.half()), sampled: sampled)
    }

    /// The value of the `traceparent` header.
    public var traceparent: String { "00-\(traceID)-\(spanID)-\(sampled ? "01" : "00")" }

    /// Not zero, so that no number made of it is the forbidden all-zero one.
    private static func half() -> UInt64 { UInt64.random(in: 1 ... .max) }

    private static func hex(_ halves: UInt64...) -> String {
        halves.map { half in
            let digits = String(half, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }

    private static func isHex(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }
}

/// Adds the `traceparent` header: a step of the task's trace, or a new trace.
///
/// A header that is there already stays.
public struct TraceHeader: Middleware {
    /// The middleware has no settings.
    public init() {}

    /// Hands the request on with the header.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        guard request.fields["traceparent"] == nil else { return try await next.send(request) }
        let step = TraceContext.current?.child() ?? .random()
        var traced = request
        traced.fields["traceparent"] = step.traceparent
        return try await next.send(traced)
    }
}
