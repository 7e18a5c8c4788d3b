public import PaymentCore
public import Reconciler

/// A store as a value: the rules of the ports over rows in memory. It has no clock; each call says what time it is.
///
/// A copy is a store of its own. The same calls in the same order give the same results, whatever the seeds of hashing.
public struct StoreModel: Sendable {
    /// A lease that was not ended; it may have run out.
    public struct Lease: Sendable, Hashable {
        /// Who holds it.
        public let holder: String
        /// When it ends unless it is renewed.
        public internal(set) var until: Timestamp
    }

    /// One payment and what is kept with it.
    public struct Row: Sendable {
        /// The payment.
        public internal(set) var payment: Payment
        /// Its audit trail.
        public internal(set) var trail: [AuditEntry]
        /// The newest token.
        public internal(set) var token: LeaseToken
        /// The lease, until it is ended.
        public internal(set) var lease: Lease?
        /// How many entries of its trail are sealed.
        var sealed = 0

        /// The entries of its trail that no seal covers.
        var unsealed: ArraySlice<AuditEntry> { trail.dropFirst(sealed) }

        /// Whether somebody's lease on it runs.
        public func isLeased(at now: Timestamp) -> Bool {
            guard let lease else { return false }
            return lease.until > now
        }
    }

    /// Whose key.
    struct KeyPlace: Hashable {
        var caller: CallerID
        var key: IdempotencyKey
    }

    /// The rows by the payments' places: those that were kept free, and then in order of insertion.
    public internal(set) var rows: [Row?]
    /// The payment of each place.
    var ids: [PaymentID]
    var rowIndices: [PaymentID: Int]
    /// The keys that were used.
    var records: [KeyPlace: IdempotencyRecord] = [:]
    /// What was proposed and decided.
    public internal(set) var repairs: [String: Repair] = [:]
    /// Whose payments are reported.
    var reportsTo: Set<CallerID> = []
    /// What is reported, by payment.
    var webhooks: [PaymentID: WebhookRow] = [:]
    /// The place of each leg's payment, by the key of its authorization or sale.
    var legs: [StoredComparisons.Place: Int] = [:]
    /// What is kept of comparisons.
    public internal(set) var comparisons = StoredComparisons()
    /// The seals with what they cover, in order.
    var seals: [Sealed] = []

    /// An empty store.
    ///
    /// - Parameter ids: Payments whose places are kept free, in this order. Others come after them.
    public init(placesFor ids: [PaymentID] = []) {
        self.ids = ids
        rows = Array(repeating: nil, count: ids.count)
        rowIndices = Dictionary(ids.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// A payment's row.
    public func row(_ payment: PaymentID) -> Row? { rowIndices[payment].flatMap { rows[$0] } }

    /// A payment.
    public func payment(_ id: PaymentID) -> Payment? {
        guard let rowIndex = rowIndices[id], let row = rows[rowIndex] else { return nil }
        return row.payment
    }

    /// The record of a key.
    public func record(_ caller: CallerID, _ key: IdempotencyKey) -> IdempotencyRecord? {
        records[KeyPlace(caller: caller, key: key)]
    }
}

/// What a store overlooks. A store that keeps its contract overlooks nothing; only sabotage says otherwise.
public struct StoreLaxness: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// What these bits stand for.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// From which version a change was made.
    public static let versions = StoreLaxness(rawValue: 1)
    /// Whether a payment's lease is held.
    public static let leases = StoreLaxness(rawValue: 2)
    /// Whether a key was used before.
    public static let keys = StoreLaxness(rawValue: 4)
    /// Whether the audit entries continue the stored trail.
    public static let trails = StoreLaxness(rawValue: 8)
    /// To which run a lane belongs, and whether its lease is held.
    public static let lanes = StoreLaxness(rawValue: 16)
    /// Whoever proposed a repair may approve it.
    public static let repairs = StoreLaxness(rawValue: 32)
}
