public import MemoryStore
public import PaymentCore

/// The rows of the active site's store, as a judge may read them.
public protocol StoredRows: Sendable {
    /// A payment as it is stored, if it is.
    func payment(_ id: PaymentID) -> Payment?
    /// Every payment, in an order that is the same in every run.
    func everyPayment() -> [Payment]
    /// The audit trail of a payment, oldest first.
    func trail(of payment: PaymentID) -> [AuditEntry]
    /// What is kept of comparisons.
    var comparisons: StoredComparisons { get }
    /// A repair as it is stored, if it is.
    func repair(_ id: String) -> Repair?
}

extension StoredRows {
    /// Nothing was ever compared.
    public var comparisons: StoredComparisons { StoredComparisons() }
    /// Nothing was ever proposed.
    public func repair(_ id: String) -> Repair? { nil }
}

/// What an invariant may look at beside what happened: the providers' books, the store's rows, and the terms
/// of the run. A read-only view of one moment.
public struct Evidence: Sendable {
    /// Now, by the run's true time.
    public let now: Timestamp
    /// The providers, whose books are the truth about money.
    public let providers: [SimulatedProvider]
    /// The rows of the active site.
    public let rows: any StoredRows
    /// What the operator decided.
    public let policy: SettlementPolicy
    /// Whether rows that were acknowledged survive every failover: a single store, or synchronous
    /// replication.
    public let keepsAcknowledgedRows: Bool
    /// Payments of which two people said what is not so, or wrote off what is: what they moved is no defect of ours.
    var misjudged: Set<PaymentID> = []
    /// Whether nothing is broken at this moment: every provider can be reached, and so can every part of the active
    /// site.
    var isCalm = true
    /// What replicas assume of the providers that still have the configuration before.
    var contractsBefore: [ProviderName: ProviderContract] = [:]

    /// A view of this moment.
    public init(
        now: Timestamp, providers: [SimulatedProvider], rows: any StoredRows, policy: SettlementPolicy,
        keepsAcknowledgedRows: Bool
    ) {
        self.now = now
        self.providers = providers
        self.rows = rows
        self.policy = policy
        self.keepsAcknowledgedRows = keepsAcknowledgedRows
    }

    /// The provider of this name.
    public func provider(_ name: ProviderName) -> SimulatedProvider? { providers.first { $0.name == name } }

    /// Whether a provider lost a transaction of a payment altogether. Where its rows are lost too, nothing is left that
    /// could tell how it ended.
    func isForgotten(_ payment: PaymentID) -> Bool {
        rows.payment(payment)?.legs.contains { provider($0.provider)?.goneAt[$0.primary.key] != nil } ?? false
    }

    /// What the provider's books say of a leg.
    func figures(_ payment: PaymentID, _ leg: Leg) -> BookFigures {
        if rows.payment(payment)?.isUndoing == true {
            // Its legs are numbered as they were found.
            return provider(leg.provider)?.figures(of: leg.primary.key, at: now) ?? BookFigures()
        }
        return provider(leg.provider)?.figures(of: payment, leg: leg.index, at: now) ?? BookFigures()
    }
}
