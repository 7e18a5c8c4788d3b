/// What the provider believes happened to money under one key.
public struct LogicalTransaction: Codable, Sendable, Equatable {
    /// The caller's key.
    public let key: String
    /// The status that an inquiry shows now; nil when the provider has forgotten the key.
    public let status: TransactionStatus?
    /// How many records there are under the key; more than one when it was forgotten and used again.
    public let records: Int
    /// Amounts reserved.
    public let holds: [Movement]
    /// Amounts taken.
    ///
    /// More than one: charged twice.
    public let charges: [Movement]
    /// Amounts given back by refunds, and what came back of those that failed later.
    public let refunds: [Movement]
    /// Holds undone and sales reversed.
    public let voids: [Movement]
    /// What was set free by a partial capture or by time.
    public let releases: [Movement]
    /// ISO 4217 code; nil when no money moved.
    public let currency: String?
    /// Taken less given back, in the currency's minor unit.
    public let net: Int64
    /// Still reserved, in the currency's minor unit.
    public let held: Int64

    /// Whether money was taken more than once.
    public var isChargedTwice: Bool { charges.count > 1 }

    init(key: String, status: TransactionStatus?, records: Int, movements: [Movement]) {
        self.key = key
        self.status = status
        self.records = records
        holds = movements.filter { $0.kind == .hold }
        charges = movements.filter { $0.kind == .charge }
        refunds = movements.filter { $0.kind == .refund || $0.kind == .refundFailure }
        voids = movements.filter { $0.kind == .void || $0.kind == .reversal }
        releases = movements.filter { $0.kind == .release || $0.kind == .expiry }
        currency = movements.first?.amount.currency
        net = movements.reduce(Int64(0)) { sum, movement in
            switch movement.kind {
            case .charge, .refundFailure: sum.addedAsFarAsPossible(movement.amount.value)
            case .refund, .reversal: sum.lessAsFarAsPossible(movement.amount.value)
            case .hold, .release, .void, .expiry: sum
            }
        }
        let ended = Set(
            movements.filter { [.charge, .void, .expiry].contains($0.kind) }.map(\.incarnation))
        held = holds.filter { !ended.contains($0.incarnation) }.map(\.amount.value).sumAsFarAsPossible
    }
}

/// Sums over one currency, in its minor unit.
public struct LedgerTotals: Codable, Sendable, Equatable {
    /// ISO 4217 code.
    public let currency: String
    /// Everything that was taken.
    public var charged: Int64 = 0
    /// Everything that was given back, reversals included.
    public var refunded: Int64 = 0
    /// What is reserved now.
    public var held: Int64 = 0
    /// Taken less given back.
    public var net: Int64 = 0
}

/// What one provider believes happened, and what it was asked.
public struct LedgerReport: Codable, Sendable, Equatable {
    /// The provider's name.
    public let provider: String
    /// Per currency, in the order of the codes.
    public let totals: [LedgerTotals]
    /// Keys under which money was taken more than once.
    public let chargedTwice: [String]
    /// Requests that callers sent, by operation.
    public let requests: [String: Int]
    /// Faults that those requests suffered, by kind.
    public let faults: [String: Int]
    /// Every key of the ledger, or the one that was asked for; empty in a summary.
    public let transactions: [LogicalTransaction]
    /// The differences that were planted, in order, or those of the key that was asked for; empty in a summary.
    public let planted: [Planted]

    private enum CodingKeys: String, CodingKey {
        case provider, totals, requests, faults, transactions, planted
        case chargedTwice = "charged_twice"
    }

    /// The transaction under a key, if the ledger knows one.
    public func transaction(_ key: String) -> LogicalTransaction? {
        transactions.first { $0.key == key }
    }
}
