/// How far a request got.
///
/// Later cases imply the earlier ones.
public enum Phase: Int, Comparable, Sendable {
    /// Nothing has begun: queued, or waiting for a free connection.
    case waiting
    /// The host name is being resolved.
    case resolving
    /// TCP is being connected.
    case connecting
    /// The TLS handshake is in progress.
    case securing
    /// A connection is ready; no byte of the request has been handed to it.
    case connected
    /// At least one byte of the request was handed to the network, or may have been.
    case sending
    /// The whole request was handed to the network.
    case sent
    /// Something of the answer arrived.
    case receiving
    /// The whole answer was read.
    case complete

    /// In the order in which a request passes through them.
    public static func < (one: Phase, other: Phase) -> Bool { one.rawValue < other.rawValue }
}

/// Why there is no answer, and what that proves.
public struct TransportFailure: Error, Sendable, Equatable {
    /// The kind of failure.
    ///
    /// Constant text, fit to be a metric's dimension.
    public enum Code: String, Sendable, CaseIterable {
        /// The host name has no address, or the resolver failed.
        case nameNotResolved
        /// ``CurlConfiguration/addresses`` refused every address of the host: no connection was begun.
        case addressNotAllowed
        /// No address accepted a TCP connection: refused, or unreachable.
        case connectionRefused
        /// TCP was not connected within ``TimeLimits/connect``.
        case connectTimeout
        /// The TLS handshake failed, or the certificate was not accepted.
        case tlsFailure
        /// The TLS handshake was not done within ``TimeLimits/tls``.
        case tlsTimeout
        /// ``HTTPRequest/startBefore`` passed before the request could be written.
        case expiredBeforeSend
        /// No byte of an answer within ``TimeLimits/firstByte``.
        case firstByteTimeout
        /// No complete answer within ``TimeLimits/total``.
        case totalTimeout
        /// The connection ended, or its stream was reset, before the answer was complete.
        case connectionReset
        /// The answer's body or header is larger than allowed.
        case responseTooLarge
        /// What came is not an HTTP answer.
        case malformedResponse
        /// A kept connection died under the request, and the library's own second try was refused.
        case deadConnectionReused
        /// The breaker is open: the provider has been failing.
        case breakerOpen
        /// The provider's rate or concurrency budget had no room in time.
        case budgetExhausted
        /// A request with the same flight key is on the wire.
        case duplicateInFlight
        /// The task was cancelled, or the sender was shut down.
        case cancelled
        /// The request itself cannot be sent: URL, fields, limits or scheme.
        case invalidRequest
        /// Anything else; see ``TransportFailure/detail``.
        case other
    }

    /// The kind of failure.
    public var code: Code
    /// How far the request got.
    public var phase: Phase
    /// How many bytes of the request, head and body, were handed to the network at the least.
    ///
    /// Over HTTP/2 the head is counted as its HTTP/1.1 text. Over TLS, where a refused write may already have
    /// sent a part, at least 1 once writing began. Never less than the truth in the one sense that matters:
    /// it is 0 only if nothing was written.
    public var bytesWritten: Int
    /// A sentence for an operator: never a secret, a path, a query, or content of either message.
    public var detail: String

    /// A failure as it is observed.
    public init(code: Code, phase: Phase, bytesWritten: Int = 0, detail: String = "") {
        self.code = code
        self.phase = phase
        self.bytesWritten = bytesWritten
        self.detail = detail
    }

    /// Whether it is certain that the other side received nothing of the request: not a byte was written, and
    /// the request never reached the phase in which one could have been.
    public var provablyNotSent: Bool { bytesWritten == 0 && phase <= .connected }
}

extension TransportFailure: CustomStringConvertible {
    /// Code, phase, bytes and detail in one line.
    public var description: String {
        "\(code.rawValue) while \(phase), \(bytesWritten) bytes written"
            + (detail.isEmpty ? "" : ": \(detail)")
    }
}
