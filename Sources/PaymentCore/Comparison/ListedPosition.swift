/// A refund of a position that was given back, under its key.
public struct RefundPosition: Sendable, Hashable, Codable {
    /// The key of the refund.
    public let key: EffectKey
    /// Its amount.
    public let amount: Money

    /// A refund.
    public init(key: EffectKey, amount: Money) {
        self.key = key
        self.amount = amount
    }
}

/// What the provider shows of one transaction: in its listing, or when it is asked for the key.
public struct ListedPosition: Sendable, Hashable, Codable {
    /// The key of the authorization or sale.
    public let key: EffectKey
    /// The payment that its metadata names, if that has the form of one of ours.
    public let payment: PaymentID?
    /// The leg that its metadata names.
    public let leg: Int?
    /// The store whose transaction it is, by its metadata; `nil` where it names none.
    public let store: StoreID?
    /// The status; never `notFound` or `unavailable`.
    public let status: Observation.Status
    /// The amount of the hold or the sale; `nil` for a tombstone.
    public let amount: Money?
    /// What was taken; zero unless the status is `captured`, `nil` where no amount can be read.
    public let captured: Money?
    /// The refunds that succeeded, in order of their keys; none unless the status is `captured`.
    public let refunds: [RefundPosition]
    /// When it was recorded first, by the provider's clock; `nil` where the provider does not say.
    public let createdAt: Timestamp?
    /// When it changed last, by the provider's clock; `nil` where the provider does not say.
    public let updatedAt: Timestamp?
    /// Why what is shown cannot be what was asked for.
    public let contradiction: String?
    /// Further transactions under the same key that count: their money is there as well. None for nearly all keys.
    public let others: [ListedLine]

    /// The largest amount that is counted, in minor units. A larger one is a contradiction, so that sums over millions
    /// of transactions fit.
    public static let largestAmount: Int64 = 1_000_000_000_000

    /// A position as it is stored.
    public init(
        key: EffectKey, payment: PaymentID?, leg: Int?, status: Observation.Status, amount: Money?, captured: Money?,
        refunds: [RefundPosition], createdAt: Timestamp? = nil, updatedAt: Timestamp?, contradiction: String?,
        others: [ListedLine] = [], store: StoreID? = nil
    ) {
        self.key = key
        self.payment = payment
        self.leg = leg
        self.status = status
        self.amount = amount
        self.captured = captured
        self.refunds = refunds
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.contradiction = contradiction
        self.others = others
        self.store = store
    }

    /// Decodes a position, also one that was stored before a key could have more than one transaction.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            key: try values.decode(EffectKey.self, forKey: .key),
            payment: try values.decodeIfPresent(PaymentID.self, forKey: .payment),
            leg: try values.decodeIfPresent(Int.self, forKey: .leg),
            status: try values.decode(Observation.Status.self, forKey: .status),
            amount: try values.decodeIfPresent(Money.self, forKey: .amount),
            captured: try values.decodeIfPresent(Money.self, forKey: .captured),
            refunds: try values.decode([RefundPosition].self, forKey: .refunds),
            createdAt: try values.decodeIfPresent(Timestamp.self, forKey: .createdAt),
            updatedAt: try values.decodeIfPresent(Timestamp.self, forKey: .updatedAt),
            contradiction: try values.decodeIfPresent(String.self, forKey: .contradiction),
            others: try values.decodeIfPresent([ListedLine].self, forKey: .others) ?? [],
            store: try values.decodeIfPresent(StoreID.self, forKey: .store))
    }

    private enum CodingKeys: String, CodingKey {
        case key, payment, leg, status, amount, captured, refunds, createdAt, updatedAt, contradiction, others, store
    }

    /// Reads an observation of a provider that takes money in `phases`; `nil` if it shows no transaction.
    public init?(
        _ observation: Observation, key: EffectKey, payment: PaymentID?, leg: Int?, createdAt: Timestamp? = nil,
        updatedAt: Timestamp?, store: StoreID? = nil, phases: ProviderContract.Phases
    ) {
        guard observation.status != .notFound, observation.status != .unavailable else { return nil }
        var contradiction = observation.contradiction
        let amount = observation.amount
        var captured = amount.map { Money.zero($0.currency) }
        var refunds: [RefundPosition] = []
        if let amount, observation.status == .captured {
            let taken = observation.captures.filter { $0.state == .succeeded }.map(\.amount)
            let given = observation.refunds.filter { $0.state == .succeeded }
            do {
                // Taken without a capture is a sale, also where none is expected: its money is there.
                let isSale = phases == .sale || observation.captures.isEmpty
                captured = isSale ? amount : try Money.sum(taken, in: amount.currency)
                _ = try Money.sum(given.map(\.amount), in: amount.currency)
                refunds = given.map { RefundPosition(key: $0.key, amount: $0.amount) }.sorted { $0.key < $1.key }
            } catch {
                contradiction = contradiction ?? "amounts_do_not_add_up"
            }
        }
        let given = refunds.reduce(Int64(0)) { $0 + $1.amount.value }  // It was added up above.
        if max(amount?.value ?? 0, captured?.value ?? 0, given) > ListedPosition.largestAmount {
            contradiction = contradiction ?? "amount_too_large"
            captured = amount.map { Money.zero($0.currency) }
            refunds = []
        }
        self.init(
            key: key, payment: payment, leg: leg, status: observation.status, amount: amount, captured: captured,
            refunds: refunds, createdAt: createdAt, updatedAt: updatedAt, contradiction: contradiction, store: store)
    }

    /// What was given back; `nil` where no amount can be read.
    public var refunded: Money? {
        captured.map { captured in
            do {
                return try Money.sum(refunds.map(\.amount), in: captured.currency)
            } catch {
                return .zero(captured.currency)  // Not reached: what does not add up is not taken in.
            }
        }
    }

    /// Captured less given back, over all transactions under the key; `nil` where no amount can be read.
    public var net: NetAmount? {
        guard let captured, let refunded else { return nil }
        let own = NetAmount(captured: captured, refunded: refunded)
        guard !others.isEmpty else { return own }
        // Each is bounded by the largest amount that is counted. What is of another currency is a contradiction.
        let more = others.compactMap(\.net).filter { $0.currency == own.currency }
        return NetAmount(more.reduce(own.value) { $0 &+ $1.value }, own.currency)
    }
}
