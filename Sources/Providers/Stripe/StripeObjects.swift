internal import PaymentCore
internal import StrictJSON

// Stripe's objects, as much of each as decisions need (docs.stripe.com/api). Members that nobody asks for are ignored;
// what money depends on is required. If anything is missing or odd, the whole answer does not parse.

/// A PaymentIntent.
struct StripeIntent: Sendable, Hashable {
    /// docs.stripe.com/payments/paymentintents/lifecycle
    enum Status: String, Sendable, CaseIterable {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case processing
        case requiresCapture = "requires_capture"
        case succeeded
        case canceled
    }

    let id: String
    let status: Status
    let amount: Int64
    let amountReceived: Int64
    let currency: String
    let transferGroup: String?
    let metadata: [String: String]
    /// `automatic` where Stripe itself ended a hold that ran out.
    let cancellationReason: String?
    /// Only where the request expanded it, and once it was confirmed.
    let latestCharge: StripeCharge?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        amountReceived = try object.optionalWholeNumber("amount_received") ?? 0
        currency = try object.text("currency")
        transferGroup = try object.optionalText("transfer_group")
        metadata = try object.optionalTexts("metadata")
        cancellationReason = try object.optionalText("cancellation_reason")
        if case .object? = object.optional("latest_charge") {
            latestCharge = try StripeCharge(object.object("latest_charge"))
        } else {
            latestCharge = nil
        }
        guard id.hasPrefix("pi_"), amount >= 0, amountReceived >= 0 else { throw MalformedAnswer() }
    }
}

/// A Charge: one try to take money for an intent.
struct StripeCharge: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case succeeded
        case pending
        case failed
    }

    let id: String
    let status: Status
    let amount: Int64
    let amountCaptured: Int64
    let currency: String
    let isDisputed: Bool
    let failureCode: String?
    let transferGroup: String?
    let metadata: [String: String]
    /// The end of the hold.
    let captureBefore: Timestamp?
    /// `nil` where the request did not expand it.
    let refunds: [StripeRefund]?
    /// Whether there are more refunds than these.
    let hasMoreRefunds: Bool
    /// Only where the request expanded it. Boxed, because an intent holds a charge.
    let intents: [StripeIntent]

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        amountCaptured = try object.wholeNumber("amount_captured")
        currency = try object.text("currency")
        isDisputed = try object.flag("disputed")
        failureCode = try object.optionalText("failure_code")
        transferGroup = try object.optionalText("transfer_group")
        metadata = try object.optionalTexts("metadata")
        let card = try object.optionalObject("payment_method_details")?.optionalObject("card")
        if let seconds = try card?.optionalWholeNumber("capture_before") {
            captureBefore = try Self.instant(seconds)
        } else {
            captureBefore = nil
        }
        if let list = try object.optionalObject("refunds") {
            refunds = try list.list("data", of: StripeRefund.init)
            hasMoreRefunds = try list.flag("has_more")
        } else {
            refunds = nil
            hasMoreRefunds = false
        }
        if case .object? = object.optional("payment_intent") {
            intents = [try StripeIntent(object.object("payment_intent"))]
        } else {
            intents = []
        }
        guard id.hasPrefix("ch_") || id.hasPrefix("py_"), amount >= 0, amountCaptured >= 0 else {
            throw MalformedAnswer()
        }
    }

    /// Seconds since 1970; what overflows is no moment.
    private static func instant(_ seconds: Int64) throws(MalformedAnswer) -> Timestamp {
        guard (0...253_402_300_799).contains(seconds) else { throw MalformedAnswer() }
        return Timestamp(milliseconds: seconds * 1_000)
    }
}

/// A Refund. Stripe also makes one, without our metadata, for what a cancel or a capture of a part gives free.
struct StripeRefund: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case pending
        case requiresAction = "requires_action"
        case succeeded
        case failed
        case canceled
    }

    let id: String
    let status: Status
    let amount: Int64
    let currency: String
    let metadata: [String: String]
    let failureReason: String?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        currency = try object.text("currency")
        metadata = try object.optionalTexts("metadata")
        failureReason = try object.optionalText("failure_reason")
        guard amount >= 0 else { throw MalformedAnswer() }
    }
}

/// A Dispute (docs.stripe.com/api/disputes/object).
struct StripeDispute: Sendable, Hashable {
    let id: String
    let status: String
    let amount: Int64
    let currency: String
    /// Whether Stripe gives the charge back all the same.
    let isChargeRefundable: Bool

    /// Whether a bank asks, and nobody disputes: it has taken nothing, and a refund is how it is ended
    /// (docs.stripe.com/disputes/how-disputes-work). One that can no longer be refunded counts as a dispute.
    var isInquiry: Bool { status.hasPrefix("warning_") && isChargeRefundable }

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.text("status")
        amount = try object.wholeNumber("amount")
        currency = try object.text("currency")
        isChargeRefundable = try object.optionalFlag("is_charge_refundable") ?? false
        guard amount >= 0, (1...Dispute.longestID).contains(id.utf8.count) else { throw MalformedAnswer() }
    }
}

/// One page of a list.
struct StripeList<Item: Sendable>: Sendable {
    let data: [Item]
    let hasMore: Bool

    init(
        _ object: AnswerObject, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) throws(MalformedAnswer) {
        guard try object.text("object") == "list" else { throw MalformedAnswer() }
        data = try object.list("data", of: item)
        hasMore = try object.flag("has_more")
    }
}

/// What is wrong with a request (docs.stripe.com/api/errors).
struct StripeError: Sendable, Hashable {
    let type: String
    let code: String?
    let declineCode: String?
    let parameter: String?
    /// The intent as it is, where the error is about one.
    let intent: StripeIntent?

    /// Reads the body of an answer that is an error.
    init(_ object: AnswerObject) throws(MalformedAnswer) {
        let error = try object.object("error")
        type = try error.text("type")
        code = try error.optionalText("code")
        declineCode = try error.optionalText("decline_code")
        parameter = try error.optionalText("param")
        intent = try error.optionalObject("payment_intent").map { object throws(MalformedAnswer) in
            try StripeIntent(object)
        }
    }
}
