import GRDB

/// What the payer of a transaction does that waits for it.
public struct PayerOrder: Codable, Sendable, Equatable {
    /// What became of it.
    public enum Outcome: String, Codable, Sendable, CaseIterable {
        /// The payer confirmed it, and the amount is held or taken.
        case approved
        /// The payer refused it, or failed.
        case declined
    }

    /// The transaction.
    public var key: String
    /// What the payer did.
    public var outcome: Outcome

    /// An order.
    public init(_ outcome: Outcome, key: String) {
        self.outcome = outcome
        self.key = key
    }

    private enum CodingKeys: String, CodingKey, CaseIterable { case key, outcome }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        key = try container.decode(String.self, forKey: .key)
        outcome = try container.decode(Outcome.self, forKey: .outcome)
    }
}

extension SimulatorControl {
    /// The payer acts.
    ///
    /// - Returns: the status of the transaction then.
    /// - Throws: `SimulatorError` with `cannotPlant` where the provider waits for no payer under the key.
    @discardableResult
    public func payerActs(_ order: PayerOrder, at provider: String) async throws -> TransactionStatus {
        let options = try contracts.options(of: provider)
        let rules = ContractRules(options: options, now: clock.now() + options.clockOffsetMs)
        let isStripe = wires[provider] == .stripe
        return try await database.write { db in
            let table = TransactionTable(db: db, provider: provider)
            guard var stored = try table.find(order.key), stored.record.awaitsPayer else {
                throw SimulatorError(.cannotPlant, "key: the provider waits for no payer of \(order.key)")
            }
            stored.previous = stored.written
            stored.record.updatedAt = rules.changed(stored.record)
            var movements: [Movement] = []
            if order.outcome == .approved {
                movements = [rules.accept(&stored.record)]
            } else {
                stored.record.status = .declined
                stored.record.reason = "payer_declined"
            }
            try table.save(&stored, movements: movements)
            if isStripe, order.outcome == .approved {
                try StripeTables(db: db, provider: provider).charge(row: stored.id, of: order.key, at: rules.now)
            }
            return stored.record.status
        }
    }
}
