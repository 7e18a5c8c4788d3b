/// Transactions that a simulator makes by itself, as many as are wanted, without a request for each.
///
/// They are a function of this value, so that whoever has it can fill books that agree with the ledger: the keys and
/// payments are those that a daemon derives for the caller's payments `prefix-first`, `prefix-(first + 1)` and so on,
/// each of one leg, with keys of 40 hexadecimal digits.
public struct BulkOrder: Codable, Sendable, Equatable {
    /// How many, 1 to 2,000,000.
    public var count: Int
    /// The number of the first.
    public var first = 0
    /// What the amounts depend on.
    public var seed: UInt64 = 1
    /// The caller whose payments they are.
    public var caller = "bulk"
    /// How the caller's keys begin.
    public var prefix = "bulk"
    /// ISO 4217 code of all amounts.
    public var currency = "JPY"
    /// Sales, instead of holds that were captured.
    public var onePhase = false
    /// Each whose number divides by this is only held; nil: none. Not with ``onePhase``.
    public var heldEvery: Int?
    /// Of each that was captured and whose number divides by this, half was refunded under the caller's key
    /// `prefix-NUMBER-refund`; nil: of none.
    public var refundedEvery: Int?
    /// When the first changed last, milliseconds since 1970 by the provider's clock; nil: ``overMs`` ago.
    public var fromMs: Int64?
    /// Over how many milliseconds they are spread.
    public var overMs: Int64 = 3_600_000

    /// So many transactions of the last hour.
    public init(count: Int) {
        self.count = count
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case count, first, seed, caller, prefix, currency
        case onePhase = "one_phase"
        case heldEvery = "held_every"
        case refundedEvery = "refunded_every"
        case fromMs = "from_ms"
        case overMs = "over_ms"
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        count = try container.decode(Int.self, forKey: .count)
        first = try container.decodeIfPresent(Int.self, forKey: .first) ?? first
        seed = try container.decodeIfPresent(UInt64.self, forKey: .seed) ?? seed
        caller = try container.decodeIfPresent(String.self, forKey: .caller) ?? caller
        prefix = try container.decodeIfPresent(String.self, forKey: .prefix) ?? prefix
        currency = try container.decodeIfPresent(String.self, forKey: .currency) ?? currency
        onePhase = try container.decodeIfPresent(Bool.self, forKey: .onePhase) ?? onePhase
        heldEvery = try container.decodeIfPresent(Int.self, forKey: .heldEvery)
        refundedEvery = try container.decodeIfPresent(Int.self, forKey: .refundedEvery)
        fromMs = try container.decodeIfPresent(Int64.self, forKey: .fromMs)
        overMs = try container.decodeIfPresent(Int64.self, forKey: .overMs) ?? overMs
        try check(CodingKeys.count, (1...2_000_000).contains(count), "1 to 2000000", decoder)
        try check(CodingKeys.first, (0...1_000_000_000).contains(first), "0 to 1000000000", decoder)
        try check(CodingKeys.caller, (1...64).contains(caller.utf8.count), "1 to 64 bytes", decoder)
        try check(CodingKeys.prefix, (1...100).contains(prefix.utf8.count), "1 to 100 bytes", decoder)
        try check(CodingKeys.currency, Amount.isCode(currency), "three capital letters", decoder)
        try check(
            CodingKeys.heldEvery, heldEvery.map { $0 >= 1 && !onePhase } ?? true, "at least 1, not of sales", decoder)
        try check(CodingKeys.refundedEvery, refundedEvery.map { $0 >= 1 } ?? true, "at least 1", decoder)
        try check(CodingKeys.overMs, (0...maximumSpanMs).contains(overMs), "0 to \(maximumSpanMs)", decoder)
    }

    private func check(
        _ key: CodingKeys, _ holds: Bool, _ allowed: String, _ decoder: any Decoder
    ) throws {
        guard holds else { throw decoder.refuse(key, allowed) }
    }
}

/// What became of a bulk order.
public struct BulkReceipt: Codable, Sendable, Equatable {
    /// How many were made.
    public let created: Int
    /// How many keys were known already, and were left as they are: an order that broke off can be given again.
    public let existing: Int
    /// The order with the time that it was carried out for; its ``BulkOrder/transaction(_:)`` says what was made.
    public let order: BulkOrder
}
