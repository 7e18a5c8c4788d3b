/// What a request asks of a provider; faults, counters and the journal are kept by it.
public enum Operation: String, Codable, Sendable, CaseIterable, Hashable {
    /// `PUT /transactions/{key}` with kind `authorize`, or with a body that cannot be read.
    case authorize
    /// `PUT /transactions/{key}` with kind `sale`.
    case sale
    /// `PUT /transactions/{key}/captures/{captureKey}`
    case capture
    /// `POST /transactions/{key}/void`
    case void
    /// `PUT /transactions/{key}/refunds/{refundKey}`
    case refund
    /// On Stripe's wire: makes a PaymentIntent, which takes no money.
    case register
    /// `GET /transactions/{key}`
    case inquire
    /// `GET /transactions/{key}/captures/{captureKey}`
    case inquireCapture = "inquire_capture"
    /// `GET /transactions/{key}/refunds/{refundKey}`
    case inquireRefund = "inquire_refund"
    /// `GET /transactions`
    case list

    /// Whether it can move money.
    var writes: Bool {
        switch self {
        case .authorize, .sale, .capture, .void, .refund, .register: true
        case .inquire, .inquireCapture, .inquireRefund, .list: false
        }
    }

    /// Whether it decides about an amount.
    var decides: Bool {
        switch self {
        case .authorize, .sale, .capture, .refund: true
        case .void, .register, .inquire, .inquireCapture, .inquireRefund, .list: false
        }
    }

    /// Whether it asks about one transaction.
    var inquires: Bool {
        switch self {
        case .inquire, .inquireCapture, .inquireRefund: true
        case .authorize, .sale, .capture, .void, .refund, .register, .list: false
        }
    }
}
