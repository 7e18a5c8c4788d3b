/// Shows payments and refunds as PayPay does (www.paypay.ne.jp/opa/doc/v1.0/direct_debit).
struct PayPayShapes {
    let record: TransactionRecord
    let paymentID: String

    /// PayPay's identifier of a transaction in the ledger.
    static func paymentID(ofRow row: Int64?) -> String {
        let digits = String(row ?? 0)
        return String(repeating: "0", count: max(0, 20 - digits.utf8.count)) + digits
    }

    /// The transaction in the ledger; nil for what is none of PayPay's identifiers.
    static func row(ofPaymentID id: String) -> Int64? { id.utf8.count == 20 ? Int64(id) : nil }

    private var status: String {
        switch record.status {
        case .pending: "CREATED"
        case .authorized: "AUTHORIZED"
        case .captured:
            record.refundedValue > 0 && record.refundedValue >= record.capturedValue ? "REFUNDED" : "COMPLETED"
        case .declined: "FAILED"
        case .voided, .tombstoned: "CANCELED"
        case .expired: "EXPIRED"
        }
    }

    var payment: JSONTree {
        let isHold = record.kind == .authorize
        let captures = record.captures.filter { $0.status != .declined }
        return .object([
            ("paymentId", .text(paymentID)), ("status", .text(status)),
            ("acceptedAt", .int(record.createdAt / 1_000)),
            ("merchantPaymentId", .text(record.key)), ("amount", Self.amount(record.amount)),
            ("requestedAt", .int(record.createdAt / 1_000)),
            ("expiresAt", isHold ? record.authorizedUntil.map { .int($0 / 1_000) } ?? .null : .null),
            ("canceledAt", record.status == .voided ? .int(record.updatedAt / 1_000) : .null),
            ("refunds", Self.list(record.refunds.map(refund))),
            ("captures", isHold ? Self.list(captures.map(capture)) : .null),
            ("metadata", .texts(record.metadata)),
        ])
    }

    private static func list(_ values: [JSONTree]) -> JSONTree {
        values.isEmpty ? .null : .object([("data", .list(values))])
    }

    private static func amount(_ amount: Amount?) -> JSONTree {
        .object([("amount", .int(amount?.value ?? 0)), ("currency", .text(amount?.currency ?? "JPY"))])
    }

    private func capture(_ entry: Entry) -> JSONTree {
        .object([
            ("acceptedAt", entry.status == .pending ? .null : .int(entry.createdAt / 1_000)),
            ("merchantCaptureId", .text(entry.key)), ("amount", Self.amount(entry.amount)),
            ("requestedAt", .int(entry.createdAt / 1_000)),
            ("status", .text(entry.status == .pending ? "USER_REQUESTED" : "COMPLETED")),
        ])
    }

    func refund(_ entry: Entry) -> JSONTree {
        let status =
            switch entry.status {
            case .pending: "CREATED"
            case .succeeded: "REFUNDED"
            case .declined: "FAILED"
            }
        return .object([
            ("status", .text(status)), ("acceptedAt", .int(entry.createdAt / 1_000)),
            ("merchantRefundId", .text(entry.key)), ("paymentId", .text(paymentID)),
            ("amount", Self.amount(entry.amount)), ("requestedAt", .int(entry.createdAt / 1_000)),
            ("reason", .null),
        ])
    }
}
