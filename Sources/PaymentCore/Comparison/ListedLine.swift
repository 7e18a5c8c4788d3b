/// One transaction under a key, as the provider shows it.
///
/// A key has one transaction. It has two where the provider forgot the key and took it anew, or where two of its
/// regions each took it. Each of them is money.
public struct ListedLine: Sendable, Hashable, Codable {
    /// The status; never `notFound` or `unavailable`.
    public var status: Observation.Status
    /// The amount of the hold or the sale; `nil` for a tombstone, and where it cannot be read.
    public var amount: Money?
    /// What was taken; `nil` where no amount can be read.
    public var captured: Money?
    /// The refunds that succeeded, in order of their keys.
    public var refunds: [RefundPosition]
    /// When it was recorded first, by the provider's clock; `nil` where the provider does not say.
    public var createdAt: Timestamp?
    /// When it changed last, by the provider's clock; `nil` where the provider does not say.
    public var updatedAt: Timestamp?
    /// Why it cannot be what was asked for.
    public var contradiction: String?

    /// A line.
    public init(
        status: Observation.Status, amount: Money?, captured: Money?, refunds: [RefundPosition] = [],
        createdAt: Timestamp? = nil, updatedAt: Timestamp? = nil, contradiction: String? = nil
    ) {
        self.status = status
        self.amount = amount
        self.captured = captured
        self.refunds = refunds
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.contradiction = contradiction
    }

    /// What was given back, in minor units.
    var refunded: Int64 { refunds.reduce(0) { $0 + $1.amount.value } }

    /// Captured less given back; `nil` where no amount can be read.
    var net: NetAmount? { captured.map { NetAmount($0.value - refunded, $0.currency) } }

    /// Whether money is held or was taken, and not all of it given back. What cannot be read counts as money.
    public var holdsMoney: Bool {
        switch status {
        case .authorized: true
        case .captured: net.map { $0.value != 0 } ?? true
        default: false
        }
    }

    /// Whether it ended without a charge, or was reversed.
    var isEnded: Bool {
        switch status {
        case .declined, .voided, .tombstoned, .expired: true
        default: false
        }
    }
}

extension ListedLine {
    /// How two lines under one key belong together.
    enum Relation {
        /// They are the same transaction, before and after a change.
        case same
        /// They are two transactions.
        case another
        /// Both show the same, and only the moment of the change differs. Either is possible.
        case untold
    }

    /// How a line that is shown later belongs to this one.
    func relation(to later: ListedLine) -> Relation {
        // A tombstone stands for a key that was never used: it says nothing about a transaction that was shown.
        let isOneTombstone = (status == .tombstoned) != (later.status == .tombstoned)
        if isOneTombstone, holdsMoney || later.holdsMoney { return .another }
        if let createdAt, let began = later.createdAt { return createdAt == began ? .same : .another }
        if updatedAt == later.updatedAt, updatedAt != nil, later.canBecome(self) { return .same }
        guard canBecome(later) else { return .another }
        if updatedAt == later.updatedAt || updatedAt == nil || later.updatedAt == nil { return .same }
        let showsMore = status != later.status || captured != later.captured || refunds != later.refunds
        return showsMore || !holdsMoney ? .same : .untold
    }

    /// Whether this transaction, changed once or more, can show itself as another line.
    private func canBecome(_ later: ListedLine) -> Bool {
        if let amount, let other = later.amount, amount != other { return false }
        switch (status, later.status) {
        case (.pending, _), (.authorized, .authorized), (.authorized, .captured), (.authorized, .voided),
            (.authorized, .expired), (.captured, .voided):
            return true
        case (.captured, .captured):
            return captured == later.captured && refunded <= later.refunded
        case (.authorized, _), (.captured, _): return false
        // It ended and holds nothing: nothing is lost with it.
        default: return !later.holdsMoney || status == later.status
        }
    }
}
