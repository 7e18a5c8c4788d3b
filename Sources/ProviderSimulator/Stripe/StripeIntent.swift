/// A PaymentIntent as the provider keeps it. What happened to its money is in its transaction.
struct StripeIntent: Codable, Sendable, Equatable {
    /// One try to charge it.
    struct Charge: Codable, Sendable, Equatable {
        let id: String
        /// Seconds since 1970.
        let created: Int64
        /// Nil for one that was not declined.
        var failureCode: String?
        let metadata: [String: String]
    }

    let id: String
    /// Milliseconds since 1970, by the provider's clock.
    let createdAt: Int64
    let amount: Amount
    /// Held first, and captured later.
    let takesLater: Bool
    /// What its payment method does; nil for none. After a decline it is not shown, and charges nothing.
    var behaviour: InstrumentBehaviour?
    let transferGroup: String?
    let metadata: [String: String]
    /// What the capture added; a read that does not see the capture does not see it.
    var captureMetadata: [String: String]?
    var cancellationReason: String?
    var isCanceled = false
    var charges: [Charge] = []
    /// Metadata of refunds, by the refund's key in the ledger, which is one for each refund.
    var refundMetadata: [String: [String: String]] = [:]
    /// The row of its transaction, once it was confirmed.
    var row: Int64?

    /// The key in the ledger and the journal.
    var key: String {
        guard let transferGroup, MessageReader.isKey(transferGroup) else { return id }
        return transferGroup
    }

    /// As a read sees it that may be behind: then what came after the state it shows is not there yet.
    /// - Parameter record: the transaction as the read sees it; nil where it sees none.
    func seen(with record: TransactionRecord?, isBehind: Bool) -> StripeIntent {
        guard isBehind else { return self }
        var seen = self
        if record == nil { seen.charges = [] }
        if record?.isEnded != true { (seen.isCanceled, seen.cancellationReason) = (false, nil) }
        if record?.status != .captured, record?.hasPendingCapture != true { seen.captureMetadata = nil }
        return seen
    }

    /// Where it stands (docs.stripe.com/payments/paymentintents/lifecycle).
    func status(_ record: TransactionRecord?) -> String {
        if isCanceled { return "canceled" }
        guard let record else { return behaviour == nil ? "requires_payment_method" : "requires_confirmation" }
        switch record.status {
        case .pending: return record.awaitsPayer ? "requires_action" : "processing"
        case .authorized: return record.hasPendingCapture ? "processing" : "requires_capture"
        case .captured: return "succeeded"
        case .declined: return "requires_payment_method"
        case .voided, .tombstoned, .expired: return "canceled"
        }
    }
}

extension TransactionRecord {
    /// Whether nothing is held or taken any more, or ever will be.
    fileprivate var isEnded: Bool { [.voided, .tombstoned, .expired].contains(status) }
}
