/// What the contract calls the state of a transaction.
public enum TransactionStatus: String, Codable, Sendable, Hashable {
    case pending, authorized, captured, declined, voided, tombstoned, expired
}

enum TransactionKind: String, Codable, Sendable {
    case authorize, sale
}

enum EntryStatus: String, Codable, Sendable {
    case pending, succeeded, declined
}

/// What something pending turns into, and when.
struct Resolution: Codable, Sendable, Equatable {
    /// Milliseconds since 1970, by the provider's clock.
    let at: Int64
    let succeeds: Bool
}

/// One capture or refund.
struct Entry: Codable, Sendable, Equatable {
    var key: String
    /// What the provider recorded; differs from `requested` only where a fault changed it.
    var amount: Amount
    /// What the caller asked for; replays are compared with this.
    let requested: Amount
    var status: EntryStatus
    let createdAt: Int64
    var reason: String?
    var declineIsBound = true
    var resolution: Resolution?
    /// When a refund that had succeeded failed, in milliseconds since 1970.
    var failedAt: Int64?
}

/// Where a dispute stands.
public enum DisputeStatus: String, Codable, Sendable, Hashable, CaseIterable {
    /// Nobody has decided. Nothing is refunded meanwhile.
    case open
    /// The charge stands.
    case won
    /// The payer got the amount back.
    case lost
}

/// A dispute of a charge: its payer asks the money back through the bank.
struct DisputeRecord: Codable, Sendable, Equatable {
    let id: String
    let amount: Amount
    var status: DisputeStatus
    let createdAt: Int64

    /// The key under which the ledger keeps what is given back once it is lost.
    var refundKey: String { BulkOrder.digest(["lost", id]) }
}

/// One transaction as the provider keeps it.
struct TransactionRecord: Codable, Sendable, Equatable {
    let key: String
    var kind: TransactionKind?
    var status: TransactionStatus
    var amount: Amount?
    var captures: [Entry] = []
    var refunds: [Entry] = []
    let createdAt: Int64
    var updatedAt: Int64
    var authorizedUntil: Int64?
    var metadata: [String: String] = [:]
    var reason: String?
    /// The digest of the body that bound the key; nil for a tombstone.
    var fingerprint: String?
    var behaviour = InstrumentBehaviour.approves
    var declineIsBound = true
    /// How often an attempt under this key was declined without being bound.
    var unboundDeclines = 0
    var resolution: Resolution?
    /// Its disputes, in order; nil for none.
    var disputes: [DisputeRecord]?

    /// Whether its payer disputes it, and nobody has decided.
    var isDisputed: Bool { disputes?.contains { $0.status == .open } ?? false }

    /// Whether nothing is decided before its payer acts.
    var awaitsPayer: Bool { status == .pending && behaviour == .asksPayer && resolution == nil }

    /// Where its payer acts.
    var payerURL: String { "https://payer.example/\(key)" }

    /// What was taken, refunds not subtracted.
    var capturedValue: Int64 {
        guard status == .captured, let amount else { return 0 }
        switch kind {
        case .sale: return amount.value
        case .authorize: return captures.first { $0.status == .succeeded }?.amount.value ?? 0
        case nil: return 0
        }
    }

    /// What was given back or is on its way back.
    var refundedValue: Int64 {
        refunds.reduce(0) { $1.status == .declined ? $0 : $0 + $1.amount.value }
    }

    var hasPendingCapture: Bool {
        captures.contains { $0.status == .pending }
    }

    /// When time alone changes this next, by the provider's clock.
    var dueAt: Int64? {
        var due = (captures + refunds).compactMap(\.resolution?.at)
        if let resolution { due.append(resolution.at) }
        if status == .authorized, !hasPendingCapture, let authorizedUntil { due.append(authorizedUntil) }
        return due.min()
    }
}
