internal import HTTPTransport
internal import PaymentCore

/// A request to PayPay. Any complete answer is a reply: an error is a finding too.
protocol PayPayRequest: ProviderRequest where Response == PayPayReply, ReadingFailure == Never {}

extension PayPayRequest {
    /// A payment with a thousand refunds has room in it.
    var maximumResponseBytes: Int { 1 << 20 }

    func decode(_ response: HTTPResponse) -> PayPayReply { PayPayReply(response) }
}

/// The names in the metadata of what is ours.
enum PayPayMetadata {
    static let payment = "reconciled_payment"

    static func of(_ order: SendOrder, _ store: StoreID?) -> [String: String] {
        var metadata = [
            payment: order.shownPayment.text, "reconciled_leg": String(order.leg),
            "reconciled_caller": order.caller.name,
        ]
        metadata["reconciled_reference"] = order.reference
        metadata[WireTransaction.storeName] = store?.text
        return metadata
    }
}

/// `POST /v2/payments` takes at once, `POST /v2/payments/preauthorize` holds.
struct CreatePayment: PayPayRequest {
    static let label = "create_payment"

    struct Body: Encodable, Sendable {
        let merchantPaymentId: String
        let userAuthorizationId: String
        let amount: PayPayAmount
        let requestedAt: Int64
        let metadata: [String: String]
    }

    let isHold: Bool
    let body: Body?

    init(_ change: PayPayChange, store: StoreID?) {
        let order = change.order
        isHold = order.kind == .authorize
        body = Body(
            merchantPaymentId: order.transactionKey.text, userAuthorizationId: order.instrument.token,
            amount: change.amount, requestedAt: change.seconds, metadata: PayPayMetadata.of(order, store))
    }

    var method: HTTPMethod { .post }
    var path: [String] { isHold ? ["v2", "payments", "preauthorize"] : ["v2", "payments"] }
    var flightKey: String? { body.map { "pay:\($0.merchantPaymentId)" } }
}

/// `POST /v2/payments/capture`: takes what is held, once.
struct CapturePayment: PayPayRequest {
    static let label = "capture_payment"

    struct Body: Encodable, Sendable {
        let merchantPaymentId: String
        let merchantCaptureId: String
        let amount: PayPayAmount
        let requestedAt: Int64
        /// Required; people see it.
        let orderDescription: String
    }

    let body: Body?

    init(_ change: PayPayChange) {
        let order = change.order
        body = Body(
            merchantPaymentId: order.transactionKey.text, merchantCaptureId: order.key.text, amount: change.amount,
            requestedAt: change.seconds, orderDescription: order.shownPayment.text)
    }

    var method: HTTPMethod { .post }
    var path: [String] { ["v2", "payments", "capture"] }
    var flightKey: String? { body.map { "capture:\($0.merchantCaptureId)" } }
}

/// `DELETE /v2/payments/{merchantPaymentId}`: gives back what was taken or held. It is done some time later.
struct CancelPayment: PayPayRequest {
    static let label = "cancel_payment"

    let merchantPaymentID: String

    var method: HTTPMethod { .delete }
    var path: [String] { ["v2", "payments", merchantPaymentID] }
    var flightKey: String? { "cancel:\(merchantPaymentID)" }
}

/// `GET /v2/payments/{merchantPaymentId}`: the payment, with its captures and refunds.
struct GetPayment: PayPayRequest {
    static let label = "get_payment"

    let merchantPaymentID: String

    var method: HTTPMethod { .get }
    var path: [String] { ["v2", "payments", merchantPaymentID] }
}

/// `POST /v2/refunds`: gives back a part of what was taken, or all of it.
struct CreatePayPayRefund: PayPayRequest {
    static let label = "create_refund"

    struct Body: Encodable, Sendable {
        let merchantRefundId: String
        /// PayPay's own identifier of the payment.
        let paymentId: String
        let amount: PayPayAmount
        let requestedAt: Int64
        let reason: String
    }

    let body: Body?

    init(_ change: PayPayChange, paymentID: String) {
        body = Body(
            merchantRefundId: change.order.key.text, paymentId: paymentID, amount: change.amount,
            requestedAt: change.seconds, reason: change.order.shownPayment.text)
    }

    var method: HTTPMethod { .post }
    var path: [String] { ["v2", "refunds"] }
    var flightKey: String? { body.map { "refund:\($0.merchantRefundId)" } }
}
