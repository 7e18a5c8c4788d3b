/// Ways in which a provider, or the network before it, goes wrong.
public enum FaultKind: String, Codable, Sendable, CaseIterable, Hashable {
    /// Nothing is executed; the connection is closed without an answer, at once or after `hold_ms`.
    case requestLost = "request_lost"
    /// Executed; the connection is closed without an answer, at once or after `hold_ms`.
    case responseLost = "response_lost"
    /// Answers after `delay_ms`; executed before the wait, or after it where `execute` is `after`.
    case slow
    /// 500, nothing executed.
    case errorBefore = "error_before"
    /// Executed, then 500.
    case errorAfter = "error_after"
    /// Executed; answers 200 with a page of HTML.
    case html
    /// Executed; the body breaks off in the middle under the right Content-Length.
    case truncated
    /// Executed; the JSON lacks `status`.
    case missingStatus = "missing_status"
    /// Recorded as pending for `delay_ms`, then decided as `outcome` says.
    case pending
    /// Declined for good.
    case declineBound = "decline_bound"
    /// Declined; the same request sent again is decided again.
    case declineUnbound = "decline_unbound"
    /// On a write: executed and answered, but inquiries show the state before it for `stale_ms`. On an
    /// inquiry: it and those after it for `stale_ms` show the state before the last change.
    case staleInquiry = "stale_inquiry"
    /// The ledger records `amount_value` instead, or one more than asked.
    case amountChanged = "amount_changed"
    /// 429 with `Retry-After`, nothing executed.
    case throttled
    /// 503 with `Retry-After`, nothing executed.
    case unavailable
    /// The key is forgotten before the request executes, as if its retention had passed.
    case keyForgotten = "key_forgotten"
    /// The request arrives twice; the answer of the first is sent.
    case duplicated
    /// Closed like `request_lost`, but the request arrives by itself after `delay_ms`.
    case lateDelivery = "late_delivery"
    /// The provider was down. Not ordered like the others, but set for a period.
    case down

    /// Whether it means anything for this operation.
    func applies(to operation: Operation) -> Bool {
        switch self {
        case .requestLost, .responseLost, .slow, .errorBefore, .errorAfter, .html, .truncated, .missingStatus,
            .throttled, .unavailable:
            true
        case .pending, .declineBound, .declineUnbound, .amountChanged:
            operation.decides
        case .duplicated, .lateDelivery:
            operation.writes
        case .staleInquiry, .keyForgotten:
            operation != .list
        case .down:
            false
        }
    }
}

/// One fault with its measure.
///
/// Members that its kind does not use are refused when it is decoded.
public struct Fault: Codable, Sendable, Equatable {
    /// When a slow request executes.
    public enum Moment: String, Codable, Sendable {
        case before, after
    }
    /// What a pending transaction or entry becomes.
    public enum Outcome: String, Codable, Sendable {
        case succeeded, declined
    }

    /// What goes wrong.
    public var kind: FaultKind
    /// `slow`, `pending`, `late_delivery`: milliseconds; default 10,000 for `slow`, otherwise 2,000.
    public var delayMs: Int64?
    /// `request_lost`, `response_lost`, `late_delivery`: milliseconds before the connection is closed;
    /// default 0.
    public var holdMs: Int64?
    /// `slow`: whether it executes before (default) or after the delay.
    public var execute: Moment?
    /// `pending`: what it becomes; default `succeeded`.
    public var outcome: Outcome?
    /// `amount_changed`: the value recorded.
    public var amountValue: Int64?
    /// `throttled`, `unavailable`: seconds in `Retry-After`; default 1.
    public var retryAfter: Int?
    /// With any executed write: for how long inquiries show the state before it; default 2,000 for
    /// `stale_inquiry`, otherwise none.
    public var staleMs: Int64?

    /// A fault with the default measures.
    public init(_ kind: FaultKind) {
        self.kind = kind
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case kind = "fault"
        case delayMs = "delay_ms"
        case holdMs = "hold_ms"
        case execute, outcome
        case amountValue = "amount_value"
        case retryAfter = "retry_after"
        case staleMs = "stale_ms"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(FaultKind.self, forKey: .kind)
        guard kind != .down else {
            throw decoder.refuse(CodingKeys.kind, "down is set for a period, not ordered")
        }
        let used = Self.members(of: kind)
        for key in container.allKeys where key != .kind && !used.contains(key) {
            throw decoder.refuse(key, "\(kind.rawValue) has no such measure")
        }
        func span(_ key: CodingKeys) throws -> Int64? {
            let value = try container.decodeIfPresent(Int64.self, forKey: key)
            guard let value else { return nil }
            guard (0...maximumSpanMs).contains(value) else {
                throw decoder.refuse(key, "0 to \(maximumSpanMs)")
            }
            return value
        }
        delayMs = try span(.delayMs)
        holdMs = try span(.holdMs)
        staleMs = try span(.staleMs)
        execute = try container.decodeIfPresent(Moment.self, forKey: .execute)
        outcome = try container.decodeIfPresent(Outcome.self, forKey: .outcome)
        amountValue = try container.decodeIfPresent(Int64.self, forKey: .amountValue)
        if let amountValue, amountValue < 1 { throw decoder.refuse(CodingKeys.amountValue, "at least 1") }
        retryAfter = try container.decodeIfPresent(Int.self, forKey: .retryAfter)
        if let retryAfter, !(0...86_400).contains(retryAfter) {
            throw decoder.refuse(CodingKeys.retryAfter, "0 to 86400")
        }
    }

    private static func members(of kind: FaultKind) -> Set<CodingKeys> {
        switch kind {
        case .requestLost: [.holdMs]
        case .responseLost: [.holdMs, .staleMs]
        case .slow: [.delayMs, .execute, .staleMs]
        case .errorBefore, .keyForgotten, .down: []
        case .errorAfter, .html, .truncated, .missingStatus, .declineBound, .declineUnbound, .staleInquiry,
            .duplicated:
            [.staleMs]
        case .pending: [.delayMs, .outcome, .staleMs]
        case .amountChanged: [.amountValue, .staleMs]
        case .throttled, .unavailable: [.retryAfter]
        case .lateDelivery: [.delayMs, .holdMs]
        }
    }
}
