/// The request methods that the daemon uses.
public enum HTTPMethod: String, Sendable {
    /// Reads.
    ///
    /// Carries no body.
    case get = "GET"
    /// Creates or replaces under a key that the caller chose.
    case put = "PUT"
    /// Asks for an action.
    case post = "POST"
    /// Changes a part.
    case patch = "PATCH"
    /// Removes.
    case delete = "DELETE"
}

/// How long each part of a request may take.
///
/// Separate, because they mean different things: a connection that was never made proves that nothing
/// happened; an answer that never came proves nothing.
public struct TimeLimits: Sendable, Equatable {
    /// From the first step towards a new connection (name resolution) until TCP is connected.
    public var connect: Duration
    /// From TCP being connected until the TLS handshake is done.
    public var tls: Duration
    /// From the first byte of the request being written until the first byte of the answer, so it includes
    /// the upload.
    public var firstByte: Duration
    /// From the call until the whole answer is read, including any wait for a free connection.
    public var total: Duration

    /// Limits, each of which must be greater than zero; a sender refuses a request with one that is not.
    public init(
        connect: Duration = .seconds(2), tls: Duration = .seconds(2), firstByte: Duration = .seconds(10),
        total: Duration = .seconds(15)
    ) {
        self.connect = connect
        self.tls = tls
        self.firstByte = firstByte
        self.total = total
    }

    /// Whether every limit is greater than zero.
    public var isValid: Bool {
        [connect, tls, firstByte, total].allSatisfy { $0 > .zero }
    }

    /// The same limits, none of them longer than `remaining`.
    public func capped(to remaining: Duration) -> TimeLimits {
        TimeLimits(
            connect: min(connect, remaining), tls: min(tls, remaining), firstByte: min(firstByte, remaining),
            total: min(total, remaining))
    }
}

/// One request on the wire: exactly one attempt, never repeated by anything below the caller.
public struct HTTPRequest: Sendable {
    /// The request method.
    public var method: HTTPMethod
    /// An absolute `https` URL (or `http`, where the configuration allows it), already percent-encoded,
    /// without user information and without a fragment.
    public var url: String
    /// The header fields.
    ///
    /// Those that frame the message (`Content-Length`, `Transfer-Encoding`, `Connection`, `Host`, `Expect`,
    /// `Upgrade`, `TE`, `Trailer`) belong to the transport and are refused here.
    public var fields: HTTPFields
    /// The body, sent with its length.
    ///
    /// Empty for a `GET`.
    public var body: [UInt8]
    /// How long each part may take.
    public var limits: TimeLimits
    /// Writing must begin before this instant.
    ///
    /// Not one byte leaves if the connection is ready only later; the failure is then
    /// ``TransportFailure/Code/expiredBeforeSend``.
    public var startBefore: ContinuousClock.Instant?
    /// The largest acceptable response body, in bytes.
    ///
    /// More fails the request.
    public var maximumResponseBytes: Int
    /// A constant name of the operation, such as `authorize`, for logs and metrics.
    ///
    /// Never made of data.
    public var label: String
    /// A constant name of the endpoint, for ``EndpointLimit``: the label, where no other operation goes there.
    ///
    /// Never made of data.
    public var endpoint: String
    /// Two requests with the same key are never on the wire together; see ``SingleFlight``.
    public var flightKey: String?
    /// Whose request it is: those who wait at a ``BudgetLimit`` take turns by it. Empty for the daemon's own.
    public var lane: String
    /// Whether it begins something; otherwise it goes on with what was begun, and comes first in its lane.
    public var begins: Bool

    /// A request.
    ///
    /// The defaults suit a small JSON exchange.
    public init(
        method: HTTPMethod, url: String, fields: HTTPFields = HTTPFields(), body: [UInt8] = [],
        limits: TimeLimits = TimeLimits(), startBefore: ContinuousClock.Instant? = nil,
        maximumResponseBytes: Int = 1 << 20, label: String, endpoint: String? = nil,
        flightKey: String? = nil, lane: String = "", begins: Bool = false
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
        self.limits = limits
        self.startBefore = startBefore
        self.maximumResponseBytes = maximumResponseBytes
        self.label = label
        self.endpoint = endpoint ?? label
        self.flightKey = flightKey
        self.lane = lane
        self.begins = begins
    }
}

/// A complete answer: its status line, its fields and every byte of its body were read.
public struct HTTPResponse: Sendable {
    /// The status code, 200 to 599; interim answers (1xx) are skipped.
    public var status: Int
    /// The header fields, without trailers.
    public var fields: HTTPFields
    /// The body as it was sent; content encodings are not undone.
    public var body: [UInt8]
    /// The bytes of the request that were written, as ``TransportFailure/bytesWritten`` counts them.
    public var bytesWritten: Int

    /// An answer, as a sender or a test makes it.
    public init(status: Int, fields: HTTPFields = HTTPFields(), body: [UInt8] = [], bytesWritten: Int = 0) {
        self.status = status
        self.fields = fields
        self.body = body
        self.bytesWritten = bytesWritten
    }
}
