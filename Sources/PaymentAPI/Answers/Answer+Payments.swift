internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

extension Answer {
    /// The answer to the request that created a payment, once the payment is settled.
    init(creating payment: Payment) {
        self.init(
            OperationKind.create.settledStatus, PaymentRendering.payment(payment), location: Answer.path(of: payment))
    }

    /// Where a payment is read.
    static func path(of payment: Payment) -> String { "/v1/payments/\(payment.id.text)" }

    /// The answer of an operation that was kept, byte for byte.
    init(kept answer: StoredAnswer, isReplayed: Bool) {
        self.init(answer.status, contentType: answer.contentType, body: answer.body)
        location = answer.location
        self.isReplayed = isReplayed
    }

    /// What is kept of it for replays.
    var stored: StoredAnswer {
        StoredAnswer(status: status, contentType: contentType, location: location, body: body)
    }
}
