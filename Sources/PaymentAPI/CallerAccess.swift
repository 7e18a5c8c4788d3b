public import PaymentCore

/// What a token of a caller permits.
public enum CallerScope: String, Sendable, Hashable, CaseIterable {
    /// Create payments, and cancel or reconcile them.
    case create
    /// Capture payments, and cancel or reconcile them.
    case capture
    /// Refund payments, and reconcile them.
    case refund
    /// Read payments and their events.
    case read
}

/// Who comes with a token, and what the token permits. Payments and idempotency keys belong to the caller, whichever of
/// its tokens was used.
public struct CallerAccess: Sendable, Hashable {
    /// The caller.
    public let caller: CallerID
    /// Which of the caller's tokens it is; `nil` for the main one.
    public let token: String?
    /// What the token permits.
    public let scopes: Set<CallerScope>

    /// The access of a token; without scopes, everything is permitted.
    public init(_ caller: CallerID, token: String? = nil, scopes: Set<CallerScope> = Set(CallerScope.allCases)) {
        self.caller = caller
        self.token = token
        self.scopes = scopes
    }
}

/// How many requests of a caller are answered.
public struct CallerRate: Sendable, Hashable {
    /// On average, at most so many each second.
    public let requestsPerSecond: Int
    /// After a pause, so many at once.
    public let burst: Int

    /// A rate; both numbers are at least 1.
    public init(requestsPerSecond: Int, burst: Int) {
        self.requestsPerSecond = max(1, requestsPerSecond)
        self.burst = max(1, burst)
    }
}
