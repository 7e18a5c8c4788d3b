internal import PaymentCore

// PayPay's objects, as much of each as decisions need (www.paypay.ne.jp/opa/doc/v1.0/direct_debit). Members that nobody
// asks for are ignored; what money depends on is required. If anything is missing or odd, the whole answer does not
// parse.

/// An amount, of eleven digits at the most.
struct PayPayAmount: Encodable, Sendable, Hashable {
    static let largest: Int64 = 99_999_999_999

    let amount: Int64
    let currency: String

    init(amount: Int64, currency: String) {
        self.amount = amount
        self.currency = currency
    }

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        amount = try object.wholeNumber("amount")
        currency = try object.text("currency")
        guard (0...Self.largest).contains(amount) else { throw MalformedAnswer() }
    }
}

/// A payment, with everything that happened to it.
struct PayPayPayment: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case created = "CREATED"
        case authorized = "AUTHORIZED"
        case reauthorizing = "REAUTHORIZING"
        case completed = "COMPLETED"
        case refunded = "REFUNDED"
        case failed = "FAILED"
        case canceled = "CANCELED"
        case expired = "EXPIRED"
    }

    /// Ours.
    let merchantPaymentID: String
    /// PayPay's.
    let paymentID: String
    let status: Status
    let amount: PayPayAmount
    /// The end of a hold.
    let expiresAt: Timestamp?
    let captures: [PayPayCapture]
    let refunds: [PayPayRefund]
    /// The payment that we named in the metadata, where it is shown.
    let namedPayment: String?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        merchantPaymentID = try object.text("merchantPaymentId")
        paymentID = try object.text("paymentId")
        status = try object.word("status")
        amount = try PayPayAmount(object.object("amount"))
        expiresAt = try Self.instant(object.optionalWholeNumber("expiresAt"))
        captures = try object.optionalObject("captures")?.optionalList("data", of: PayPayCapture.init) ?? []
        refunds = try object.optionalObject("refunds")?.optionalList("data", of: PayPayRefund.init) ?? []
        namedPayment = try object.optionalObject("metadata")?.optionalText(PayPayMetadata.payment)
        guard !merchantPaymentID.isEmpty, !paymentID.isEmpty,
            Set(captures.map(\.merchantCaptureID)).count == captures.count,
            Set(refunds.map(\.merchantRefundID)).count == refunds.count
        else { throw MalformedAnswer() }
    }

    /// Seconds since 1970; what overflows is no moment.
    private static func instant(_ seconds: Int64?) throws(MalformedAnswer) -> Timestamp? {
        guard let seconds else { return nil }
        guard (0...253_402_300_799).contains(seconds) else { throw MalformedAnswer() }
        return Timestamp(milliseconds: seconds * 1_000)
    }
}

/// The capture of a hold.
struct PayPayCapture: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        /// PayPay asks the payer, because it is above the hold.
        case userRequested = "USER_REQUESTED"
        case completed = "COMPLETED"
    }

    let merchantCaptureID: String
    let amount: PayPayAmount
    let status: Status

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        merchantCaptureID = try object.text("merchantCaptureId")
        amount = try PayPayAmount(object.object("amount"))
        status = try object.word("status")
        guard (1...128).contains(merchantCaptureID.utf8.count) else { throw MalformedAnswer() }
    }
}

/// A refund.
struct PayPayRefund: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case created = "CREATED"
        case refunded = "REFUNDED"
        /// PayPay tries again until it is done
        /// (integration.paypay.ne.jp/hc/ja/articles/4414054913423).
        case refundFailed = "REFUND_FAILED"
        case failed = "FAILED"
    }

    let merchantRefundID: String
    /// Of the payment; a list within a payment may leave it out.
    let paymentID: String?
    let amount: PayPayAmount
    let status: Status

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        merchantRefundID = try object.text("merchantRefundId")
        paymentID = try object.optionalText("paymentId")
        amount = try PayPayAmount(object.object("amount"))
        status = try object.word("status")
        guard (1...128).contains(merchantRefundID.utf8.count) else { throw MalformedAnswer() }
    }
}
