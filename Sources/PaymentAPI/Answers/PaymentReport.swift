public import PaymentCore
internal import StrictJSON

/// What a webhook says of a payment.
public enum PaymentReport {
    /// The type of every webhook. It holds the whole payment, so that there is one type.
    static let type = "payment.updated"

    /// The body of a webhook: its type, when the payment changed, and the payment as `GET /v1/payments/{id}` shows it.
    /// The same payment always gives the same bytes.
    public static func body(_ payment: Payment) -> [UInt8] {
        JSONValue.members([
            "type": .string(type), "timestamp": .string(payment.updatedAt.rfc3339),
            "data": PaymentRendering.payment(payment),
        ]).bytes
    }
}
