public import PaymentCore

/// What one listener accepts, and how much of it.
public struct APILimits: Sendable, Hashable {
    /// The largest body, in bytes.
    public var maximumBodyBytes = 65_536
    /// How deeply arrays and objects may lie within each other.
    public var maximumDepth = 16
    /// How long a body may take to arrive, from the end of the headers.
    public var bodyDeadline: Duration = .seconds(10)
    /// How long a connection may rest, or take to send a request's headers.
    public var idleTimeout: Duration = .seconds(60)
    /// Requests that are answered at the same time, those that wait for a settled answer included. More get
    /// 503.
    public var maximumConcurrentRequests = 2_048
    /// Connections that are open at the same time. Beyond it the one that has rested for the longest makes room; where
    /// all have a request under way, more wait in the system's queue.
    public var maximumConnections = 4_096
    /// The largest header field, and the request line, in bytes.
    public var maximumHeaderFieldBytes = 8_192
    /// All header fields together, in bytes.
    public var maximumHeaderBytes = 16_384
    /// How many header fields.
    public var maximumHeaderFields = 64
    /// The wait for a settled answer where the caller does not name one, in seconds.
    public var defaultWaitSeconds: Int64 = 5
    /// The longest wait for a settled answer, in seconds.
    public var maximumWaitSeconds: Int64 = 30
    /// The fields of a request that may hold a card number.
    public var cardNumbers = CardNumberFields()
    /// The largest payment of a caller in a currency, in minor units. What is not named is bounded by what every amount
    /// is bounded by.
    public var largestAmounts: [CallerID: [Currency: Int64]] = [:]
    /// How long a connection that is being closed is still read, so that the caller sees the answer.
    public var linger: Duration = .seconds(2)

    /// The documented defaults.
    public init() {}
}
