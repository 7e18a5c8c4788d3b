internal import HTTPTransport
internal import PaymentCore

/// A request to Adyen. Any complete answer is a reply: an error is a finding too.
protocol AdyenRequest: ProviderRequest where Response == AdyenReply, ReadingFailure == Never {
    /// What it is idempotent by (docs.adyen.com/development-resources/api-idempotency).
    var key: EffectKey { get }
}

extension AdyenRequest {
    var method: HTTPMethod { .post }
    var fields: [(name: String, value: String)] { [("Idempotency-Key", key.text)] }
    var flightKey: String? { "\(Self.label):\(key.text)" }

    func decode(_ response: HTTPResponse) -> AdyenReply { AdyenReply(response) }
}

/// `POST /payments`: holds an amount on a stored card. The payer is not there.
struct CreateAdyenPayment: AdyenRequest {
    static let label = "create_payment"

    struct Body: Encodable, Sendable {
        struct Method: Encodable, Sendable {
            let type = "scheme"
            let storedPaymentMethodId: String
        }

        let merchantAccount: String
        let reference: String
        let amount: AdyenAmount
        let paymentMethod: Method
        let shopperReference: String
        let shopperInteraction = "ContAuth"
        let recurringProcessingModel = "CardOnFile"
        let additionalData = ["manualCapture": "true"]
        let metadata: [String: String]
    }

    let key: EffectKey
    let body: Body?

    init(_ change: AdyenChange, _ instrument: AdyenInstrument) {
        let order = change.order
        key = order.key
        var metadata = [
            "reconciled_payment": order.shownPayment.text, "reconciled_leg": String(order.leg),
            "reconciled_caller": order.caller.name,
        ]
        metadata["reconciled_store"] = change.store?.text
        body = Body(
            merchantAccount: change.merchant, reference: order.transactionKey.text, amount: change.amount,
            paymentMethod: Body.Method(storedPaymentMethodId: instrument.card), shopperReference: instrument.shopper,
            metadata: metadata)
    }

    var path: [String] { ["payments"] }
}

/// `POST /payments/{pspReference}/captures` and `…/refunds`.
struct ModifyAdyenPayment: AdyenRequest {
    static let label = "modify_payment"

    enum Kind: String, Sendable {
        case captures, refunds
    }

    struct Body: Encodable, Sendable {
        let merchantAccount: String
        let reference: String
        let amount: AdyenAmount
    }

    let key: EffectKey
    let kind: Kind
    let payment: String
    let body: Body?

    init(_ change: AdyenChange, _ kind: Kind, of payment: String) {
        (key, self.kind, self.payment) = (change.order.key, kind, payment)
        body = Body(merchantAccount: change.merchant, reference: change.order.key.text, amount: change.amount)
    }

    var path: [String] { ["payments", payment, kind.rawValue] }
}

/// `POST /payments/{pspReference}/cancels`, or `POST /cancels` by our own reference where Adyen's is not known.
struct CancelAdyenPayment: AdyenRequest {
    static let label = "cancel_payment"

    struct Body: Encodable, Sendable {
        let merchantAccount: String
        let reference: String
        /// Ours, of the payment.
        let paymentReference: String?
    }

    let key: EffectKey
    let payment: String?
    let body: Body?

    init(_ change: AdyenChange, of payment: String?) {
        (key, self.payment) = (change.order.key, payment)
        body = Body(
            merchantAccount: change.merchant, reference: change.order.key.text,
            paymentReference: payment == nil ? change.order.transactionKey.text : nil)
    }

    var path: [String] { payment.map { ["payments", $0, "cancels"] } ?? ["cancels"] }
}
