import GRDB

/// Orders faults at the providers of one simulator and reads what they believe happened.
///
/// The same as the control API.
public struct SimulatorControl: Sendable {
    let database: DatabaseQueue
    let desk: FaultDesk
    let contracts: ContractDesk
    let clock: SimulatorClock
    /// How each provider is spoken to.
    let wires: [String: ProviderConfiguration.Wire]
    /// In whose name each provider on Adyen's wire sends notifications, and what it signs them with.
    let notifiers: [String: Notifier]

    /// The providers' names.
    public var providers: [String] { contracts.providers }

    /// The next requests that match suffer this.
    ///
    /// Orders are tried in the order in which they were given.
    /// - Returns: the order's id.
    @discardableResult
    public func order(_ order: FaultOrder, at provider: String) throws(SimulatorError) -> Int {
        try known(provider)
        return desk.add(order, provider: provider)
    }

    /// Forgets all orders and ends a downtime.
    ///
    /// Rates stay.
    public func clearOrders(at provider: String) throws(SimulatorError) {
        try known(provider)
        desk.change(provider) {
            $0.orders = []
            $0.downUntil = nil
        }
    }

    /// Puts these faults by chance in the place of those before.
    public func setRates(_ rates: [FaultRate], at provider: String) throws(SimulatorError) {
        try known(provider)
        desk.change(provider) { $0.rates = rates }
    }

    /// What is ordered now.
    public func faults(at provider: String) throws(SimulatorError) -> FaultState {
        try known(provider)
        return desk.show(provider)
    }

    /// The provider is down for so many milliseconds from now; 0 ends it.
    public func takeDown(_ provider: String, forMs: Int64, mode: DownMode = .close) throws(SimulatorError) {
        try known(provider)
        let until = clock.now() + min(max(forMs, 0), maximumSpanMs)
        desk.change(provider) {
            $0.downUntil = forMs > 0 ? until : nil
            $0.downMode = mode
        }
    }

    /// Sets how far the provider's clock is ahead, in milliseconds; negative: behind.
    public func setClockOffset(_ milliseconds: Int64, at provider: String) throws(SimulatorError) {
        try contracts.change(provider) {
            $0.clockOffsetMs = min(max(milliseconds, -maximumSpanMs), maximumSpanMs)
        }
    }

    /// The provider forgets the key, as if its retention had passed.
    ///
    /// On Stripe's wire these are the idempotency keys of a `transfer_group`; its objects stay.
    public func forget(_ key: String, at provider: String) async throws {
        try known(provider)
        let wire = wires[provider]
        try await database.write { db in
            switch wire {
            case .stripe: try StripeTables(db: db, provider: provider).forgetKeys(of: key)
            case .adyen: try AdyenTables(db: db, provider: provider).forgetKeys(of: key)
            case .reference, .paypay, nil: try TransactionTable(db: db, provider: provider).forget(key)
            }
        }
    }

    /// What the provider believes happened.
    /// - Parameters:
    ///   - key: restricts the report to this key.
    ///   - summary: leaves the single transactions out.
    public func ledger(_ provider: String, key: String? = nil, summary: Bool = false) async throws
        -> LedgerReport
    {
        try known(provider)
        return try await database.read {
            try LedgerReader(db: $0).report(provider, key: key, summary: summary)
        }
    }

    /// The requests that reached the provider, in order.
    /// - Parameters:
    ///   - after: only entries with a greater id.
    ///   - limit: at most so many, 1 to 10,000.
    public func journal(
        _ provider: String, key: String? = nil, operation: Operation? = nil, after: Int64 = 0,
        limit: Int = 1000
    ) async throws -> [JournalEntry] {
        try known(provider)
        let limit = min(max(limit, 1), 10_000)
        return try await database.read {
            try Journal(db: $0).read(provider, key: key, operation: operation, after: after, limit: limit)
        }
    }

    func known(_ provider: String) throws(SimulatorError) {
        _ = try contracts.options(of: provider)
    }
}
