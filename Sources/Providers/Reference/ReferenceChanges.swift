internal import HTTPTransport
internal import PaymentCore

/// `PUT /transactions/{key}`: authorize or sell.
struct PutTransaction: TransactionChange {
    static let label = "put_transaction"
    static let refusals = commonRefusals.union([.unknownInstrument])

    /// The body that the key is bound to.
    ///
    /// It holds nothing that differs between attempts.
    struct Body: Encodable, Sendable {
        let kind: String
        let amount: WireAmount
        let instrument: String
        let metadata: [String: String]
        /// Absent where the payer is not present, as in every request of earlier versions.
        let returnURL: String?

        private enum CodingKeys: String, CodingKey {
            case kind, amount, instrument, metadata
            case returnURL = "return_url"
        }
    }

    let transactionKey: String
    let body: Body?
    let notAfter: Timestamp?

    /// The authorization or sale of an order of a store.
    init(_ order: SendOrder, amount: WireAmount, store: StoreID?) {
        transactionKey = order.transactionKey.text
        notAfter = order.notAfter
        // What an orphan needs to be adopted after rows were lost.
        var metadata = [
            "payment": order.payment.text, "leg": String(order.leg), "caller": order.caller.name,
        ]
        metadata["reference"] = order.reference
        metadata[WireTransaction.storeName] = store?.text
        body = Body(
            kind: order.kind == .sale ? "sale" : "authorize", amount: amount,
            instrument: order.instrument.token,
            metadata: metadata, returnURL: order.returnURL?.text)
    }

    var ownKey: String { transactionKey }
    var method: HTTPMethod { .put }
    var path: [String] { ["transactions", transactionKey] }
    var flightKey: String? { "put:\(transactionKey)" }

    func standing(in transaction: WireTransaction) -> Standing {
        switch transaction.status {
        case .pending, .authorized, .captured: .stands
        case .declined: .declined(reason: transaction.reason)
        case .voided, .tombstoned, .expired: .ruledOut
        }
    }
}

/// The body of a capture or refund.
struct AmountBody: Encodable, Sendable {
    let amount: WireAmount
}

/// `PUT /transactions/{key}/captures/{captureKey}`: take what is held.
struct PutCapture: TransactionChange {
    static let label = "put_capture"
    static let refusals = commonRefusals.union([.notFound, .amountTooLarge, .currencyMismatch])

    let transactionKey: String
    let captureKey: String
    let body: AmountBody?
    let notAfter: Timestamp?

    /// The capture of an order.
    init(_ order: SendOrder, amount: WireAmount) {
        transactionKey = order.transactionKey.text
        captureKey = order.key.text
        body = AmountBody(amount: amount)
        notAfter = order.notAfter
    }

    var ownKey: String { captureKey }
    var method: HTTPMethod { .put }
    var path: [String] { ["transactions", transactionKey, "captures", captureKey] }
    var flightKey: String? { "capture:\(captureKey)" }

    func standing(in transaction: WireTransaction) -> Standing {
        Self.standing(ofKey: captureKey, among: transaction.captures, in: transaction)
    }
}

/// `PUT /transactions/{key}/refunds/{refundKey}`: give back what was taken.
struct PutRefund: TransactionChange {
    static let label = "put_refund"
    static let refusals = commonRefusals.union([.notFound, .amountTooLarge, .currencyMismatch])

    let transactionKey: String
    let refundKey: String
    let body: AmountBody?
    let notAfter: Timestamp?

    /// The refund of an order.
    init(_ order: SendOrder, amount: WireAmount) {
        transactionKey = order.transactionKey.text
        refundKey = order.key.text
        body = AmountBody(amount: amount)
        notAfter = order.notAfter
    }

    var ownKey: String { refundKey }
    var method: HTTPMethod { .put }
    var path: [String] { ["transactions", transactionKey, "refunds", refundKey] }
    var flightKey: String? { "refund:\(refundKey)" }

    func standing(in transaction: WireTransaction) -> Standing {
        Self.standing(ofKey: refundKey, among: transaction.refunds, in: transaction)
    }
}

/// `POST /transactions/{key}/void`: release a hold, or leave a tombstone.
struct PostVoid: TransactionChange {
    static let label = "post_void"
    static let refusals = commonRefusals.union([.notFound])

    let transactionKey: String

    /// The void of an order.
    ///
    /// It has no `Not-After`: what it does is never too late.
    init(_ order: SendOrder) {
        transactionKey = order.transactionKey.text
    }

    var ownKey: String { transactionKey }
    var method: HTTPMethod { .post }
    var path: [String] { ["transactions", transactionKey, "void"] }
    var flightKey: String? { "void:\(transactionKey)" }

    func standing(in transaction: WireTransaction) -> Standing {
        switch transaction.status {
        case .voided, .tombstoned, .expired, .declined: .stands
        // Also where the payer has not acted yet: the void was not done, and may be sent again.
        case .pending: .tooEarly
        case .authorized, .captured: transaction.hasPendingCapture ? .tooEarly : .ruledOut
        }
    }
}
