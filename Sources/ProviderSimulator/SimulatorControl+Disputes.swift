import GRDB

/// A dispute of a charge that is opened or decided.
public struct DisputeOrder: Codable, Sendable, Equatable {
    /// The transaction.
    public var key: String
    /// `open` opens one, of all that is left of the charge; `won` and `lost` decide the one that is open.
    public var status: DisputeStatus

    /// An order.
    public init(_ status: DisputeStatus, key: String) {
        self.status = status
        self.key = key
    }

    private enum CodingKeys: String, CodingKey, CaseIterable { case key, status }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        key = try container.decode(String.self, forKey: .key)
        status = try container.decode(DisputeStatus.self, forKey: .status)
    }
}

/// What became of a dispute.
public struct DisputeReceipt: Codable, Sendable, Equatable {
    /// Its reference, as the transaction shows it.
    public let id: String
    /// The amount in question.
    public let amount: Amount
    /// Where it stands.
    public let status: DisputeStatus
}

extension SimulatorControl {
    /// Opens a dispute of a charge, or decides the one that is open. What is lost is given back to the payer, and is
    /// shown as a refund that nobody asked for.
    ///
    /// - Throws: `SimulatorError` with `cannotPlant` where the provider has no such charge, or no open dispute of it.
    @discardableResult
    public func dispute(_ order: DisputeOrder, at provider: String) async throws -> DisputeReceipt {
        let options = try contracts.options(of: provider)
        let now = clock.now() + options.clockOffsetMs
        return try await database.write { db in
            let table = TransactionTable(db: db, provider: provider)
            guard var stored = try table.find(order.key) else {
                throw SimulatorError(.cannotPlant, "key: the provider knows no \(order.key)")
            }
            let at = max(now, stored.record.updatedAt)
            let (dispute, movements) =
                order.status == .open
                ? (try stored.record.openDispute(of: provider, at: at), [])
                : try stored.record.decideDispute(order.status, at: at)
            stored.record.updatedAt = at
            stored.previous = stored.written
            try table.save(&stored, movements: movements)
            return DisputeReceipt(id: dispute.id, amount: dispute.amount, status: dispute.status)
        }
    }
}

extension TransactionRecord {
    fileprivate mutating func openDispute(of provider: String, at now: Int64) throws -> DisputeRecord {
        let left = capturedValue - refundedValue
        guard let amount, left > 0, !isDisputed, refunds.allSatisfy({ $0.status != .pending }) else {
            throw SimulatorError(
                .cannotPlant, "key: only what was captured, with something left and nothing pending, is disputed")
        }
        let number = String((disputes ?? []).count + 1)
        let id = "dp_" + String(BulkOrder.digest(["dispute", provider, key, number]).prefix(24))
        let dispute = DisputeRecord(id: id, amount: amount.with(value: left), status: .open, createdAt: now)
        disputes = (disputes ?? []) + [dispute]
        return dispute
    }

    fileprivate mutating func decideDispute(
        _ status: DisputeStatus, at now: Int64
    ) throws -> (DisputeRecord, [Movement]) {
        guard let index = disputes?.firstIndex(where: { $0.status == .open }), var dispute = disputes?[index] else {
            throw SimulatorError(.cannotPlant, "key: no dispute of it is open")
        }
        dispute.status = status
        disputes?[index] = dispute
        guard status == .lost else { return (dispute, []) }
        let refund = Entry(succeeded: dispute.refundKey, dispute.amount, at: now)
        refunds.append(refund)
        return (dispute, [Movement(.refund, refund.amount, at: now, entryKey: refund.key)])
    }
}
