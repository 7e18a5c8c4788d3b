/// Differences to be planted at a provider: of one kind, in so many transactions chosen by a seed, or in one that is
/// named.
public struct PlantOrder: Codable, Sendable, Equatable {
    /// What differs.
    public var plant: PlantKind
    /// The transaction that is to differ; of an orphan or foreign one the key that it gets; nil: chosen by ``seed``.
    public var key: String?
    /// How many, 1 to 100,000; 1 where a key is named.
    public var count = 1
    /// What the choice, and the keys and amounts of what is made, depend on.
    public var seed: UInt64 = 1
    /// The amount instead of the one that its kind chooses, in the currency's minor unit.
    public var amountValue: Int64?
    /// ISO 4217 code instead of the one that its kind chooses.
    public var currency: String?
    /// The payment that an orphan names; nil: one that its seed makes up. Only for one at a time.
    public var payment: String?
    /// The leg that an orphan names; default 0.
    public var leg: Int?
    /// The store that an orphan or a duplicate names.
    public var store: String?
    /// An orphan or foreign transaction is a sale; default false: a hold that was captured.
    public var onePhase: Bool?
    /// An orphan or foreign transaction is only held; default false.
    public var held: Bool?
    /// For how many milliseconds it is hidden; nil: for good.
    public var forMs: Int64?
    /// When it happened, milliseconds since 1970 by the provider's clock: then it changed last. nil: now for what was
    /// made or done by somebody else, otherwise as if it had always been so.
    public var atMs: Int64?

    /// So many differences of a kind, chosen by a seed.
    public init(_ plant: PlantKind, count: Int = 1, seed: UInt64 = 1) {
        self.plant = plant
        self.count = count
        self.seed = seed
    }

    /// A difference in one transaction.
    public init(_ plant: PlantKind, key: String) {
        self.plant = plant
        self.key = key
    }

    enum CodingKeys: String, CodingKey, CaseIterable {
        case plant, key, count, seed, currency, payment, leg, store, held
        case amountValue = "amount_value"
        case onePhase = "one_phase"
        case forMs = "for_ms"
        case atMs = "at_ms"
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        plant = try container.decode(PlantKind.self, forKey: .plant)
        let used = plant.members.union([.plant, .count, .seed, .atMs])
        for key in container.allKeys where !used.contains(key) {
            throw decoder.refuse(key, "means nothing for \(plant.rawValue)")
        }
        key = try container.decodeIfPresent(String.self, forKey: .key)
        count = try container.decodeIfPresent(Int.self, forKey: .count) ?? count
        seed = try container.decodeIfPresent(UInt64.self, forKey: .seed) ?? seed
        amountValue = try container.decodeIfPresent(Int64.self, forKey: .amountValue)
        currency = try container.decodeIfPresent(String.self, forKey: .currency)
        payment = try container.decodeIfPresent(String.self, forKey: .payment)
        leg = try container.decodeIfPresent(Int.self, forKey: .leg)
        store = try container.decodeIfPresent(String.self, forKey: .store)
        onePhase = try container.decodeIfPresent(Bool.self, forKey: .onePhase)
        held = try container.decodeIfPresent(Bool.self, forKey: .held)
        forMs = try container.decodeIfPresent(Int64.self, forKey: .forMs)
        atMs = try container.decodeIfPresent(Int64.self, forKey: .atMs)
        if let (member, allowed) = fault { throw decoder.refuse(member, allowed) }
    }

    /// What cannot be meant, and what is allowed instead.
    var fault: (member: CodingKeys, allowed: String)? {
        if !(1...100_000).contains(count) { return (.count, "1 to 100000") }
        if count > 1, key != nil { return (.count, "1 where a key is named") }
        if count > 1, payment != nil { return (.count, "1 where a payment is named") }
        if let key, !MessageReader.isKey(key) { return (.key, "16 to 64 characters of A-Z a-z 0-9 _ -") }
        if let amountValue, amountValue < 1 { return (.amountValue, "at least 1") }
        if let currency, !Amount.isCode(currency) { return (.currency, "three capital letters") }
        if let payment, !(1...500).contains(payment.count) { return (.payment, "1 to 500 characters") }
        if let leg, !(0...999).contains(leg) { return (.leg, "0 to 999") }
        if let store, !(1...500).contains(store.count) { return (.store, "1 to 500 characters") }
        if onePhase == true, held == true { return (.held, "not of a sale") }
        if let forMs, !(1...maximumSpanMs).contains(forMs) { return (.forMs, "1 to \(maximumSpanMs)") }
        if let atMs, atMs < 0 { return (.atMs, "milliseconds since 1970") }
        return nil
    }
}
