public import PaymentCore

/// A dependency that moves value, behind its adapter. An adapter reports what happened; it never decides, never
/// waits to
/// try again, and never sends twice for one call.
public protocol PaymentProvider: Sendable {
    /// The name in the configuration.
    var name: ProviderName { get }
    /// What it can do.
    var contract: ProviderContract { get }
    /// Its listing; `nil` if it has none, as its contract says.
    var listing: (any ListingProvider)? { get }
    /// Sends one request and classifies its outcome. Returns within the provider's time limits.
    func send(_ order: SendOrder) async -> AttemptReport
    /// Reads the status of one transaction. A failure is an observation too: `unavailable`.
    func inquire(_ order: InquiryOrder) async -> Observation
}

/// Where the time comes from, and how to wait for it.
public protocol WallClock: Sendable {
    /// Now.
    func now() -> Timestamp
    /// Suspends until a moment, or until the task is cancelled.
    func sleep(until moment: Timestamp) async throws
}

/// Chance, as far as the daemon uses any: the spread of delays.
public protocol JitterSource: Sendable {
    /// 0 to 999.
    func next() -> Int
}
