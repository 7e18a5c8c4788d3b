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
    /// Gone once a charge was declined.
    var behaviour: InstrumentBehaviour?
    let transferGroup: String?
    var metadata: [String: String]
    var cancellationReason: String?
    var isCanceled = false
    var charges: [Charge] = []
    /// Metadata of refunds, by the refund's key in the ledger.
    var refundMetadata: [String: [String: String]] = [:]
    /// The row of its transaction, once it was confirmed.
    var row: Int64?

    /// The key in the ledger and the journal.
    var key: String {
        guard let transferGroup, MessageReader.isKey(transferGroup) else { return id }
        return transferGroup
    }

    /// Where it stands (docs.stripe.com/payments/paymentintents/lifecycle).
    func status(_ record: TransactionRecord?) -> String {
        if isCanceled { return "canceled" }
        guard let record else { return behaviour == nil ? "requires_payment_method" : "requires_confirmation" }
        switch record.status {
        case .pending: return "processing"
        case .authorized: return record.hasPendingCapture ? "processing" : "requires_capture"
        case .captured: return "succeeded"
        case .declined: return "requires_payment_method"
        case .voided, .tombstoned, .expired: return "canceled"
        }
    }
}

/// A value of an answer's JSON.
indirect enum StripeValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case text(String)
    case list([StripeValue])
    case object([(String, StripeValue)])

    static func == (left: StripeValue, right: StripeValue) -> Bool { left.text() == right.text() }

    /// As JSON, without every member that has this name.
    func text(without name: String? = nil) -> String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return String(number)
        case .text(let text):
            var json = JSONText(capacity: text.utf8.count + 2)
            json.string(text)
            return json.text
        case .list(let values): return "[" + values.map { $0.text(without: name) }.joined(separator: ",") + "]"
        case .object(let members):
            let shown = members.filter { $0.0 != name }
                .map { StripeValue.text($0.0).text() + ":" + $0.1.text(without: name) }
            return "{" + shown.joined(separator: ",") + "}"
        }
    }

    static func optional(_ text: String?) -> StripeValue { text.map { .text($0) } ?? .null }

    static func texts(_ texts: [String: String]) -> StripeValue {
        .object(texts.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })
    }
}
