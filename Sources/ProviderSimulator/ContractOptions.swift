/// What this provider promises.
///
/// The defaults are the reference contract; everything else is a provider that is worse.
public struct ContractOptions: Codable, Sendable, Equatable {
    /// How long a hold lasts, in milliseconds.
    ///
    /// Default 7 days.
    public var authorizationLifeMs: Int64 = 7 * 86_400_000
    /// How long a key is remembered, in milliseconds from its first record.
    ///
    /// Nil (the default): for ever. After that an inquiry finds nothing and the same key executes again,
    /// while the ledger keeps what happened before.
    public var keyRetentionMs: Int64?
    /// Whether a decline stays with its key.
    ///
    /// If not, sending again is decided again, and a void leaves a tombstone.
    public var declinesBound = true
    /// Whether a request past its `Not-After` is refused.
    public var notAfterEnforced = true
    /// Whether a late replay of something recorded gets 410 instead of its recorded answer, against the contract.
    public var notAfterRefusesReplays = false
    /// Whether a void of an unknown key leaves a tombstone; if not, it answers 404 and leaves nothing.
    public var tombstoning = true
    /// Whether a void undoes a completed sale.
    public var voidReversesSale = false
    /// Whether it lists transactions; if not, its listing answers 404.
    public var listing = true
    /// Whether a refund is shown under the key that asked for it; if not, under a reference of the provider's own.
    public var refundKeys = true
    /// Added to the clock for everything that this provider does, in milliseconds; may be negative.
    public var clockOffsetMs: Int64 = 0
    /// How many attempts under one key an instrument `decline-unbound…` declines before it approves.
    public var unboundDeclineTimes = 1
    /// The chance, 0 to 1, that it declines an attempt after those.
    public var unboundDeclineRate = 0.0

    /// The reference contract.
    public init() {}

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case authorizationLifeMs = "authorization_life_ms"
        case keyRetentionMs = "key_retention_ms"
        case declinesBound = "declines_bound"
        case notAfterEnforced = "not_after_enforced"
        case notAfterRefusesReplays = "not_after_refuses_replays"
        case tombstoning, listing
        case refundKeys = "refund_keys"
        case voidReversesSale = "void_reverses_sale"
        case clockOffsetMs = "clock_offset_ms"
        case unboundDeclineTimes = "unbound_decline_times"
        case unboundDeclineRate = "unbound_decline_rate"
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func flag(_ key: CodingKeys, _ value: inout Bool) throws {
            value = try container.decodeIfPresent(Bool.self, forKey: key) ?? value
        }
        try flag(.declinesBound, &declinesBound)
        try flag(.listing, &listing)
        try flag(.refundKeys, &refundKeys)
        try flag(.notAfterEnforced, &notAfterEnforced)
        try flag(.notAfterRefusesReplays, &notAfterRefusesReplays)
        try flag(.tombstoning, &tombstoning)
        try flag(.voidReversesSale, &voidReversesSale)
        if let life = try container.decodeIfPresent(Int64.self, forKey: .authorizationLifeMs) {
            guard (1...maximumSpanMs).contains(life) else {
                throw decoder.refuse(CodingKeys.authorizationLifeMs, "1 to \(maximumSpanMs)")
            }
            authorizationLifeMs = life
        }
        keyRetentionMs = try container.decodeIfPresent(Int64.self, forKey: .keyRetentionMs)
        if let keyRetentionMs, !(1...maximumSpanMs).contains(keyRetentionMs) {
            throw decoder.refuse(CodingKeys.keyRetentionMs, "1 to \(maximumSpanMs), or null")
        }
        clockOffsetMs = try container.decodeIfPresent(Int64.self, forKey: .clockOffsetMs) ?? 0
        guard (-maximumSpanMs...maximumSpanMs).contains(clockOffsetMs) else {
            throw decoder.refuse(CodingKeys.clockOffsetMs, "\(-maximumSpanMs) to \(maximumSpanMs)")
        }
        unboundDeclineTimes = try container.decodeIfPresent(Int.self, forKey: .unboundDeclineTimes) ?? 1
        unboundDeclineRate = try container.decodeIfPresent(Double.self, forKey: .unboundDeclineRate) ?? 0
        guard (0...1).contains(unboundDeclineRate) else {
            throw decoder.refuse(CodingKeys.unboundDeclineRate, "0 to 1")
        }
    }
}

/// Ten years: longer spans are mistakes, and this keeps sums of instants far from overflow.
let maximumSpanMs: Int64 = 3650 * 86_400_000
